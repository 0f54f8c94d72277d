package penn

import (
	"slices"
	"strings"
	"testing"
)

// The pairs are of LAMBADA: a passage as OpenAI's version types it and as the plain text has it; and of Project Gutenberg's ways.
// Caught when planted: a full stop taken from "mr.", quotes of one side, "ca" "n't" of "cannot", a comma taken out of a number.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"\"Figured if you're going to be out at night getting hit by cars, you might as well have some backup.\"": "`` figured if you 're going to be out at night getting hit by cars , you might as well have some backup . ''",
		"\u201cIt\u2019s Mr. Bell\u2019s,\u201d she said\u2014and wouldn\u2019t go.":                              "`` it 's mr. bell 's , '' she said -- and would n't go .",
		"I cannot, I'm gonna... \"Wait-\" (at 10:30 p.m., for $1,000)?!":                                          "i can not , i 'm gon na ... `` wait - '' -lrb- at 10:30 p.m. , for $ 1,000 -rrb- ?!",
		"Between _them_ it was--more the intimacy of sisters'.":                                                   "between them it was -- more the intimacy of sisters ' .",
		"'Hart's the T-shirt,' he said; \"'em too.\"":                                                             "` hart 's the t-shirt , ' he said ; `` 'em too . ''",
		"\"looked--\"your word--\" she":                                                                           "`` looked -- `` your word -- '' she",
		"stop.... end":                                                                                            "stop ... . end",
		"":                                                                                                        "",
		" \t\n":                                                                                                   "",
		"O'Connor's J.":                                                                                           "o'connor 's j.",
	} {
		if got := strings.Join(Words(text), " "); got != want {
			t.Errorf("%q\n is %q\nwant %q", text, got, want)
		}
	}
}

// A text that is split already stays as it is.
func TestWordsAgain(t *testing.T) {
	for _, text := range []string{
		"in my palm is a clear stone , and inside it is a small ivory statuette . a guardian angel . `` figured if you 're going to be out",
		"-lrb- he did n't say `` i ca n't ' -- ... to mrs. bell at 9:15 a.m. -rrb- ? 's 'em o'clock ma'am ?! * **",
	} {
		if got := strings.Join(Words(text), " "); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// Sentences end at marks with the quotes behind them, and at empty lines, not at abbreviations.
// Caught when planted: the quote left to the next sentence, paragraphs run together.
func TestSentences(t *testing.T) {
	got := Sentences("CHAPTER I\r\n\r\nMr. Bell\nwent home. \"Why?\" she said... He told 5. It\n\n\nnobody")
	want := []string{"chapter i", "mr. bell went home .", "`` why ? ''", "she said ...", "he told 5 .", "it", "nobody"}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i, words := range got {
		if strings.Join(words, " ") != want[i] {
			t.Errorf("sentence %d is %q, want %q", i, words, want[i])
		}
	}
}

func TestIsWord(t *testing.T) {
	for token, want := range map[string]bool{"bell": true, "10": true, "'s": true, "-lrb-": false, "...": false, "``": false, "t-shirt": true, "é": true} {
		if IsWord(token) != want {
			t.Errorf("%q: %v", token, !want)
		}
	}
}

// Whatever a text holds, no letter or digit is lost or put in another order, no token has white space or is empty, and sentences
// hold all words.
func FuzzSentences(f *testing.F) {
	for _, text := range []string{"Mr. 'Bell' can't.", "_x_ __ (\"a\") 1,0 a.b.", "…’“\xff\u2014", "'tis--cannot...'n'"} {
		f.Add(text)
	}
	letters := func(text string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", r) {
				return r
			}
			return -1
		}, text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := Words(text)
		var kept []string
		for _, w := range words {
			if len(strings.Fields(w)) != 1 || strings.Fields(w)[0] != w {
				t.Fatalf("the token %q", w)
			}
			if IsWord(w) {
				kept = append(kept, w)
			}
		}
		if !strings.ContainsAny(text, "()[]{}") && !strings.Contains(strings.ToLower(text), "b-") && letters(strings.Join(kept, "")) != letters(strings.ToLower(text)) {
			t.Fatalf("%q becomes %q", text, words)
		}
		n := 0
		for _, s := range Sentences(text) {
			n += len(s)
			if len(s) == 0 {
				t.Fatal("an empty sentence")
			}
		}
		if !strings.Contains(text, "\n") && n != len(words) {
			t.Fatalf("%d words in sentences, %d in %q", n, len(words), text)
		}
	})
}

func TestWhole(t *testing.T) {
	for _, w := range unsplit {
		if got := Words(w); !slices.Equal(got, []string{w}) {
			t.Errorf("%q becomes %q", w, got)
		}
	}
}
