package table

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/task/tasktest"
)

func TestSubwordsConform(t *testing.T) {
	path := write(t, numbers(2000))
	c := Table{Path: path, Tokenizer: vocab.Subwords, Choice: subword.Choice{TokenizerSize: 300}}
	tk, _ := open(t, c)
	tasktest.Run(t, tk)
	tasktest.Files(t, c, tk, false)
}

// Subwords are found in the training part alone: a word of held-out lines only is spelled in pieces, one of training lines is whole,
// and every line comes back as it stands in the file. A file of another run's gives its own ids.
// Caught when planted: held-out pairs among the text that is trained on, a tokenizer_file that is not read.
func TestSubwords(t *testing.T) {
	training, held := write(t, strings.Repeat("eins zwei\tone two\n", 50)), write(t, strings.Repeat("zwei  vierzehn\tfourteen\n", 50))
	config := Table{Path: training, HeldOutPath: held, Tokenizer: vocab.Subwords, Choice: subword.Choice{TokenizerSize: 400}}
	tk, report := open(t, config)
	v := tk.Vocabularies()
	examples, err := tk.HeldOut(1, task.Selection{Count: 1})
	if err != nil || report.HeldOut != 50 {
		t.Fatalf("%d, %v", report.HeldOut, err)
	}
	if source, target := v.Text(examples[0]); source != "zwei  vierzehn" || target != "fourteen" {
		t.Errorf("%q, %q", source, target)
	}
	if tokens := v.Source.Decode(examples[0].Source); len(tokens) < 8 {
		t.Errorf("an unseen word is cut into %q", tokens)
	}
	if tokens, _ := v.Split("eins zwei"); len(tokens) != 2 {
		t.Errorf("seen words are cut into %q", tokens)
	}
	config.TokenizerFile, config.TokenizerSize = filepath.Join(t.TempDir(), "tokenizer.json"), 0
	other, err := subword.Choice{TokenizerSize: 300}.Pieces(func(yield func(string) bool) { yield("vierzehn vierzehn") })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config.TokenizerFile, other.File(), 0o600); err != nil {
		t.Fatal(err)
	}
	tk, _ = open(t, config)
	if tokens, _ := tk.Vocabularies().Split("vierzehn"); len(tokens) != 1 || tk.Vocabularies().TokenizerDigest != other.Digest() {
		t.Errorf("the file's own word is cut into %q", tokens)
	}
	examples, notes, err := config.Reader(tk.Vocabularies()).File(held)
	if err != nil || len(examples) != 50 || !strings.Contains(fmt.Sprint(notes), "50 usable") {
		t.Errorf("%d examples, %q, %v", len(examples), notes, err)
	}
}

// A side of too many pieces is reported with its line, whichever part it falls to; where that is most lines, it is an error.
func TestSubwordsTooLong(t *testing.T) {
	content := strings.Repeat("a\tb\n", 40) + "xyzw\tb\n"
	_, report := open(t, Table{Path: write(t, content), HeldOutPath: write(t, content), Tokenizer: vocab.Subwords, MaxLength: 3, Choice: subword.Choice{TokenizerSize: 258}})
	for _, f := range report.Files {
		if f.Usable != 40 || f.Skipped != 1 || f.Malformed[0].Line != 41 || !strings.Contains(f.Malformed[0].Reason, "4 subwords, more than task.max_length 3") {
			t.Errorf("%+v", f)
		}
	}
	_, _, err := Open(Table{Path: write(t, strings.Repeat("xyzw\tb\n", 40)), Tokenizer: vocab.Subwords, MaxLength: 3})
	if err == nil || !strings.Contains(err.Error(), "none of 40 lines can be used") && !strings.Contains(err.Error(), "different sources in 40 lines: 1; does task.source_column") {
		t.Error(err)
	}
}
