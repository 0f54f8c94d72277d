package viewer

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// clip is the maximum number of characters of a side in the heading. The list below the heading shows all.
const clip = 60

// page is the data of page.html.
type page struct {
	CSS template.CSS
	JS  template.JS
	*Trace
	Asked, Answered, Expected quote
	Verdict                   string
	Ponder                    []ponderFigure
	Attention                 []attentionFigure
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
		characters += len(q.Separator) + utf8.RuneCountInString(m.Token)
		if characters > clip && i > 0 {
			return quote{q.Marks[:i], q.Separator}
		}
	}
	return q
}

// Cut returns the number of tokens that Head leaves out.
func (q quote) Cut() int { return len(q.Marks) - len(q.Head().Marks) }

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
	return text
}

// attentionFigure is one attention matrix per step and head. page.js reads its JSON.
type attentionFigure struct {
	ID      string    `json:"-"`
	Title   string    `json:"-"`
	Causal  bool      `json:"causal"` // queries do not attend to later keys
	Decoder bool      `json:"-"`
	Cross   bool      `json:"-"`
	Queries []string  `json:"queries"`
	Keys    []string  `json:"keys"`
	Updates []float64 `json:"updates"` // per query; its rows are dimmed after that many steps
	Weights matrices  `json:"weights,omitempty"`
	Packed  []byte    `json:"packed,omitempty"` // compressed Weights, if they are large
	Shape   []int     `json:"shape,omitempty"`  // of the compressed weights: steps, heads, queries, keys
	Levels  int       `json:"levels,omitempty"` // number of shades of the compressed weights; 0: in units of 1/10,000
}

// WriteHTML writes t as one self-contained page that needs no network and no other file. Attention is rounded to four decimals or,
// for long inputs, to the shades that are drawn. WriteJSON writes the exact numbers.
func WriteHTML(w io.Writer, t *Trace) error {
	if err := t.Validate(); err != nil {
		return err
	}
	p := page{
		CSS: template.CSS(pageCSS), JS: template.JS(pageJS), Trace: t,
		Asked: quoted(t.Source), Expected: quoted(t.Reference), Verdict: t.verdict(),
		Answered: quote{t.marks(), separator(t.Output)},
	}
	if e := t.Encoder; e != nil {
		p.Ponder = append(p.Ponder, newPonderFigure("encoder", "Encoder", e, false))
		p.addAttention(attentionFigure{
			ID: "encoder-attention", Title: "Where the encoder looked", Weights: e.Attention,
			Queries: visibleAll(e.Tokens), Keys: visibleAll(e.Tokens), Updates: e.Updates,
		})
	}
	if d := t.Decoder; d != nil {
		p.Ponder = append(p.Ponder, newPonderFigure("decoder", "Decoder", d, true))
		written := visibleAll(d.Tokens)
		p.addAttention(attentionFigure{
			ID: "decoder-attention", Title: "Where the decoder looked in its own text", Weights: d.Attention,
			Queries: written, Keys: shifted(written), Updates: d.Updates, Causal: true, Decoder: true,
		})
		if t.Encoder != nil {
			p.addAttention(attentionFigure{
				ID: "cross-attention", Title: "Where the decoder looked in the input", Weights: d.CrossAttention,
				Queries: written, Keys: visibleAll(t.Encoder.Tokens), Updates: d.Updates, Decoder: true, Cross: true,
			})
		}
	}
	return pageTemplate.Execute(w, p)
}

func (p *page) addAttention(f attentionFigure) {
	if len(f.Weights) == 0 {
		return
	}
	f.Shape = []int{len(f.Weights), len(f.Weights[0]), len(f.Queries), len(f.Keys)}
	if f.Shape[0]*f.Shape[1]*f.Shape[2]*f.Shape[3] > maxPlain {
		f.pack()
	} else {
		f.Shape = nil
	}
	p.Attention = append(p.Attention, f)
}

// maxPlain is the maximum number of values of a figure that are written as text.
const maxPlain = 20_000

// maxPacked is the maximum size of a figure's compressed values in bytes, so that a page of 200 tokens is smaller than a megabyte.
const maxPacked = 190_000

// pack compresses the weights; page.js decompresses them. They are stored in units of 1/10,000, first all low bytes and then all high
// bytes. If the result is too large, they are stored as shades, with the largest number of shades that fits.
func (f *attentionFigure) pack() {
	flat := f.Weights.flat()
	low, high := make([]byte, len(flat)), make([]byte, len(flat))
	for i, v := range flat {
		parts := uint16(math.Round(10_000 * v))
		low[i], high[i] = byte(parts), byte(parts>>8)
	}
	f.Packed, f.Weights = deflate(slices.Concat(low, high)), nil
	for _, levels := range []int{100, 30, 10} {
		if len(f.Packed) <= maxPacked {
			return
		}
		for i, v := range flat {
			low[i] = byte(math.Round(float64(levels) * math.Sqrt(v)))
		}
		f.Packed, f.Levels = deflate(low), levels
	}
}

// flat returns all values, clamped to [0, 1].
func (m matrices) flat() (list []float64) {
	for _, step := range m {
		for _, head := range step {
			for _, row := range head {
				for _, v := range row {
					list = append(list, min(1, max(0, v)))
				}
			}
		}
	}
	return list
}

func deflate(data []byte) []byte {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.DefaultCompression) // the level is valid
	_, _ = w.Write(data)                                       // writes to a buffer do not fail
	_ = w.Close()
	return packed.Bytes()
}

func quoted(tokens []string) quote {
	marks := make([]mark, len(tokens))
	for i, s := range tokens {
		marks[i].Token = visible(s)
	}
	return quote{marks, separator(tokens)}
}

// shifted returns the tokens that a decoder reads when it writes the given tokens: the previous token, ∅ at the first position.
func shifted(tokens []string) []string {
	return append([]string{"∅"}, tokens[:len(tokens)-1]...)
}

// matrices is attention in the page: [T][K][queries][keys], rounded to four decimals.
type matrices [][][][]float64

// MarshalJSON writes the shortest decimals, because a page of long inputs holds millions of numbers.
func (m matrices) MarshalJSON() ([]byte, error) {
	return appendList(nil, m, func(b []byte, step [][][]float64) []byte {
		return appendList(b, step, func(b []byte, head [][]float64) []byte {
			return appendList(b, head, func(b []byte, row []float64) []byte {
				return appendList(b, row, appendRounded)
			})
		})
	}), nil
}

func appendList[E any](b []byte, list []E, one func([]byte, E) []byte) []byte {
	b = append(b, '[')
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, e)
	}
	return append(b, ']')
}

func appendRounded(b []byte, v float64) []byte {
	start := len(b)
	b = strconv.AppendFloat(b, v, 'f', 4, 64)
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	if b[len(b)-1] == '.' {
		b = b[:len(b)-1]
	}
	if string(b[start:]) == "-0" {
		b = append(b[:start], '0')
	}
	return b
}
