package pipeline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/labels"
	"universal-transformer/task/table"
	"universal-transformer/task/tags"
	"universal-transformer/task/text"
)

// runOn is a run with batches of 3 rows for a task.
func runOn(d task.Definition) experiment.Run {
	r := experiment.Defaults()
	r.Task.Value, r.Training.Batch = d, experiment.Batch{Rows: 3}
	return r
}

// Assumed examples use all tokens of the vocabulary in turn: 6 tokens are the ids 2 to 5 besides padding and End. The target continues the
// source, or is what the kind of task asks for.
func TestAssumedExamples(t *testing.T) {
	const source, next = "[2 3 4 5 2 3 4]", "[3 4 5 2 3 4 1]"
	for _, c := range []struct {
		task           task.Definition
		source, target string
		hasSource      bool
	}{
		{table.Table{}, source, next, true}, {text.Text{}, "[]", next, false}, {labels.Labels{}, source, "[2]", true}, {tags.Tags{}, source, source, true},
	} {
		s, err := sample(t.Context(), runOn(c.task), Assumed{Vocabulary: 6, Length: 7}, nil)
		if err != nil || len(s.batches) != samples || s.assumed == nil || *s.assumed != (Assumed{6, 7}) {
			t.Fatalf("%s: %d batches, assumed %+v, %v", c.task, len(s.batches), s.assumed, err)
		}
		if (s.vocabularies.Source != nil) != c.hasSource || s.vocabularies.Target.Size() != 6 {
			t.Errorf("%s: vocabularies %v and %v", c.task, s.vocabularies.Source, s.vocabularies.Target)
		}
		for _, b := range s.batches {
			if b.Rows != 3 || b.Examples != 3 {
				t.Fatalf("%s: %d rows with %d examples", c.task, b.Rows, b.Examples)
			}
			for i := range b.Rows {
				if fmt.Sprint(b.SourceRow(i)) != c.source || fmt.Sprint(b.TargetRow(i)) != c.target {
					t.Fatalf("%s: row %d is %v and %v, want %s and %s", c.task, i, b.SourceRow(i), b.TargetRow(i), c.source, c.target)
				}
			}
		}
	}
}

// Data that are there are read, and assumptions replace them. What is missing comes from the configuration or is 32; data with an error are
// not replaced.
func TestWhatIsAssumed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pairs.tsv")
	write := func(lines string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines := "source\ttarget\n"
	for i := range 64 {
		word := strings.NewReplacer("0", "a", "1", "b").Replace(fmt.Sprintf("%06b", i))
		lines += word + "\t" + word + "\n"
	}
	write(lines)
	there, missing, subwords := runOn(table.Table{Path: path, HeldOut: 0.3}), runOn(table.Table{Path: path + "x"}), labels.Labels{Path: path + "x"}
	subwords.Tokenizer, subwords.TokenizerSize = vocab.Subwords, 300
	for _, c := range []struct {
		run  experiment.Run
		a    Assumed
		want Assumed // zero: the data are read
	}{
		{there, Assumed{}, Assumed{}}, {there, Assumed{Vocabulary: 9}, Assumed{9, 32}}, {missing, Assumed{Vocabulary: 9, Length: 5}, Assumed{9, 5}},
		{runOn(subwords), Assumed{}, Assumed{300, 32}}, {runOn(subwords), Assumed{Length: 5}, Assumed{300, 5}}, {runOn(subwords), Assumed{Vocabulary: 9}, Assumed{9, 32}},
	} {
		s, err := sample(t.Context(), c.run, c.a, nil)
		if err != nil || len(s.batches) != samples {
			t.Fatalf("%+v: %d batches, %v", c.a, len(s.batches), err)
		}
		if read := s.assumed == nil; read != (c.want == Assumed{}) || !read && *s.assumed != c.want {
			t.Errorf("%+v: assumed %+v, want %+v", c.a, s.assumed, c.want)
		} else if read && (s.vocabularies.Source.Size() != 5 || s.batches[0].Rows != 3) { // padding, End, <unknown>, a and b
			t.Errorf("read %d tokens, batches of %d rows", s.vocabularies.Source.Size(), s.batches[0].Rows)
		}
	}
	_, err := sample(t.Context(), missing, Assumed{}, nil)
	if !errors.Is(err, ErrNoData) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without data and assumptions: %v", err)
	}
	_, err = sample(t.Context(), missing, Assumed{Length: 5}, nil)
	refused(t, "a length alone", err, "length requires vocabulary, the number of tokens")
	var option *OptionError
	if !errors.As(err, &option) || option.Option != "length" {
		t.Errorf("a length alone: %v", err)
	}
	write("a line without a tab\n")
	subwords.Path = path
	_, err = sample(t.Context(), runOn(subwords), Assumed{}, nil)
	refused(t, "data with an error", err, "pairs.tsv")
}

// The batches of a sample are the first window of the stream: 32 batches of so many rows, and no example more.
func TestSampleReadsOneWindow(t *testing.T) {
	for _, c := range []struct {
		plan batch.Plan
		rows int
	}{
		{batch.Plan{Rows: 4, MaxSource: 5, MaxTarget: 5}, 4}, {batch.Plan{Rows: 1, MaxSource: 5, MaxTarget: 5}, 1}, {batch.Plan{Tokens: 24, MaxSource: 5, MaxTarget: 8}, 3},
		{batch.Plan{Tokens: 24, MaxSource: 8, MaxTarget: 5}, 3}, {batch.Plan{Tokens: 3, MaxTarget: 1}, 3}, {batch.Plan{Tokens: 3, MaxSource: 9, MaxTarget: 9}, 1},
	} {
		source := func(i int64) task.Example {
			if i >= int64(samples*c.rows) {
				return task.Example{} // an error when it is used
			}
			return task.Example{Source: make([]vocab.ID, c.plan.MaxSource), Target: slices.Repeat([]vocab.ID{2}, c.plan.MaxTarget)}
		}
		var s sampled
		if err := s.draw(experiment.Run{}, c.plan, source); err != nil || len(s.batches) != samples {
			t.Errorf("%+v: %d batches, %v", c.plan, len(s.batches), err)
			continue
		}
		for _, b := range s.batches {
			if b.Rows != c.rows || b.Examples != c.rows {
				t.Fatalf("%+v: %d rows with %d examples, want %d", c.plan, b.Rows, b.Examples, c.rows)
			}
		}
	}
	var s sampled
	refused(t, "no rows", s.draw(experiment.Run{}, batch.Plan{MaxTarget: 1}, nil), "rows and tokens are both 0")
}

// The typical batch is the one in the middle by rows * (source + target), the last the largest; of the same number of positions the one with
// the shorter target comes first.
func TestTypicalBatch(t *testing.T) {
	of := func(rows, source, target, ids int) batch.Batch {
		return batch.Batch{Rows: rows, SourceLength: source, TargetLength: target, TokensPerPosition: ids}
	}
	for _, c := range []struct {
		list             []batch.Batch
		typical, largest int
	}{
		{[]batch.Batch{of(1, 3, 3, 1), of(1, 2, 4, 1), of(1, 4, 2, 1)}, 0, 1},
		{[]batch.Batch{of(1, 2, 4, 1), of(1, 4, 2, 1)}, 0, 0},
		{[]batch.Batch{of(2, 1, 4, 1), of(3, 1, 1, 1), of(1, 6, 1, 1), of(1, 9, 3, 1)}, 0, 3}, // 10, 6, 7 and 12 positions
		{[]batch.Batch{of(1, 12, 1, 4), of(1, 3, 3, 1), of(1, 1, 1, 1)}, 0, 1},                // 4, 6 and 2
		{[]batch.Batch{of(1, 1, 8, 1), of(2, 3, 1, 1), of(3, 1, 1, 1)}, 1, 0},                 // 9, 8 and 6
	} {
		typical, largest := (sampled{batches: c.list}).typical()
		if fmt.Sprint(typical) != fmt.Sprint(c.list[c.typical]) || fmt.Sprint(largest) != fmt.Sprint(c.list[c.largest]) {
			t.Errorf("%+v: %+v is typical, %+v the largest", c.list, typical, largest)
		}
	}
}
