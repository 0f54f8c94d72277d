package viewer

import (
	"encoding/json"
	"strings"
	"testing"
)

// A view holds the figures and the data of the page of the same trace, with the answer and the verdict as text, and no markup of tokens.
func TestView(t *testing.T) {
	for name, trace := range map[string]*Trace{"mistaken": mistaken(), "story": story(), "hostile": hostile(), "pieces": pieces()} {
		v, err := NewView(trace)
		if err != nil {
			t.Fatal(err)
		}
		page := render(t, trace)
		data, err := json.Marshal(v.Data)
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(pageDataOf(t, page))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page, v.HTML) || !strings.Contains(v.HTML, `id="steps"`) || string(data) != string(want) {
			t.Errorf("%s: other figures or data than the page", name)
		}
		if strings.Contains(v.HTML, "<script") {
			t.Errorf("%s: a script in %s", name, v.HTML)
		}
		if v.Answer == "" || v.Verdict != trace.verdict() {
			t.Errorf("%s: answer %q, verdict %q", name, v.Answer, v.Verdict)
		}
	}
	if v, err := NewView(pieces()); err != nil || v.Answer != strings.Join(pieces().Output, "") {
		t.Errorf("pieces of words: %q, %v", v.Answer, err)
	}
	if _, err := NewView(&Trace{Encoder: &Stack{Tokens: []string{"a"}}}); err == nil {
		t.Error("a trace without steps has a view")
	}
}
