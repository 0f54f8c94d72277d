package viewer

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed page
var pageFiles embed.FS

var pageTemplate = template.Must(template.ParseFS(pageFiles, "page/page.html"))

// pageScripts lists the scripts of the page in the order in which they run.
var pageScripts = []string{"tools", "attention", "paper", "layout", "grid", "heatmap", "details", "state", "main"}

// startScript shows the trace of a page, after pageScripts.
const startScript = "start"

// clip is the maximum number of characters of a side in the heading. The list below the heading shows all.
const clip = 80

// page is the data of page.html.
type page struct {
	CSS template.CSS
	JS  template.JS
	*Trace
	Kind                      string // of the model: "Universal Transformer"
	Asked, Answered, Expected quote
	Question                  string // of a story
	Unread                    string // words of the input that the model does not know
	Prompt                    bool   // the model continues what it was asked
	Verdict, How              string
	Stacks                    []stackSummary
	Data                      pageData
}

// stackSummary describes a stack in words.
type stackSummary struct{ Name, Summary, Signs string }

// WriteHTML writes t as one self-contained page that needs no network and no other file. It shows halting weights to four decimals, and
// attention as described at [packAttention]. WriteJSON writes the exact numbers.
func WriteHTML(w io.Writer, t *Trace) error {
	if err := t.Validate(); err != nil {
		return err
	}
	return pageTemplate.Execute(w, newPage(t))
}

func newPage(t *Trace) page {
	t = t.asWritten()
	p := page{
		CSS: template.CSS(Style()), JS: template.JS(closed(Script() + file(startScript+".js"))), Trace: t, Kind: t.kind(), How: t.how(),
		Asked: t.asked(), Unread: t.unread(), Expected: quoted(t.Reference), Answered: quote{t.marks(), separator(t.Output)},
		Prompt: t.Encoder == nil, Verdict: t.verdict(), Data: newPageData(t),
	}
	if t.isStory() {
		facts, last := len(t.Source)-1, p.Asked.Marks
		p.Asked, p.Question = quoted(t.Source[:facts]), last[facts].Token
	}
	for _, s := range p.Data.Stacks {
		p.Stacks = append(p.Stacks, stackSummary{s.Name, s.stack.summary(), signs(s.stack.Tokens)})
	}
	return p
}

// file returns a file of the page.
func file(name string) string {
	text, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// closed returns a script whose names are its own.
func closed(script string) string { return "(() => {\n\"use strict\";\n" + script + "})();\n" }

// kind returns the kind of the model, the beginning of its description.
func (t *Trace) kind() string {
	kind, _, _ := strings.Cut(t.Model, ",")
	kind, _, _ = strings.Cut(kind, " with ")
	if first, _ := utf8.DecodeRuneInString(kind); !unicode.IsUpper(first) { // descriptions of older versions have no kind
		return "Universal Transformer"
	}
	return kind
}

// how describes how models of this kind compute.
func (t *Trace) how() string {
	switch kind := t.kind(); {
	case kind == "Universal Transformer" && t.anyAdaptive():
		return "The model revises all positions at once, step by step, always with the same weights. Each position decides for itself after " +
			"which step it is done, up to a limit; the number of steps it ran is its ponder time."
	case kind == "Universal Transformer":
		return "The model revises all positions at once, step by step, always with the same weights."
	case kind == "Transformer":
		return "The model revises all positions at once, layer by layer. Each layer has its own weights."
	case strings.HasPrefix(kind, "LSTM"):
		return "The model reads one position after the other, each of them once."
	}
	return ""
}

func (t *Trace) anyAdaptive() bool {
	return t.Encoder != nil && t.Encoder.adaptive() || t.Decoder != nil && t.Decoder.adaptive()
}

// quote is a sequence of tokens as running text.
type quote struct {
	Marks     []mark
	Separator string
}

// Head returns the part that fits the heading.
func (q quote) Head() quote {
	characters := 0
	for i, m := range q.Marks {
		if i > 0 {
			characters += utf8.RuneCountInString(q.Separator)
		}
		characters += utf8.RuneCountInString(m.Token)
		switch {
		case characters <= clip:
		case i > 0:
			return quote{q.Marks[:i], q.Separator}
		default: // a token that is too long by itself
			m.Token = string([]rune(m.Token)[:clip]) + "…"
			return quote{[]mark{m}, q.Separator}
		}
	}
	return q
}

// Cut returns the number of tokens that Head leaves out.
func (q quote) Cut() int { return len(q.Marks) - len(q.Head().Marks) }

// Breaks reports whether a line may break between any two tokens: between characters and words, but not within words.
func (q quote) Breaks() bool {
	return q.Separator != "" || !slices.ContainsFunc(q.Marks, func(m mark) bool { return len(m.Core()) > 1 && m.Lead() != "" })
}

// Text returns the head as plain text.
func (q quote) Text() string {
	text := ""
	for i, m := range q.Head().Marks {
		if i > 0 {
			text += q.Separator
		}
		text += m.Token
	}
	if q.Cut() > 0 {
		text += "…"
	}
	return strings.Join(strings.Fields(text), " ")
}

func quoted(tokens []string) quote {
	marks := make([]mark, len(tokens))
	for i, s := range running(tokens) {
		marks[i].Token = s
	}
	return quote{marks, separator(tokens)}
}

// Title returns the title of the page.
func (p page) Title() string {
	text := p.Asked.Text()
	if p.Question != "" {
		text = p.Question
	}
	if p.Task != "" {
		text = p.Task + ": " + text
	}
	if len(p.Output) > 0 {
		text += fmt.Sprintf(" → %s", p.Answered.Text())
	}
	return text
}
