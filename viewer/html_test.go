package viewer

import (
	"bytes"
	"encoding/json"
	"html"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func render(t *testing.T, trace *Trace) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteHTML(&out, trace); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var scripts = regexp.MustCompile(`(?s)<(script|style)[^>]*>.*?</(script|style)>`)
var tags = regexp.MustCompile(`<[^>]*>`)

// shown is the page's text as a reader sees it, without scripts, styles and tags.
func shown(page string) string {
	return html.UnescapeString(tags.ReplaceAllString(scripts.ReplaceAllString(page, " "), ""))
}

func TestHTMLIsSelfContained(t *testing.T) {
	for name, trace := range map[string]*Trace{"adaptive": mistaken(), "fixed": fixed(), "story": story()} {
		page := strings.ReplaceAll(render(t, trace), "http://www.w3.org/2000/svg", "") // the name of a format, in exported pictures
		for _, reference := range []string{"http", "//www", "@import", "url(", " src=", "<link", "fetch(", "XMLHttpRequest"} {
			if strings.Contains(page, reference) {
				t.Errorf("%s: the page contains %q", name, reference)
			}
		}
	}
}

// pageDataOf returns what the scripts of a page read.
func pageDataOf(t *testing.T, page string) (d pageData) {
	t.Helper()
	_, text, found := strings.Cut(page, `<script type="application/json" id="data">`)
	text, _, closed := strings.Cut(text, "</script>")
	if !found || !closed {
		t.Fatal("the page has no data")
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Tokens come from data; whatever they hold must arrive as text, in the markup and in the embedded JSON.
func TestHTMLEscapes(t *testing.T) {
	evil := []string{"<script>alert(1)</script>", `" onmouseover="x`, "</title><b>", "<!--", "{{.}}", "\x00", "\u202e", "שלום", "</script><i>"}
	trace := sample("abcdefghi", 2, 2)
	trace.Source, trace.Target, trace.Output = evil, evil, evil
	trace.Encoder.Tokens, trace.Decoder.Tokens = evil, evil
	trace.Task, trace.Model, trace.Experiment, trace.Version = evil[0], evil[1], evil[2], evil[0]
	page := render(t, trace)
	if n := strings.Count(page, "<script"); n != 2 { // the data and the page's own
		t.Errorf("%d scripts, want 2", n)
	}
	for _, broken := range []string{"<script>alert", `" onmouseover`, "</title><b>", "<!--", "<i>", "\x00", "\u202e"} {
		if strings.Contains(scripts.ReplaceAllString(page, ""), broken) || strings.Contains(page, "<script>alert") {
			t.Errorf("%q arrived as markup", broken)
		}
	}
	data := pageDataOf(t, page)
	for i, token := range evil {
		if !strings.Contains(shown(page), visible(token)) || data.Stacks[0].Tokens[i] != visible(token) {
			t.Errorf("%q is not shown", visible(token))
		}
	}
}

// The data of the page are those of the trace, rounded to four decimals.
func TestHTMLHoldsEveryTokenAndNumber(t *testing.T) {
	for name, trace := range map[string]*Trace{"short": sample("314␣15", 4, 2), "long": mistaken(), "story": story(), "fixed": fixed(), "readouts": withReadouts()} {
		page := render(t, trace)
		data, n := pageDataOf(t, page), 0
		for _, s := range []*Stack{trace.Encoder, trace.Decoder} {
			if s == nil {
				continue
			}
			got := data.Stacks[n]
			n++
			for i, token := range s.Tokens {
				if got.Tokens[i] != visible(token) {
					t.Errorf("%s: token %q is shown as %q", name, token, got.Tokens[i])
				}
			}
			// The samples have at most four decimals.
			if !reflect.DeepEqual(got.Updates, s.Updates) || !reflect.DeepEqual(got.Weights, s.Weights) ||
				!reflect.DeepEqual(got.Remainders, s.Remainders) || !reflect.DeepEqual(got.Changes, s.Changes) || got.Steps != s.steps() {
				t.Errorf("%s: %+v, want %+v", name, got, s)
			}
			if !strings.Contains(shown(page), s.summary()) {
				t.Errorf("%s: %q is missing", name, s.summary())
			}
		}
		for i, r := range trace.Readouts {
			got := data.Readouts[i]
			if got.Answer != r.Answer || got.First != r.First || got.Settled != r.Settled || len(got.Flips) != len(r.Flips) || got.Steps[3][1] != (pageCandidate{"z", 0.25}) {
				t.Errorf("%s: readout %+v, want %+v", name, got, r)
			}
		}
		if v := trace.verdict(); !strings.Contains(shown(page), v) {
			t.Errorf("%s: the verdict %q is missing", name, v)
		}
	}
}

// Every view names its stacks and keys; a decoder reads the token before, and what it cannot see is not there.
func TestHTMLViews(t *testing.T) {
	data := pageDataOf(t, render(t, sample("314159", 3, 2)))
	var got []string
	for _, v := range data.Views {
		got = append(got, strings.Join(append([]string{v.ID}, v.Keys...), " "))
	}
	if want := []string{"encoder", "decoder ∅ 9 5 1 4 1", "cross"}; !slices.Equal(got, want) {
		t.Errorf("views %q, want %q", got, want)
	}
	if v := data.Views; !v[1].Causal || v[0].Causal || v[2].Causal || v[2].KeyStack != 0 || v[2].Stack != 1 || !v[2].Cross {
		t.Errorf("%+v", v)
	}
	// Without attention there is still a view of each stack.
	trace := sample("314", 3, 1)
	trace.Encoder.Attention, trace.Decoder.Attention, trace.Decoder.CrossAttention = nil, nil, nil
	data = pageDataOf(t, render(t, trace))
	if len(data.Views) != 2 || data.Views[0].Attention != -1 || data.Views[1].Attention != -1 || len(data.Attention) != 0 {
		t.Errorf("without attention: %+v", data.Views)
	}
}

// Signs stand for the special tokens and are explained where they occur, and only there.
func TestHTMLExplainsSigns(t *testing.T) {
	text := shown(render(t, fixed()))
	for _, want := range []string{"∎ is the end of the sequence.", "⁇ is a token the model does not know."} {
		if strings.Count(text, want) != 1 || strings.Contains(shown(render(t, story())), want) {
			t.Errorf("%q is not explained once where it occurs and nowhere else", want)
		}
	}
}

// Only what differs from the reference is marked, in the heading and below it.
func TestHTMLMarksMistakes(t *testing.T) {
	marked := regexp.MustCompile(`<span class="wrong"[^>]*>(.*?)</span>`)
	for name, test := range map[string]struct {
		trace *Trace
		want  string
	}{"mistaken": {mistaken(), "x x"}, "right": {sample("314", 2, 1), ""}, "no reference": {fixed(), ""}, "one": {story(), "office office"}} {
		var got []string
		for _, m := range marked.FindAllStringSubmatch(render(t, test.trace), -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: marked %v, want %q", name, got, test.want)
		}
	}
}

// The correct token is known at every position up to the end of the answer.
func TestHTMLExpected(t *testing.T) {
	trace := mistaken()
	got := pageDataOf(t, render(t, trace)).Expected
	if !slices.Equal(got, trace.Reference) { // 32 positions, no room for the end
		t.Errorf("expected %q", got)
	}
	trace.Reference = trace.Reference[:30]
	if got := pageDataOf(t, render(t, trace)).Expected; got[29] != trace.Reference[29] || got[30] != endSign || got[31] != "" {
		t.Errorf("expected %q at the end", got[29:])
	}
	if got := pageDataOf(t, render(t, fixed())).Expected; got != nil {
		t.Errorf("without a reference: %q", got)
	}
}

// What the page says of a model is true of its kind.
func TestHTMLKinds(t *testing.T) {
	const revises = "revises all positions"
	for model, want := range map[string]struct {
		says    string
		revises bool
	}{
		"Universal Transformer, adaptive (ACT, halted states copied), at most 4 steps, width 64, 4 heads": {"Each position decides for itself", true},
		"Transformer, 4 layers, width 64, 4 heads":                                                        {"Each layer has its own weights", true},
		"LSTM with attention, width 128":                                                                  {"reads one position after the other", false},
		"Neural GPU, width 96":                                                                            {"Neural GPU", false},
	} {
		trace := sample("314", 3, 1)
		trace.Model = model
		text := shown(render(t, trace))
		if strings.Contains(text, revises) != want.revises || !strings.Contains(text, want.says) {
			t.Errorf("%s: %q is missing, or it %s", model, want.says, revises)
		}
	}
}

// A story has its question as headline, and its sentences are written as usual.
func TestHTMLStory(t *testing.T) {
	trace := story()
	trace.Source = []string{"mary went home .", "john is in the garden .", "she slept .", "he sang .", "where is mary ?"}
	trace.Encoder.Tokens = trace.Source
	text := strings.Join(strings.Fields(shown(render(t, trace))), " ")
	for _, want := range []string{"Asked Where is mary?, the model answered office", "Mary went home. John is in the garden. She slept. He sang."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %q", want, text)
		}
	}
}

// A language model's page has the prompt; its line breaks are legible and break the line.
func TestHTMLPrompt(t *testing.T) {
	trace := sample("abcdefg", 2, 1)
	trace.Encoder, trace.Decoder.CrossAttention = nil, nil
	trace.Source, trace.Output, trace.Reference = []string{"H", "i", "\n"}, []string{"Y", "o", " ", "u"}, nil
	trace.Target = slices.Concat(trace.Source, trace.Output)
	trace.Decoder.Tokens = trace.Target
	page := render(t, trace)
	if text := shown(page); !strings.Contains(text, "Given the text Hi↵\n, the model wrote Yo u") || !strings.Contains(text, "prompt") {
		t.Errorf("the prompt is missing: %s", text)
	}
	if s := pageDataOf(t, page).Stacks[0]; s.Given != 3 || s.Tokens[2] != "↵" || s.Tokens[5] != "␣" {
		t.Errorf("%+v", s)
	}
}

func TestLabels(t *testing.T) {
	for _, test := range []struct{ tokens, want, running []string }{
		{[]string{"a", " ", "\n", end}, []string{"a", "␣", "↵", "∎"}, []string{"a", " ", "↵\n", "∎"}},
		{[]string{"A", " rid", "ing", " man", ".", end}, []string{"A", "rid", "·ing", "man", ".", "∎"}, []string{"A", " rid", "ing", " man", ".", "∎"}},
		{[]string{"the", "ab"}, []string{"the", "ab"}, []string{"the", "ab"}},
		{[]string{"mary went .", "is it 3 ?", "ünder !", "no mark", "x ."}, []string{"Mary went.", "Is it 3?", "Ünder!", "no mark", "X."}, []string{"Mary went.", "Is it 3?", "Ünder!", "no mark", "X."}},
	} {
		if got := labels(test.tokens); !slices.Equal(got, test.want) {
			t.Errorf("labels(%q) = %q, want %q", test.tokens, got, test.want)
		}
		if got := running(test.tokens); !slices.Equal(got, test.running) {
			t.Errorf("running(%q) = %q, want %q", test.tokens, got, test.running)
		}
	}
}

// A page of 200 tokens stays below a megabyte.
func TestHTMLOfLongInputIsSmall(t *testing.T) {
	if page := render(t, sample(strings.Repeat("31415", 40), 6, 4)); len(page) > 1e6 {
		t.Errorf("%d bytes", len(page))
	}
}
