package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/bleu"
)

const (
	hypothesisText = "The cat sat on the mat.\nThere is a house, and a dog in it.\r\nHe said: \"no\"!\n"
	referenceText  = "The cat is on the mat.\nThere is a dog in the house, and a cat.\nHe said \"no\"!\n"
	otherText      = "the cat sat on a mat\nthere is a house with a dog\nhe said no"
)

// The output equals that of sacrebleu 2.6.0 --format text for the same files.
func TestBleu(t *testing.T) {
	hyp, ref, other := write(t, "hyp", hypothesisText), write(t, "ref", referenceText), write(t, "other", otherText)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{hyp, ref}, `BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 46.7 88.0/68.2/42.1/18.8 (BP = 1.000 ratio = 1.000 hyp_len = 25 ref_len = 25)`},
		{[]string{hyp, ref, other}, `BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 52.2 92.0/81.8/52.6/18.8 (BP = 1.000 ratio = 1.000 hyp_len = 25 ref_len = 25)`},
		{[]string{hyp, other, ref, "--tokenize", "intl", "--lowercase"}, `BLEU|nrefs:2|case:lc|eff:no|tok:intl|smooth:exp|version:2.6.0 = 60.7 92.0/81.8/57.9/31.2 (BP = 1.000 ratio = 1.000 hyp_len = 25 ref_len = 25)`},
		{[]string{hyp, other, "--smooth", "floor"}, `BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:floor[0.10]|version:2.6.0 = 9.2 48.0/22.7/10.5/0.6 (BP = 1.000 ratio = 1.562 hyp_len = 25 ref_len = 16)`},
		{[]string{hyp, other, "--smooth", "floor", "--smooth-value", "0.02"}, `BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:floor[0.02]|version:2.6.0 = 6.2 48.0/22.7/10.5/0.1 (BP = 1.000 ratio = 1.562 hyp_len = 25 ref_len = 16)`},
		{[]string{hyp, other, "--smooth", "add-k"}, `BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:add-k[1.00]|version:2.6.0 = 18.2 48.0/26.1/15.0/5.9 (BP = 1.000 ratio = 1.562 hyp_len = 25 ref_len = 16)`},
		{[]string{hyp, other, "--smooth", "none"}, `BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:none|version:2.6.0 = 0.0 48.0/22.7/10.5/0.0 (BP = 1.000 ratio = 1.562 hyp_len = 25 ref_len = 16)`},
		{[]string{hyp, ref, "--tokenize", "char"}, `BLEU|nrefs:1|case:mixed|eff:no|tok:char|smooth:exp|version:2.6.0 = 73.8 92.9/83.0/72.0/61.7 (BP = 0.965 ratio = 0.966 hyp_len = 56 ref_len = 58)`},
		{[]string{hyp, ref, "--tokenize", "none"}, `BLEU|nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:2.6.0 = 29.3 83.3/60.0/33.3/5.6 (BP = 0.946 ratio = 0.947 hyp_len = 18 ref_len = 19)`},
		{[]string{hyp, ref, "--chrf"}, `chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0 = 64.0`},
		{[]string{hyp, ref, other, "--chrf", "--word-order", "2", "--lowercase"}, `chrF2++|nrefs:2|case:lc|eff:yes|nc:6|nw:2|space:no|version:2.6.0 = 67.1`},
	} {
		if got := succeeds(t, append([]string{"bleu"}, test.args...)...); got != test.want+"\n" {
			t.Errorf("%v: %swant %s", test.args[1:], got, test.want)
		}
	}
	fromInput := utReading(t, hypothesisText, "bleu", "-", ref)
	if want := succeeds(t, "bleu", hyp, ref); fromInput.code != 0 || fromInput.stdout != want {
		t.Errorf("from the standard input: %s%swant %s", fromInput.stdout, fromInput.stderr, want)
	}
}

// The figures are those of sacrebleu 2.6.0 --paired-bs for the same files.
func TestBleuPaired(t *testing.T) {
	base, hyp, ref := write(t, "base", "w18 w2 w2 w14 w5 w9 w25 w27 w18 w0 w8 w24 w16 w9 w14\nw27 w10 w22 w6 w23\nw18 w26 w16 w23 w26 w13 w5 w15 w25 w16 w16\nw24 w5 w29 w4 w11 w21 w29 w23 w24 w2\nw8 w23 w22 w25 w2 w29 w14 w26 w4 w9 w17 w11 w25 w15 w10 w16 w14\nw16 w6 w18 w2 w12 w26 w4 w24 w25 w0 w14 w4 w20 w18 w17\n"),
		write(t, "hyp", "w18 w7 w2 w14 w5 w14 w4 w27 w18 w18 w8 w24 w16 w9 w14\nw27 w10 w22 w6 w23\nw21 w26 w16 w23 w26 w10 w10 w15 w6 w16 w16\nw24 w5 w10 w4 w13 w21 w29 w23 w24 w2\nw8 w23 w28 w25 w16 w29 w10 w25 w4 w7 w17 w4 w25 w15 w10 w16 w14\nw0 w24 w18 w2 w2 w26 w4 w24 w2 w24 w14 w4 w20 w18 w29\n"),
		write(t, "ref", "w18 w7 w2 w14 w5 w14 w25 w27 w18 w0 w8 w24 w16 w9 w14\nw27 w10 w22 w6 w23\nw21 w26 w16 w23 w26 w13 w10 w15 w6 w16 w16\nw24 w5 w10 w4 w13 w21 w29 w23 w24 w2\nw8 w23 w22 w2 w16 w29 w10 w25 w4 w7 w17 w4 w25 w15 w10 w16 w14\nw16 w24 w18 w2 w2 w26 w4 w24 w2 w0 w14 w4 w20 w18 w17\n")
	want := "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0|bs:1000|seed:12345\n" +
		"baseline   49.57  (50.10 ± 12.36)\nHYP        75.07  (75.58 ± 10.53)  difference +25.49, p = 0.0010\n"
	if got := succeeds(t, "bleu", hyp, ref, "--paired", base); got != want {
		t.Errorf("%swant %s", got, want)
	}
	if got := succeeds(t, "bleu", hyp, ref, "--paired", hyp); !strings.Contains(got, "no difference") {
		t.Error(got)
	}
	for want, args := range map[string][]string{
		"add --paired":        {hyp, ref, "--samples", "5"},
		"has 2 lines":         {hyp, ref, "--paired", write(t, "short", "a\nb\n")},
		"--samples is 0":      {hyp, ref, "--paired", base, "--samples", "0"},
		"--paired and --chrf": {hyp, ref, "--paired", base, "--chrf"},
		"no such file":        {hyp, ref, "--paired", "/nowhere"},
	} {
		if got := ut(t, append([]string{"bleu"}, args...)...); got.code == 0 || !strings.Contains(got.stderr, want) {
			t.Errorf("%v: %s, want %q", args, got.stderr, want)
		}
	}
}

func TestBleuJSON(t *testing.T) {
	for name, value := range map[string]any{
		"bleu": scoredBLEU{"BLEU", bleu.Score{
			Value: 12.5, Signature: bleu.Config{}.Signature(1), Counts: [4]float64{9, 7, 5, 3}, Totals: [4]float64{10, 9, 8, 7},
			Precisions: [4]float64{90, 77.77777777777777, 62.5, 42.857142857142854}, BrevityPenalty: 0.9,
			HypothesisLength: 10, ReferenceLength: 11,
		}},
		"bleu_chrf": bleu.ChrFScore{Name: "chrF2++", Value: 56.25, Signature: bleu.ChrF{WordOrder: 2}.Signature(2)},
	} {
		var got bytes.Buffer
		if err := writeJSON(&got, value); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name+".json")
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("got\n%s\nwant\n%s%v", got.Bytes(), want, err)
		}
		args := []string{"bleu", write(t, "hyp", hypothesisText), write(t, "ref", referenceText), "--json"}
		if name == "bleu_chrf" {
			args = append(args, "--chrf")
		}
		printed := fields(t, []byte(succeeds(t, args...)))
		if !slices.Equal(printed, fields(t, want)) {
			t.Errorf("the program prints %v, not the fields of %s", printed, path)
		}
		for _, field := range printed {
			if !strings.Contains(bleuHelp, "\n  "+field+" ") {
				t.Errorf("the help does not say what %q is", field)
			}
		}
	}
}

// Compressed files are read, also by their names without .gz. A byte order mark is a character of the first word, as in sacreBLEU.
func TestBleuFiles(t *testing.T) {
	hyp, ref := write(t, "hyp", hypothesisText), write(t, "ref.gz", zipped(t, referenceText))
	want := succeeds(t, "bleu", hyp, write(t, "ref", referenceText))
	for _, reference := range []string{ref, strings.TrimSuffix(ref, ".gz")} {
		if got := succeeds(t, "bleu", write(t, "hyp.gz", zipped(t, hypothesisText)), reference); got != want {
			t.Errorf("compressed: %swant %s", got, want)
		}
	}
	const marked = "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = 45.3 84.0/63.6/42.1/18.8 (BP = 1.000 ratio = 1.000 hyp_len = 25 ref_len = 25)\n"
	if got := succeeds(t, "bleu", write(t, "marked", "\ufeff"+hypothesisText), ref); got != marked {
		t.Errorf("with a byte order mark: %swant %s", got, marked)
	}
	if r := utReading(t, "\ufeff"+hypothesisText, "bleu", "-", ref); r.stdout != marked {
		t.Errorf("from the standard input: %+v", r)
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

// JSON has the full precision of the score. The figures are sacreBLEU's.
func TestBleuJSONIsExact(t *testing.T) {
	var got struct {
		Score          float64
		Counts, Totals []float64
		BrevityPenalty float64 `json:"brevity_penalty"`
	}
	out := succeeds(t, "bleu", write(t, "hyp", hypothesisText), write(t, "ref", referenceText), "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	const want = 46.65221056209484
	if math.Abs(got.Score-want) > 1e-9 || !slices.Equal(got.Counts, []float64{22, 15, 8, 3}) ||
		!slices.Equal(got.Totals, []float64{25, 22, 19, 16}) || math.Abs(got.BrevityPenalty-1.0) > 1e-9 {
		t.Errorf("%+v, want a score of %v", got, want)
	}
}

func TestBleuErrors(t *testing.T) {
	hyp, ref, short := write(t, "hyp", hypothesisText), write(t, "ref", referenceText), write(t, "short", "one\ntwo\n")
	empty, broken := write(t, "empty", ""), write(t, "broken", "a\nb\n\xffc\n")
	for _, c := range []struct {
		name string
		args []string
		code int
		says []string
	}{
		{"nothing", nil, 2, []string{"HYP is missing", "ut bleu --help"}},
		{"no reference", []string{hyp}, 2, []string{"REF is missing"}},
		{"reference from the standard input", []string{hyp, "-"}, 2, []string{"REF is -"}},
		{"baseline from the standard input", []string{hyp, ref, "--paired", "-"}, 2, []string{"--paired is -: only HYP can be the standard input"}},
		{"unknown tokenizer", []string{hyp, ref, "--tokenize", "13b"}, 2, []string{"--tokenize", `"13b"`, "13a, intl, none or char"}},
		{"unknown smoothing", []string{hyp, ref, "--smooth", "ad-k"}, 2, []string{"--smooth", `"ad-k"`, "exp, floor, add-k or none"}},
		{"value of 0", []string{hyp, ref, "--smooth", "floor", "--smooth-value", "0"}, 2, []string{"--smooth-value is 0", "--smooth none"}},
		{"negative value", []string{hyp, ref, "--smooth", "floor", "--smooth-value", "-1"}, 2, []string{"--smooth-value is -1: it must be a positive number"}},
		{"value without use", []string{hyp, ref, "--smooth-value", "1"}, 2, []string{"--smooth-value is 1: smoothing exp takes none", "floor and add-k"}},
		{"chrF with tokenizer", []string{hyp, ref, "--chrf", "--tokenize", "none"}, 2, []string{"--tokenize", "--chrf"}},
		{"chrF with smoothing", []string{hyp, ref, "--chrf", "--smooth", "none"}, 2, []string{"--smooth", "--chrf"}},
		{"words without chrF", []string{hyp, ref, "--word-order", "2"}, 2, []string{"--word-order", "--chrf"}},
		{"too many words", []string{hyp, ref, "--chrf", "--word-order", "3"}, 2, []string{"--word-order is 3: it must be 0, 1 or 2"}},
		{"hypothesis that is not there", []string{"nowhere.txt", ref}, 1, []string{"nowhere.txt"}},
		{"reference that is not there", []string{hyp, ref, "nowhere.txt"}, 1, []string{"nowhere.txt"}},
		{"directory", []string{hyp, filepath.Dir(ref)}, 1, []string{filepath.Dir(ref), "folder"}},
		{"empty hypothesis", []string{empty, ref}, 1, []string{empty, "is empty"}},
		{"empty reference", []string{hyp, empty}, 1, []string{empty, "is empty"}},
		{"empty standard input", []string{"-", ref}, 1, []string{"the standard input is empty"}},
		{"fewer lines", []string{hyp, ref, short}, 1, []string{short + " has 2 lines", hyp + " has 3"}},
		{"more lines", []string{short, ref}, 1, []string{ref + " has 3 lines", short + " has 2"}},
		{"UTF-16", []string{write(t, "wide", "\xff\xfea\x00"), ref}, 1, []string{"wide: it is UTF-16"}},
		{"cut short", []string{write(t, "cut.gz", zipped(t, hypothesisText)[:30]), ref}, 1, []string{"cut.gz: ", "unexpected EOF"}},
		{"no UTF-8", []string{hyp, broken}, 1, []string{broken + ": line 3 is not valid UTF-8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := ut(t, append([]string{"bleu"}, c.args...)...)
			checkFailure(t, r, c.code, c.says...)
			if r.stdout != "" {
				t.Errorf("prints %q as well", r.stdout)
			}
		})
	}
}

// Ctrl-C ends a command that waits for input.
func TestReadAllIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	endless, w := io.Pipe()
	defer w.Close()
	if _, err := readAll(ctx, endless); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
