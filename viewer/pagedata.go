package viewer

import (
	"math"
	"slices"
)

// pageData is what the scripts of the page read. Texts are as shown; positions, steps and heads count from 0.
type pageData struct {
	Stacks    []pageStack     `json:"stacks"`
	Views     []pageView      `json:"views"`
	Readouts  []pageReadout   `json:"readouts,omitempty"`  // per position of the last stack, or a single one
	Expected  []string        `json:"expected,omitempty"`  // per position of the decoder, if the correct answer is known
	Attention []packedWeights `json:"attention,omitempty"` // per view that has attention
}

// pageStack is a stack as the page shows it.
type pageStack struct {
	stack      *Stack
	ID         string      `json:"id"`
	Name       string      `json:"name"`
	Tokens     []string    `json:"tokens"`
	Rows       bool        `json:"rows"`             // positions are rows, because their texts are long
	Pieces     bool        `json:"pieces,omitempty"` // tokens are pieces of words
	Given      int         `json:"given,omitempty"`  // number of positions of a prompt
	Steps      int         `json:"steps"`
	Limit      int         `json:"limit,omitempty"` // of steps, if positions halt
	Updates    []float64   `json:"updates"`
	Remainders []float64   `json:"remainders,omitempty"`
	Weights    [][]float64 `json:"weights,omitempty"`
	Changes    [][]float64 `json:"changes,omitempty"`
}

// pageView is something to look at: the steps of a stack and, if Attention is not negative, what its positions attend to.
type pageView struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Stack     int      `json:"stack"`
	KeyStack  int      `json:"keyStack"`
	Causal    bool     `json:"causal"` // queries do not attend to later keys
	Cross     bool     `json:"cross"`
	Keys      []string `json:"keys,omitempty"` // texts of the keys, if they are not the tokens of the key stack
	Attention int      `json:"attention"`
}

type pageReadout struct {
	Steps   [][]pageCandidate `json:"steps"`
	Written []float64         `json:"written,omitempty"`
	Answer  string            `json:"answer"`
	First   int               `json:"first"`
	Settled int               `json:"settled"`
	Flips   []int             `json:"flips"`
}

type pageCandidate struct {
	Token       string  `json:"token"`
	Probability float64 `json:"p"`
}

func newPageData(t *Trace) (d pageData) {
	if e := t.Encoder; e != nil {
		d.Stacks = append(d.Stacks, newPageStack("encoder", "Encoder", e))
		d.addView(pageView{ID: "encoder", Name: "Encoder", Title: "Where the encoder looked"}, e.Attention)
	}
	if s := t.Decoder; s != nil {
		own, crosses := len(d.Stacks), len(s.CrossAttention) > 0
		d.Stacks = append(d.Stacks, newPageStack("decoder", "Decoder", s))
		if t.Encoder == nil {
			d.Stacks[own].Name = "Model"
			d.Stacks[own].Given = min(len(t.Source), len(s.Tokens))
		}
		written := d.Stacks[own].Tokens
		if len(s.Attention) > 0 || !crosses {
			d.addView(pageView{
				ID: "decoder", Name: "Decoder, own text", Title: "Where the decoder looked in its own text",
				Stack: own, KeyStack: own, Causal: true, Keys: shifted(written),
			}, s.Attention)
		}
		if crosses {
			d.addView(pageView{ID: "cross", Name: "Decoder, input", Title: "Where the decoder looked in the input", Stack: own, Cross: true}, s.CrossAttention)
		}
		d.Expected = expected(t, len(s.Tokens))
	}
	for _, r := range t.Readouts {
		d.Readouts = append(d.Readouts, newPageReadout(r))
	}
	return d
}

func (d *pageData) addView(v pageView, attention [][][][]float64) {
	v.Attention = -1
	if len(attention) > 0 {
		v.Attention = len(d.Attention)
		d.Attention = append(d.Attention, packAttention(attention))
	}
	d.Views = append(d.Views, v)
}

func newPageStack(id, name string, s *Stack) pageStack {
	tokens := labels(s.Tokens)
	return pageStack{
		stack: s, ID: id, Name: name, Tokens: tokens, Rows: slices.ContainsFunc(s.Tokens, isPhrase), Pieces: arePieces(s.Tokens), Steps: s.steps(), Limit: s.Limit,
		Updates: rounded(s.Updates), Remainders: rounded(s.Remainders), Weights: roundedRows(s.Weights), Changes: roundedRows(s.Changes),
	}
}

// expected returns the text of the correct token at each position of the decoder, "" where nothing is expected; nil if it is not known.
func expected(t *Trace, positions int) []string {
	if len(t.Reference) == 0 {
		return nil
	}
	out := make([]string, positions)
	copy(out, labels(slices.Concat(t.Reference, []string{end})))
	return out
}

func newPageReadout(r Readout) pageReadout {
	p := pageReadout{Written: rounded(r.Written), Answer: label(r.Answer), First: r.First, Settled: r.Settled, Flips: append([]int{}, r.Flips...)}
	for _, top := range r.Steps {
		list := make([]pageCandidate, len(top))
		for i, c := range top {
			list[i] = pageCandidate{label(c.Token), round4(c.Probability)}
		}
		p.Steps = append(p.Steps, list)
	}
	return p
}

// shifted returns the tokens that a decoder reads when it writes the given tokens: the previous token, ∅ at the first position.
func shifted(tokens []string) []string {
	return append([]string{"∅"}, tokens[:len(tokens)-1]...)
}

func rounded(list []float64) []float64 {
	out := slices.Clone(list)
	for i, v := range out {
		out[i] = round4(v)
	}
	return out
}

func roundedRows(rows [][]float64) (out [][]float64) {
	for _, row := range rows {
		out = append(out, rounded(row))
	}
	return out
}

// round4 rounds to four decimals, which JSON then writes.
func round4(v float64) float64 { return math.Round(v*1e4) / 1e4 }
