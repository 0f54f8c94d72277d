package viewer

import "strings"

// A View is what a page of another program needs to show a trace, as JSON: it puts HTML into its element <main> and calls
// show(data, await unpacked(data)), functions of [Script], with Data. [Style] has the styles of the figures.
type View struct {
	Answer  string   `json:"answer"`            // the output as running text
	Verdict string   `json:"verdict,omitempty"` // whether it is right, if the correct answer is known
	Exit    string   `json:"exit,omitempty"`    // [Trace].Exit
	HTML    string   `json:"html"`              // the figures without data; all texts are escaped
	Data    pageData `json:"data"`
}

// NewView returns the view of a trace.
func NewView(t *Trace) (View, error) {
	if err := t.Validate(); err != nil {
		return View{}, err
	}
	p := newPage(t)
	var html strings.Builder
	if err := pageTemplate.ExecuteTemplate(&html, "figures", p); err != nil {
		return View{}, err
	}
	texts := make([]string, len(p.Answered.Marks))
	for i, m := range p.Answered.Marks {
		texts[i] = m.Token
	}
	return View{strings.Join(texts, p.Answered.Separator), p.Verdict, t.Exit, html.String(), p.Data}, nil
}

// Style returns the style sheet of the page, light and dark.
func Style() string { return file("page.css") }

// Script returns the scripts of the page, which show nothing by themselves. Their names are for a function around them.
func Script() string {
	var b strings.Builder
	for _, name := range pageScripts {
		b.WriteString(file(name + ".js"))
	}
	return b.String()
}

// Tools returns the small functions of the page's scripts, for pages of other programs.
func Tools() string { return file("tools.js") }
