package translation

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/task/tasktest"
)

// folder makes files by their names.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// counted is n lines of numbers in words, and of their digits.
func counted(n int) (words, digits string) {
	names := strings.Fields("zero one two three four five six seven eight nine")
	var source, target strings.Builder
	for i := range n {
		for _, d := range fmt.Sprint(i) {
			source.WriteString(names[d-'0'] + " ")
		}
		source.WriteString("\n")
		fmt.Fprintf(&target, "%d.\r\n", i)
	}
	return source.String(), target.String()
}

func two(name string) Corpus { return Corpus{Source: name + ".en", Target: name + ".de"} }

func open(t *testing.T, c Translation) *Task {
	t.Helper()
	opened, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	return opened.(*Task)
}

func TestConformance(t *testing.T) {
	source, target := counted(2000)
	dir := folder(t, map[string]string{"train.en": source, "train.de": target})
	c := Translation{Path: dir, Training: []Corpus{two("train")}, HeldOut: 0.2, Choice: subword.Choice{TokenizerSize: 300}}
	tasktest.Run(t, open(t, c))
	tasktest.Files(t, c, open(t, c), false)
}

// With dropout of merges a pair is cut in another way every time it comes, into the same text, never longer than the longest pair without; pairs
// held out are cut as ever. Caught when planted: draws that do not depend on the index, no bound.
func TestBPEDropout(t *testing.T) {
	source, target := counted(2000)
	for n := 60; n < 70; n++ { // some long pairs, for the bound
		source, target = source+strings.Repeat("one ", n)+"\n", target+strings.Repeat("1", n)+".\n"
	}
	dir := folder(t, map[string]string{"train.en": source, "train.de": target, "t2t": "'<pad>_'\n'<EOS>_'\n'a_'\n'\\\\'\n'_'\n';'\n'u'\n'0'\n'1'\n'2'\n'3'\n'4'\n'5'\n'6'\n'7'\n'8'\n'9'\n"})
	plain := Translation{Path: dir, Training: []Corpus{two("train")}, HeldOut: 0.2, Choice: subword.Choice{TokenizerSize: 300}}
	dropping := plain
	dropping.BPEDropout = 0.3
	whole, cut := open(t, plain), open(t, dropping)
	v, n := cut.Vocabularies(), int64(len(cut.training))
	if longest, _ := whole.MaxLengths(); longest != cut.maxSource {
		t.Errorf("the longest source has %d subwords, %d with dropout", longest, cut.maxSource)
	}
	ways, longer := map[string]map[string]bool{}, 0
	for i := range 8 * n {
		e, other := cut.Training(5, i), whole.Training(5, i)
		s, text := v.Text(e)
		if ws, wt := v.Text(other); s != ws || text != wt || len(e.Source) > cut.maxSource || len(e.Target) > cut.maxTarget {
			t.Fatalf("example %d is %q and %q, without dropout %q and %q", i, s, text, ws, wt)
		}
		if ways[s] == nil {
			ways[s] = map[string]bool{}
		}
		ways[s][fmt.Sprint(e.Source, e.Target)] = true
		longer += len(e.Source) - len(other.Source)
	}
	different := 0
	for _, w := range ways {
		different += len(w)
	}
	if mean := float64(different) / float64(n); mean < 5 || longer <= 0 {
		t.Errorf("in eight times a pair is cut in %.1f ways, %d subwords more", mean, longer)
	}
	for _, s := range []task.Selection{{}, {Validation: true}} {
		a, _ := whole.HeldOut(1, s)
		b, _ := cut.HeldOut(1, s)
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%+v has dropout", s)
		}
	}
	for want, c := range map[string]Translation{
		"bpe_dropout is 1: it must":                 {Path: dir, Training: plain.Training, BPEDropout: 1},
		"bpe_dropout is NaN":                        {Path: dir, Training: plain.Training, BPEDropout: math.NaN()},
		"bpe_dropout is 0.1, but the subwords of t": {Path: dir, Training: plain.Training, BPEDropout: 0.1, Choice: subword.Choice{TokenizerFile: filepath.Join(dir, "t2t")}},
	} {
		if _, err := c.Open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Two files and one file with tabs give the same pairs, without the blanks around them; several are put together; the text comes back
// as it was.
// Caught when planted: the second corpus forgotten, sides exchanged, blanks kept in what people write.
func TestPairs(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.en": "\ufeff  A dog.\nTwo cats!\n", "a.de": "Ein Hund. \r\nZwei Katzen!", "b.tsv": "Red\tRot\n", "val.en": "A cat\n", "val.de": "Eine Katze\n",
		"test.en": "Red\nnaïve ☃\n", "test.de": "Rot\nnaiv ☃\n",
	})
	tk := open(t, Translation{
		Path: dir, Training: []Corpus{two("a"), {Pairs: "b.tsv"}}, Validation: []Corpus{two("val")}, Test: []Corpus{two("test")},
		Choice: subword.Choice{TokenizerSize: 280},
	})
	texts := func(examples []task.Example) (list []string) {
		for _, e := range examples {
			source, target := tk.Vocabularies().Text(e)
			list = append(list, source+"|"+target)
		}
		return list
	}
	var training []task.Example
	for i := range int64(3) {
		training = append(training, tk.Training(1, i))
	}
	trained := texts(training)
	slices.Sort(trained)
	if want := []string{"A dog.|Ein Hund.", "Red|Rot", "Two cats!|Zwei Katzen!"}; !slices.Equal(trained, want) {
		t.Errorf("training has %q, want %q", trained, want)
	}
	for validation, want := range map[bool][]string{true: {"A cat|Eine Katze"}, false: {"Red|Rot", "naïve ☃|naiv ☃"}} {
		held, err := tk.HeldOut(1, task.Selection{Validation: validation})
		if err != nil || !slices.Equal(texts(held), want) {
			t.Errorf("validation %v: %q, %v", validation, texts(held), err)
		}
	}
	if notes := strings.Join(tk.Notes(), "\n"); !strings.Contains(notes, "3 pairs for training, 1 for validation, 2 for testing, in 280 subwords") ||
		!strings.Contains(notes, "1 of 2 test sources are also in the training part") {
		t.Errorf("%s", notes)
	}
	examples, _, err := Translation{}.Reader(tk.Vocabularies()).File(filepath.Join(dir, "test.en") + "," + filepath.Join(dir, "test.de"))
	if err != nil || !slices.Equal(texts(examples), []string{"Red|Rot", "naïve ☃|naiv ☃"}) {
		t.Errorf("%q, %v", texts(examples), err)
	}
	in, err := Translation{}.Reader(tk.Vocabularies()).Read("  A dog. ")
	if err != nil || strings.Join(in.Labels, "") != "AĠdog." {
		t.Errorf("%q, %v", in.Labels, err)
	}
}

// What cannot be used is left out and counted, with the first place; lines behind it keep their partners.
// Caught when planted: a reason counted as another.
func TestLeftOut(t *testing.T) {
	source, target := counted(20)
	source += "\nlatin \xff\nends\n" + strings.Repeat("word ", 10_000) + "\n" + strings.Repeat("y", longestLine+1) + "\nlast\n"
	target += "empty\nlatin\n\n" + "long\nlonger\nthe last\n"
	dir := folder(t, map[string]string{"train.en": source, "train.de": target})
	tk := open(t, Translation{Path: dir, Training: []Corpus{two("train")}, Validation: []Corpus{two("train")}, Test: []Corpus{two("train")}})
	notes := strings.Join(tk.Notes(), "\n")
	if want := "skipped 5: 2 with an empty side or no tab, 1 not UTF-8, 2 too long; the first is " + filepath.Join(dir, "train.en") + ":21: the source is empty"; !strings.Contains(notes, want) {
		t.Errorf("%s, want %s", notes, want)
	}
	held, err := tk.HeldOut(1, task.Selection{})
	if err != nil || len(held) != 21 {
		t.Fatalf("%d, %v", len(held), err)
	}
	if source, target := tk.Vocabularies().Text(held[20]); source != "last" || target != "the last" {
		t.Errorf("%q is the partner of %q", target, source)
	}
}

// A message about a pair names the file of the side that cannot be used, and only that one is to be converted.
// Caught when planted: always the source's file.
func TestFaultNamesItsFile(t *testing.T) {
	source, target := counted(20)
	for name, c := range map[string]struct{ source, target, file, why string }{
		"target not UTF-8": {"x", "\xff", "train.de", "target: not valid UTF-8"},
		"source not UTF-8": {"\xff", "x", "train.en", "source: not valid UTF-8"},
		"target empty":     {"x", " ", "train.de", "the target is empty"},
		"source empty":     {" ", "x", "train.en", "the source is empty"},
		"target subwords":  {"x", strings.Repeat("word ", 10_000), "train.de", "subwords, more than task.max_length"},
		"source subwords":  {strings.Repeat("word ", 10_000), "x", "train.en", "subwords, more than task.max_length"},
		"target bytes":     {"x", strings.Repeat("y", longestLine+1), "train.de", "longer than"},
		"source bytes":     {strings.Repeat("y", longestLine+1), "x", "train.en", "longer than"},
	} {
		dir := folder(t, map[string]string{"train.en": source + c.source + "\n", "train.de": target + c.target + "\n", "held.en": source, "held.de": target})
		tk := open(t, Translation{Path: dir, Training: []Corpus{two("train")}, Validation: []Corpus{two("held")}, Test: []Corpus{two("held")}})
		notes, file := strings.Join(tk.Notes(), "\n"), filepath.Join(dir, c.file)
		if !strings.Contains(notes, "the first is "+file+":21: ") || !strings.Contains(notes, c.why) {
			t.Errorf("%s: %s", name, notes)
		}
		if convert := "iconv -f WINDOWS-1252 -t UTF-8 < " + file + " >"; strings.Contains(c.why, "UTF-8") != strings.Contains(notes, convert) {
			t.Errorf("%s: %s, want %s", name, notes, convert)
		}
	}
}

// Held out by the source: the same source never is on both sides, and the shares are what was asked for.
// Caught when planted: the hash of the target, a part without its share.
func TestHeldOutBySource(t *testing.T) {
	source, target := counted(3000)
	dir := folder(t, map[string]string{"train.en": source + source, "train.de": target + strings.ReplaceAll(target, ".", "!")})
	tk := open(t, Translation{Path: dir, Training: []Corpus{two("train")}, HeldOut: 0.2, Choice: subword.Choice{TokenizerSize: 300}})
	parts := map[string]int{}
	for i, list := range [][]task.Example{tk.training, tk.validation, tk.test} {
		for _, e := range list {
			parts[fmt.Sprint(e.Source)] |= 1 << i
		}
		if want := []float64{4800, 600, 600}[i]; float64(len(list)) < want-140 || float64(len(list)) > want+140 { // deviation 33 pairs of twos: beyond 4
			t.Errorf("part %d has %d pairs, want about %v", i, len(list), want)
		}
	}
	for text, in := range parts {
		if in != 1 && in != 2 && in != 4 {
			t.Fatalf("%s is in several parts: %b", text, in)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	source, target := counted(300)
	dir := folder(t, map[string]string{
		"a.en": source, "a.de": target, "short.de": "1\n2\n", "empty.en": "", "empty.de": "", "bad.en": "\xff\n\xff\n", "bad.de": "a\nb\n",
		"no.tsv": "no tab\nneither\n", "most.en": "\n\nx\n", "most.de": "a\nb\nc\n", "wide.en": "\xff\xfea\x00\n\x00", "wide.de": "a\n",
		"pairs.jsonl": "{\"source\": \"a\", \"target\": \"b\"}\n", "pairs.csv": "a,b\n",
		"blank.de": strings.Repeat("\n", 300), "single.en": "x\n", "single.de": "y\n",
	})
	list := func(c ...Corpus) []Corpus { return c }
	for name, c := range map[string]struct {
		task Translation
		want string
	}{
		"nothing":        {Translation{}, "training is empty"},
		"no name":        {Translation{Training: list(Corpus{})}, "training[0] names no file"},
		"one name":       {Translation{Training: list(Corpus{Source: "a.en"})}, "training[0] names only a.en"},
		"too many names": {Translation{Training: list(Corpus{Source: "a.en", Pairs: "b"})}, "give either pairs or source and target"},
		"share":          {Translation{Training: list(two("a")), HeldOut: 1}, "held_out is 1"},
		"useless share":  {Translation{Training: list(two("a")), Validation: list(two("a")), Test: list(two("a")), HeldOut: 0.1}, "held_out is 0.1, but"},
		"length":         {Translation{Training: list(two("a")), MaxLength: -3}, "max_length is -3"},
		"missing":        {Translation{Training: list(two("none"))}, "none.en: no such file"},
		"JSON":           {Translation{Training: list(Corpus{Pairs: "pairs.jsonl"})}, `no tab between source and target: the file seems to be JSON; with its keys in place of source and target, this converts it: jq -r '`},
		"CSV":            {Translation{Training: list(Corpus{Pairs: "pairs.csv"})}, "no tab between source and target: the file seems to be CSV: write its two columns with a tab between them"},
		"missing target": {Translation{Training: list(Corpus{Source: "a.en", Target: "none"})}, "none: no such file"},
		"shorter":        {Translation{Training: list(Corpus{Source: "a.en", Target: "short.de"})}, "line 3 of " + filepath.Join(dir, "a.en") + " has no partner: " + filepath.Join(dir, "short.de") + " ends after line 2"},
		"longer":         {Translation{Training: list(Corpus{Source: "short.de", Target: "a.de"})}, "line 3 of " + filepath.Join(dir, "a.de") + " has no partner: " + filepath.Join(dir, "short.de") + " ends after line 2"},
		"empty":          {Translation{Training: list(two("empty"))}, filepath.Join(dir, "empty.en") + ", " + filepath.Join(dir, "empty.de") + " is empty: it must have"},
		"blank targets":  {Translation{Training: list(Corpus{Source: "a.en", Target: "blank.de"})}, "none of 300 pairs is usable: " + filepath.Join(dir, "blank.de") + ":1: the target is empty"},
		"all held out":   {Translation{Training: list(two("single")), HeldOut: .999999}, "no pair is for training, all of them are held out"},
		"not UTF-8":      {Translation{Training: list(two("bad"), two("a"))}, "none of 2 pairs is usable"},
		"no tabs":        {Translation{Training: list(two("a"), Corpus{Pairs: "no.tsv"})}, "no.tsv: none of 2 pairs is usable: " + filepath.Join(dir, "no.tsv") + ":1: no tab"},
		"most left out":  {Translation{Training: list(two("a"), two("most"))}, "2 of 3 pairs are unusable, more than half"},
		"UTF-16":         {Translation{Training: list(two("wide"))}, "it is UTF-16"},
		"a folder":       {Translation{Training: list(Corpus{Source: ".", Target: "a.de"})}, "is a folder"},
		"no test":        {Translation{Training: list(two("a")), HeldOut: 1e-9}, "0 for validation"},
	} {
		c.task.Path, c.task.TokenizerSize = dir, 300
		_, err := c.task.Open()
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := (Translation{Training: list(two("a")), Choice: subword.Choice{TokenizerFile: "x", TokenizerSize: 300}}).Validate(); err == nil {
		t.Error("a file and a size are accepted")
	}
}

// A single file in place of the folder of the corpora is an error that says where it belongs.
func TestPathOfAFile(t *testing.T) {
	dir := folder(t, map[string]string{"pairs.tsv": "a\tb\n"})
	_, err := Translation{Path: filepath.Join(dir, "pairs.tsv"), Training: []Corpus{two("a")}, Choice: subword.Choice{TokenizerSize: 300}}.Open()
	if err == nil || !strings.Contains(err.Error(), `write a file of pairs, source TAB target, as task.training=[{"pairs": "FILE"}]`) {
		t.Error(err)
	}
}

// A compressed file that is damaged behind its last line, or cut short there, is named, whichever of the two it is.
// Caught when planted: its last line has no partner in the other file.
func TestDamagedAtTheEnd(t *testing.T) {
	source, target := counted(300)
	packed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	whole := packed(target)
	sum := []byte(whole)
	sum[len(sum)-8] ^= 1 // the checksum follows the text
	dir := folder(t, map[string]string{"a.en": source, "sum.de.gz": string(sum), "cut.de.gz": whole[:len(whole)-8]})
	for name, want := range map[string]string{"sum.de.gz": "invalid checksum", "cut.de.gz": "unexpected EOF"} {
		for _, c := range []Corpus{{Source: "a.en", Target: name}, {Source: name, Target: "a.en"}} {
			_, err := Translation{Path: dir, Training: []Corpus{c}, Choice: subword.Choice{TokenizerSize: 300}}.Open()
			if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(dir, name)+": ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", c, err, want)
			}
		}
	}
}

// Of several wrong fields the first one is named, every time. Caught when planted: parts in the order of a map, tokenizer_size behind max_length.
func TestValidateNamesTheFirstField(t *testing.T) {
	bad := []Corpus{{}}
	c := Translation{Training: bad, Validation: bad, Test: bad, HeldOut: -1, Choice: subword.Choice{TokenizerSize: -1}, BPEDropout: 2, MaxLength: -1, BLEU: 99}
	for _, step := range []struct {
		want string
		mend func()
	}{
		{"training[0] ", func() { c.Training = []Corpus{two("a")} }},
		{"validation[0] ", func() { c.Validation = nil }},
		{"test[0] ", func() { c.Test = nil }},
		{"held_out is -1", func() { c.HeldOut = 0 }},
		{"tokenizer_size is -1", func() { c.TokenizerSize = 0 }},
		{"bpe_dropout is 2", func() { c.BPEDropout = 0 }},
		{"max_length is -1", func() { c.MaxLength = 0 }},
		{"bleu: ", func() { c.BLEU = 0 }},
	} {
		for range 20 {
			if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), step.want) {
				t.Fatalf("%v, want %q", err, step.want)
			}
		}
		step.mend()
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

// FuzzPairs: of any two files every line is either used or counted, or the files do not belong together; what is used is text of the files.
func FuzzPairs(f *testing.F) {
	f.Add("a\nb\r\n", "c\n\n")
	f.Add("\ufeffa \x00\n\xff", "x\ty\nz")
	f.Fuzz(func(t *testing.T, source, target string) {
		dir := folder(t, map[string]string{"a.en": source, "a.de": target, "both.tsv": source})
		for _, corpus := range []Corpus{two("a"), {Pairs: "both.tsv"}} {
			where, err := Translation{Path: dir}.open(corpus)
			if err != nil {
				t.Fatal(err)
			}
			r := &report{}
			err = where.pairs(corpus, r, func(p pair) error {
				r.used++
				if p.source == "" || p.target == "" || p.source != strings.TrimSpace(p.source) || !strings.Contains(source, p.source) {
					t.Errorf("%+v", p)
				}
				return nil
			})
			lines := strings.Count(source, "\n")
			if text := strings.TrimPrefix(source, "\ufeff"); text != "" && !strings.HasSuffix(text, "\n") {
				lines++
			}
			if all := r.used + r.empty + r.bytes + r.long; err == nil && all != lines {
				t.Errorf("%d pairs of %d lines", all, lines)
			} else if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
		}
	})
}
