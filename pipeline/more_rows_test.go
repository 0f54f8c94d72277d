package pipeline_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/internal/vocab"
	"universal-transformer/pipeline"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/task/labels"
	"universal-transformer/task/table"
	"universal-transformer/task/tags"
	"universal-transformer/task/text"
	"universal-transformer/task/translation"
)

// growing is a run whose file gets more rows.
type growing struct {
	file   string // its content
	more   string // further rows, with words and characters that are new
	other  string // rows with a class that is new; empty: there are no classes
	class  string // the new class, as the error names it
	config func(path string) task.Definition
	model  func(experiment.Universal) experiment.ModelKind
	note   string // part of what is said of new tokens; empty: there are none, as with subwords
}

// growingRuns are runs on every kind of own data.
func growingRuns() map[string]growing {
	pieces := subword.Choice{TokenizerSize: 270}
	classifier := func(u experiment.Universal) experiment.ModelKind {
		return experiment.Classifier{Universal: u, Pool: experiment.MeanPool}
	}
	encoderDecoder := func(u experiment.Universal) experiment.ModelKind {
		return experiment.EncoderDecoder{Universal: u}
	}
	languageModel := func(u experiment.Universal) experiment.ModelKind {
		return experiment.LanguageModel{Universal: u}
	}
	var rows, sentences strings.Builder
	for i := range 80 {
		fmt.Fprintf(&rows, "row %d of eighty\t%s\n", i, []string{"even", "odd"}[i%2])
		fmt.Fprintf(&sentences, "row O\n%d B-N\n\n", i)
	}
	const more, other = "a quite other quotation\teven\nzero zero zero\todd\n", "another text\tneither\n"
	lines := growing{file: rows.String(), more: more, other: other, class: `label.*"neither"`, model: classifier}
	runs := map[string]growing{}
	add := func(name, note string, g growing, config func(string) task.Definition) {
		g.note, g.config = note, config
		runs[name] = g
	}
	add("labels of subwords", "", lines, func(p string) task.Definition {
		return labels.Labels{Path: p, Tokenizer: vocab.Subwords, Choice: pieces, HeldOut: 0.3}
	})
	add("labels of words", "training texts have ", lines, func(p string) task.Definition {
		return labels.Labels{Path: p, Tokenizer: vocab.Whitespace, HeldOut: 0.3}
	})
	lines.other, lines.model = "", encoderDecoder
	add("pairs of subwords", "", lines, func(p string) task.Definition {
		return table.Table{Path: p, Tokenizer: vocab.Subwords, Choice: pieces, HeldOut: 0.3}
	})
	add("pairs of words", "training sources have ", lines, func(p string) task.Definition {
		return table.Table{Path: p, Tokenizer: vocab.Whitespace, HeldOut: 0.3}
	})
	add("translation", "", lines, func(p string) task.Definition {
		return translation.Translation{Training: []translation.Corpus{{Pairs: p}}, Choice: pieces, HeldOut: 0.4}
	})
	lines.model = languageModel
	add("lines of subwords", "", lines, func(p string) task.Definition {
		return text.Text{Path: p, Tokenizer: vocab.Subwords, Choice: pieces, Lines: true, HeldOut: 0.3}
	})
	add("text of words", "", lines, func(p string) task.Definition {
		return text.Text{Path: p, Tokenizer: vocab.Whitespace, Length: 8, HeldOut: 0.3}
	})
	add("tags", "training sentences have ", growing{
		file: sentences.String(), more: "quite O\nother O\n\nzero B-N\nquotations O\n\n", other: "Bonn B-LOC\n\n", class: `tag.*"B-LOC"`,
		model: func(u experiment.Universal) experiment.ModelKind { return experiment.Tagger{Universal: u} },
	}, func(p string) task.Definition { return tags.Tags{Path: p, HeldOut: 0.3} })
	return runs
}

// A run whose file got more rows is evaluated, and resumed if the data are accepted, with the vocabulary that it was trained with; only a
// class that it cannot answer with is refused.
// Caught when planted: subwords or words of the new file, in an evaluation or a resume; a new class that is a known one or End.
func TestMoreRows(t *testing.T) {
	for name, g := range growingRuns() {
		t.Run(name, func(t *testing.T) {
			path, dir := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "run")
			rewriteAll(t, path, g.file)
			r := brief(t, "")
			r.Model.Value = g.model(r.Model.Value.(experiment.UniversalKind).Step())
			r.Task.Value = g.config(path)
			if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
				t.Fatal(err)
			}
			rewriteAll(t, path, g.file+g.more)
			if notes := strings.Join(evaluationNotes(t, dir), "\n"); !strings.Contains(notes, "data have changed since the checkpoint of update 6") {
				t.Errorf("the evaluation notes %q", notes)
			}
			var refused *pipeline.DataError
			if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}, "training.steps=8"); !errors.As(err, &refused) {
				t.Errorf("resuming: %v", err)
			}
			var notes []string
			accepting := pipeline.Callbacks{AcceptData: true, Log: func(line string) { notes = append(notes, line) }}
			if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, accepting, "training.steps=8"); err != nil {
				t.Fatal(err)
			}
			if said := strings.Join(notes, "\n"); !strings.Contains(said, "and are accepted") || !strings.Contains(said, g.note) || g.note == "" && strings.Contains(said, "<unknown>") {
				t.Errorf("resuming notes %q", notes)
			}
			if g.other == "" {
				return
			}
			rewriteAll(t, path, g.file+g.other)
			if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, accepting, "training.steps=10"); err == nil || !matches(g.class, err.Error()) {
				t.Errorf("a new class: %v", err)
			}
		})
	}
}

// rewriteAll writes a file.
func rewriteAll(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// matches reports whether parts of a text, separated by ".*", occur in this order.
func matches(parts, text string) bool {
	for part := range strings.SplitSeq(parts, ".*") {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return true
}
