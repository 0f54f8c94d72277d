package pipeline_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/pipeline"
	"universal-transformer/task/text"
)

// The n best answers of a beam search are those of a search through all answers of up to two digits, scored one by one as Score does, and
// have the same log-probabilities. Caught when planted: log-probabilities without the end; answers ranked without the penalty.
func TestNBestAgreesWithScore(t *testing.T) {
	m, err := pipeline.Load(copierDir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	const source, alpha, best = "73", 0.6, 8
	pairs := []pipeline.Pair{{Source: source, Target: ""}}
	for i := range 10 {
		pairs = append(pairs, pipeline.Pair{Source: source, Target: fmt.Sprint(i)})
		for k := range 10 {
			pairs = append(pairs, pipeline.Pair{Source: source, Target: fmt.Sprintf("%d%d", i, k)})
		}
	}
	scored, err := m.Score(t.Context(), pairs, 0)
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		text           string
		logProb, score float64
	}
	var all []answer
	for i, s := range scored {
		if s.Err != nil {
			continue // an empty answer cannot be written
		}
		sum := 0.0
		for _, p := range s.LogProbs {
			sum += p
		}
		all = append(all, answer{pairs[i].Target, sum, sum / math.Pow(float64(5+len(s.LogProbs))/6, alpha)})
	}
	slices.SortFunc(all, func(a, b answer) int { return cmp.Compare(b.score, a.score) })
	found, err := m.Decode(t.Context(), []string{source}, pipeline.DecodeOptions{
		Method: decoding.Method{Beam: decoding.Beam{Width: 60, Alpha: alpha, Best: best}}, MaxLength: 3,
	})
	if err != nil || found[0].Err != nil {
		t.Fatal(err, found[0].Err)
	}
	list := slices.DeleteFunc(append([]pipeline.Answer{found[0]}, found[0].Others...), func(a pipeline.Answer) bool { return a.Text == "" })
	if len(all) < 110 || len(list) < best {
		t.Fatalf("%d answers scored, %d found", len(all), len(list))
	}
	for rank, want := range all[:best-1] {
		if got := list[rank]; got.Text != want.text || math.Abs(got.LogProb-want.logProb) > 1e-5*max(1, -want.logProb) || math.Abs(got.Score-want.score) > 1e-5*max(1, -want.score) {
			t.Errorf("rank %d: %q %v %v, of all answers it is %+v", rank+1, got.Text, got.LogProb, got.Score, want)
		}
	}
}

// Details are the steps and the attention that a trace of the same line records.
// Caught when planted: steps of another line; the attention of steps after a position halted; sources and targets exchanged.
func TestDetailsAgreeWithTraces(t *testing.T) {
	m, err := pipeline.Load(copierDir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	lines := []string{"1232", "7", "x", "904"}
	answers, err := m.Decode(t.Context(), lines, pipeline.DecodeOptions{Details: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		d := answers[i].Details
		if line == "x" {
			if d != nil || answers[i].Err == nil {
				t.Errorf("an unknown token has details %+v", d)
			}
			continue
		}
		trace, err := m.Trace(t.Context(), line)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Source, trace.Source) || !slices.Equal(d.Target, trace.Target) ||
			!slices.Equal(d.SourceSteps, whole(trace.Encoder.Updates)) || !slices.Equal(d.TargetSteps, whole(trace.Decoder.Updates)) {
			t.Errorf("%s: %+v, traced %v and %v", line, d, trace.Encoder, trace.Decoder)
		}
		for position := range trace.Target {
			mean := make([]float64, len(trace.Source))
			n := int(trace.Decoder.Updates[position])
			for _, heads := range trace.Decoder.CrossAttention[:n] {
				for _, queries := range heads {
					for key, weight := range queries[position] {
						mean[key] += weight / float64(n*len(heads))
					}
				}
			}
			at := slices.Index(mean, slices.Max(mean))
			if d.Alignment[position] != at || math.Abs(d.AttentionShares[position]-mean[at]) > 1e-5 {
				t.Errorf("%s, position %d: aligned to %d with %v, want %d with %v", line, position, d.Alignment[position], d.AttentionShares[position], at, mean[at])
			}
		}
	}
}

func whole(values []float64) (n []int) {
	for _, v := range values {
		n = append(n, int(v))
	}
	return n
}

// The details of a language model are those of the prompt and of its continuation, as a trace of both has them.
// Caught when planted: steps of the prompt for those of the continuation; a prompt without its tokens.
func TestDetailsOfALanguageModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(strings.Repeat("abcab\nba", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := brief(t, "")
	r.Task = experiment.Task{Value: text.Text{Path: path, Length: 8, HeldOut: 0.3}}
	u := r.Model.Value.(experiment.EncoderDecoder)
	u.Halting.Value = halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01}}
	r.Model.Value = experiment.LanguageModel(u)
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	lines := []string{"abc", "b"}
	answers, err := m.Decode(t.Context(), lines, pipeline.DecodeOptions{Details: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		d := answers[i].Details
		trace, err := m.Trace(t.Context(), line)
		if err != nil {
			t.Fatal(err)
		}
		n, steps := len(line), whole(trace.Decoder.Updates)
		if strings.Join(d.Source, "") != line || len(d.Target) == 0 || !slices.Equal(d.Target, trace.Target[n:]) || !slices.Equal(d.SourceSteps, steps[:n]) || !slices.Equal(d.TargetSteps, steps[n:]) {
			t.Errorf("%s: %+v, traced %v with steps %v", line, d, trace.Target, steps)
		}
	}
}
