package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/tags"
	"universal-transformer/universal"
)

// shortOfMemory is a backend's error about memory.
type shortOfMemory struct{}

func (shortOfMemory) Error() string            { return "it needs memory" }
func (shortOfMemory) Memory() (need, have int) { return 3 << 30, 1 << 29 }

// narrow is a model that has no memory for sequences of more than 16 positions.
type narrow struct{ universal.Model }

func (n narrow) Forward(scope *model.Scope, in universal.Inputs, o universal.Options) universal.Result {
	for _, ids := range []*graph.Node{in.Source, in.Target} {
		if ids != nil && ids.Shape().Dimensions[1] > 16 {
			panic(shortOfMemory{})
		}
	}
	return n.Model.Forward(scope, in, o)
}

// letters reads the letters a and b, from id 2 on.
type letters struct{ task.Reader }

var errEmpty = errors.New("empty")

func (letters) Read(text string) (in task.Input, err error) {
	for _, r := range text {
		in.Source, in.Labels = append(in.Source, vocab.ID(2+r-'a')), append(in.Labels, string(r))
	}
	if text == "" {
		err = errEmpty
	}
	return in, err
}

// tooLong is the error of a text of a number of tokens.
func tooLong(tokens int) string {
	return fmt.Sprintf("%d tokens need about 3.0 GiB of memory, and 0.5 GiB are available: shorten the line", tokens)
}

// A text for which there is no memory has an error that names its length, and the other texts of the request have their results.
// Caught when planted: no error; the error of another text; the length of the source alone.
func TestTextsFailAlone(t *testing.T) {
	long := strings.Repeat("ab", 10)
	texts, wrong := []string{"ab", long, "", "bab"}, []string{"", tooLong(20), "empty", ""}
	m := untrained(t)
	defer m.Close()
	m.reader, m.graph = letters{}, narrow{m.graph}
	classified, err := m.ClassifyAll(t.Context(), texts, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range classified {
		refused(t, texts[i], c.Err, wrong[i])
		if good := wrong[i] == ""; good != (len(c.Classes) == 3) || !good && len(c.Classes) > 0 {
			t.Errorf("%q: %+v", texts[i], c)
		}
	}
	if _, err := m.Classify(t.Context(), long); err == nil || err.Error() != "it needs memory" {
		t.Errorf("a single text: %v", err)
	}
	tagger := untrained(t)
	defer tagger.Close()
	tagger.Run.Task.Value = tags.Tags{}
	tagger.Run.Model.Value = experiment.Tagger{Universal: m.Run.Model.Value.(experiment.Classifier).Universal}
	tagger.reader, tagger.graph = letters{}, narrow{tagger.Run.Model.Value.Build(tagger.Vocabularies, 1)}
	tagged, err := tagger.Tag(t.Context(), texts, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range tagged {
		refused(t, texts[i], a.Err, wrong[i])
		if n := len(a.Tags); wrong[i] == "" && (n != len(texts[i]) || len(a.Classes) != n) || wrong[i] != "" && n > 0 {
			t.Errorf("%q: %+v", texts[i], a)
		}
	}
}

// Scores are as in the test before; the longer side of a pair gives the number of tokens.
func TestPairsFailAlone(t *testing.T) {
	m, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	long := strings.Repeat("1", 20)
	want, err := m.Score(t.Context(), []Pair{{"12", "12"}, {"7", "31"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	m.Close() // its graphs
	m.graph = narrow{m.graph}
	pairs := []Pair{{"12", "12"}, {long, "12"}, {"12", long}, {"7", "31"}}
	scored, err := m.Score(t.Context(), pairs, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, says := range []string{"", tooLong(20), tooLong(21), ""} {
		refused(t, pairs[i], scored[i].Err, says)
		if says != "" && scored[i].LogProbs != nil {
			t.Errorf("%v: %+v", pairs[i], scored[i])
		}
	}
	if fmt.Sprint(scored[0], scored[3]) != fmt.Sprint(want[0], want[1]) {
		t.Errorf("%+v, alone %+v", scored, want)
	}
	other := errors.New("other")
	for _, c := range []struct {
		err  error
		want string
	}{{nil, "<nil>"}, {other, "other"}, {fmt.Errorf("graph 7: %w", shortOfMemory{}), "it needs memory; choose shorter examples"}} {
		if got := shorterExamples(c.err); fmt.Sprint(got) != c.want || c.err == other && got != other {
			t.Errorf("%v becomes %v, want %s", c.err, got, c.want)
		}
	}
}

// endsLater is a context that ends after its error was asked for a number of times.
type endsLater struct {
	context.Context
	left *int
}

func (e endsLater) Err() error {
	if *e.left--; *e.left < 0 {
		return context.Canceled
	}
	return nil
}

// A context that ends while the model computes ends the call. Caught when planted: a result after the end.
func TestRecordThatIsCancelled(t *testing.T) {
	m := untrained(t)
	defer m.Close()
	m.reader = letters{}
	for left, want := range map[int]error{0: context.Canceled, 1: context.Canceled, 2: nil} {
		if _, err := m.Classify(endsLater{context.Background(), &left}, "ab"); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

// Steps of tokens are those of their query; a query that is decoded again begins anew, and has none for tokens that are still to come.
func TestStepCounts(t *testing.T) {
	queries := make([]decoding.Query, 2)
	c := countSteps(queries)
	of := func() (list []int) {
		for query := range queries {
			for token := range 3 {
				list = append(list, c.of(query, token))
			}
		}
		return list
	}
	for _, s := range []struct {
		query, token, steps int
		want                []int
	}{
		{1, 0, 4, []int{0, 0, 0, 4, 0, 0}}, {0, 0, 2, []int{2, 0, 0, 4, 0, 0}}, {0, 1, 3, []int{2, 3, 0, 4, 0, 0}}, {0, 2, 5, []int{2, 3, 5, 4, 0, 0}}, {0, 0, 7, []int{7, 0, 0, 4, 0, 0}},
	} {
		if queries[s.query].OnSteps(s.token, s.steps); !slices.Equal(of(), s.want) {
			t.Errorf("after token %d of query %d: %v, want %v", s.token, s.query, of(), s.want)
		}
	}
}

// noting reads a file with remarks.
type noting struct{ task.Reader }

func (noting) File(string) ([]task.Example, []string, error) {
	return make([]task.Example, 3), []string{"one", "two"}, nil
}

// Remarks on a file are passed on, if anybody wants them, and kept, each once. Caught when planted: a remark that is passed on twice.
func TestRemarksOnAFile(t *testing.T) {
	m := untrained(t)
	m.reader = noting{}
	var said []string
	for _, log := range []func(string){nil, func(line string) { said = append(said, line) }} {
		kept := &remarks{log: log}
		for range 2 {
			if _, _, examples, err := m.examples(t.Context(), Protocol{File: "x"}, kept); err != nil || len(examples) != 3 {
				t.Errorf("%d examples, %v", len(examples), err)
			}
		}
		if !slices.Equal(kept.lines, []string{"one", "two"}) {
			t.Errorf("it keeps %q", kept.lines)
		}
	}
	if !slices.Equal(said, []string{"one", "two"}) {
		t.Errorf("it says %q", said)
	}
}
