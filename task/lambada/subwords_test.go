package lambada

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"universal-transformer/subword"
	"universal-transformer/task"
)

// A passage in subwords is its line, with a space before each word, as the tokenizer cuts it whole. Its last word's probability is the
// product of those of the subwords that the word alone is cut into, and it is right if all of them are; as plain loops over the file say.
// Caught when planted: the last subword alone, the subwords of the word before, a mean over subwords.
func TestSubwordsOfLastWords(t *testing.T) {
	d := data(t)
	tk := opened(t, inSubwords(d))
	v, rng := tk.Vocabularies(), rand.New(rand.NewPCG(5, 6))
	examples, err := tk.HeldOut(1, task.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	var scored []task.Scored
	nats, right, several, unknown := 0.0, 0, 0, 0
	for i, line := range strings.Split(strings.TrimSpace(string(read(t, d.Path, Test))), "\n") {
		ids, err := v.Subwords.Encode(" " + line)
		if err != nil || !slices.Equal(ids, examples[i].Target) {
			t.Fatalf("%q is %v, want %v, %v", line, examples[i].Target, ids, err)
		}
		fields := strings.Fields(line)
		of, _ := v.Subwords.Encode(" " + fields[len(fields)-1])
		s := task.Scored{Best: slices.Clone(ids)}
		for range ids {
			s.LogProbs = append(s.LogProbs, -5*rng.Float64())
		}
		wrong := i % 4 // subwords from the end, 0: none
		if wrong > 0 {
			s.Best[len(ids)-wrong]++
		}
		for _, p := range s.LogProbs[len(ids)-len(of):] {
			nats -= p
		}
		if wrong == 0 || wrong > len(of) {
			right++
		}
		if len(of) > 1 {
			several++
		}
		if fields[len(fields)-1] == "xantippe" {
			unknown++
		}
		scored = append(scored, s)
	}
	if several < 20 || unknown < 10 {
		t.Fatalf("%d last words of several subwords, %d unknown", several, unknown)
	}
	result, err := inSubwords(d).Measure(v).Measure(t.Context(), known{scored: scored}, examples)
	if err != nil {
		t.Fatal(err)
	}
	by := metrics(result)
	n := len(examples)
	if got, want := by["last word perplexity"].Value, math.Exp(nats/float64(n)); math.Abs(got-want) > 1e-9*want {
		t.Errorf("perplexity %v, want %v", got, want)
	}
	if got := by["last word accuracy"].Accuracy; got.Correct != right || got.Total != n {
		t.Errorf("accuracy %v, want %d of %d", got, right, n)
	}
	if got := by["covered"].Accuracy; got.Correct != n {
		t.Errorf("%v are known", got)
	}
	if got := result.Answers[0].Text; got != "anna" {
		t.Errorf("the first answer is %q", got)
	}
}

// The text in subwords is that in words: the same sentences and books, joined the same letters. Segments begin at sentences.
// Caught when planted: sentences of the words' places, a sample without the first space.
func TestTextInSubwords(t *testing.T) {
	d := data(t)
	d.MinCount = 0
	words, cut := opened(t, Language{Data: d, Length: 40}).corpus, opened(t, inSubwords(d)).corpus
	if !slices.Equal(words.books, cut.books) || len(words.sentences) != len(cut.sentences) || len(cut.ids) <= len(words.ids) {
		t.Fatalf("%v and %v, %d and %d sentences, %d and %d tokens", words.books, cut.books, len(words.sentences), len(cut.sentences), len(words.ids), len(cut.ids))
	}
	for s := range len(words.sentences) - 1 {
		want := " " + strings.Join(words.words(words.sentences[s], words.sentences[s+1]), " ")
		if got := cut.pieces.Text(cut.ids[cut.sentences[s]:cut.sentences[s+1]]); got != want {
			t.Fatalf("sentence %d is %q, want %q", s, got, want)
		}
	}
	n := 0
	for range words.sample(100) {
		n++
	}
	if every := len(words.ids) / 100; n != (len(words.sentences)-2)/every+1 {
		t.Errorf("%d sentences, one in %d of %d", n, every, len(words.sentences)-1)
	}
	if at := cut.sentences[3] + 1; cut.wordEnd(0, at) > at || cut.wordEnd(cut.sentences[3], cut.sentences[4]) != cut.sentences[4] {
		t.Error("words end elsewhere")
	}
}

// What a user types is read like the passages. Caught when planted: a first word without its space.
func TestTypedSubwords(t *testing.T) {
	c := inSubwords(data(t))
	v := opened(t, c).Vocabularies()
	r := c.Reader(v)
	in, err := r.Read("then  anna took")
	want, _ := v.Subwords.Encode(" then anna took")
	if err != nil || !slices.Equal(in.Source, want) {
		t.Errorf("%v, want %v, %v", in.Source, want, err)
	}
	if got, err := r.Target("then anna took"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v, %v", got, want, err)
	}
}

func TestValidateSubwords(t *testing.T) {
	for want, c := range map[string]Language{
		"tokenizer_size is 300, but tokens are words": {Data: Data{Path: "x", Version: Plain}, Choice: subword.Choice{TokenizerSize: 300}},
		`tokenizer_file is "f", but tokens are words`: {Data: Data{Path: "x", Version: Plain}, Choice: subword.Choice{TokenizerFile: "f"}},
		"min_count is 2, but every word":              {Data: Data{Path: "x", Version: Plain, MinCount: 2}, InSubwords: true},
		"vocabulary is 9, but tokens are subwords":    {Data: Data{Path: "x", Version: Plain, Vocabulary: 9}, InSubwords: true},
		"tokenizer_size is 3":                         {Data: Data{Path: "x", Version: Plain}, InSubwords: true, Choice: subword.Choice{TokenizerSize: 3}},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
