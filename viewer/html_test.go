package viewer

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"
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
		page := render(t, trace)
		for _, reference := range []string{"http", "//www", "@import", "url(", " src=", "<link", "fetch(", "XMLHttpRequest"} {
			if strings.Contains(page, reference) {
				t.Errorf("%s: the page contains %q", name, reference)
			}
		}
	}
}

// Tokens come from data; whatever they hold must arrive as text, in the markup and in the embedded JSON.
func TestHTMLEscapes(t *testing.T) {
	evil := []string{"<script>alert(1)</script>", `" onmouseover="x`, "</title><b>", "<!--", "{{.}}"}
	trace := sample("abcde", 2, 2)
	trace.Source, trace.Target, trace.Output = evil, evil, evil
	trace.Encoder.Tokens, trace.Decoder.Tokens = evil, evil
	trace.Task, trace.Model, trace.Experiment, trace.Version = evil[0], evil[1], evil[2], evil[0]
	page := render(t, trace)
	if n := strings.Count(page, "<script"); n != 4 { // three figures' data and the page's own
		t.Errorf("%d scripts, want 4", n)
	}
	for _, broken := range []string{"<script>alert", `" onmouseover`, "</title><b>", "<!--"} {
		if strings.Contains(scripts.ReplaceAllString(page, ""), broken) || strings.Contains(page, "<script>alert") {
			t.Errorf("%q arrived as markup", broken)
		}
	}
	for _, token := range evil {
		if !strings.Contains(shown(page), visible(token)) {
			t.Errorf("%q is not shown", visible(token))
		}
	}
}

func TestHTMLShowsEveryTokenAndNumber(t *testing.T) {
	for name, trace := range map[string]*Trace{"short": sample("314␣15", 4, 2), "long": mistaken(), "story": story(), "fixed": fixed()} {
		page := render(t, trace)
		text := shown(page)
		for _, s := range []*Stack{trace.Encoder, trace.Decoder} {
			if s == nil {
				continue
			}
			for i, token := range s.Tokens {
				if !strings.Contains(text, visible(token)) {
					t.Errorf("%s: token %q is not shown", name, token)
				}
				for step := range s.Weights {
					if u := s.Weights[step][i]; u > 0 {
						want := html.EscapeString(fmt.Sprintf("‘%s’ (position %d), step %d: u = %.4f", visible(token), i+1, step+1, u))
						if !strings.Contains(page, want) {
							t.Errorf("%s: %s is missing", name, want)
						}
					}
				}
			}
			if !strings.Contains(text, s.summary()) {
				t.Errorf("%s: %q is missing", name, s.summary())
			}
		}
		if v := trace.verdict(); !strings.Contains(text, v) {
			t.Errorf("%s: the verdict %q is missing", name, v)
		}
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

// One bar per position, as high as its ponder time: the longest possible fills the chart.
func TestHTMLBars(t *testing.T) {
	trace := sample("314", 4, 1)
	trace.Decoder = nil
	trace.Encoder.Updates = []float64{4, 1, 2}
	page := render(t, trace)
	var got []string
	for _, m := range regexp.MustCompile(`<span class="count">(\d+)</span><span class="bar" style="height:\s*(\d+)px">`).FindAllStringSubmatch(page, -1) {
		got = append(got, m[1]+":"+m[2])
	}
	if want := "4:120 1:30 2:60"; strings.Join(got, " ") != want {
		t.Errorf("bars %v, want %s", got, want)
	}
}

// What page.js draws is what the trace holds, to four decimals, and a decoder's keys are what it read.
func TestHTMLData(t *testing.T) {
	trace := sample("314159", 3, 2)
	page := render(t, trace)
	blocks := regexp.MustCompile(`(?s)<script type="application/json">(.*?)</script>`).FindAllStringSubmatch(page, -1)
	if len(blocks) != 3 {
		t.Fatalf("%d figures, want 3", len(blocks))
	}
	want := [][][][][]float64{trace.Encoder.Attention, trace.Decoder.Attention, trace.Decoder.CrossAttention}
	keys := []string{"3 1 4 1 5 9", "∅ 9 5 1 4 1", "3 1 4 1 5 9"}
	for n, block := range blocks {
		var figure struct {
			Causal        bool
			Queries, Keys []string
			Updates       []float64
			Weights       [][][][]float64
		}
		if err := json.Unmarshal([]byte(block[1]), &figure); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(figure.Weights); got != fmt.Sprint(want[n]) { // sample rounds to four decimals itself
			t.Errorf("figure %d: other numbers than the trace", n+1)
		}
		if got := strings.Join(figure.Keys, " "); got != keys[n] {
			t.Errorf("figure %d: keys %s, want %s", n+1, got, keys[n])
		}
		if figure.Causal != (n == 1) || len(figure.Updates) != 6 {
			t.Errorf("figure %d: causal %v, updates %v", n+1, figure.Causal, figure.Updates)
		}
	}
}

// A page of 200 tokens stays below a megabyte.
func TestHTMLOfLongInputIsSmall(t *testing.T) {
	if page := render(t, sample(strings.Repeat("31415", 40), 6, 4)); len(page) > 1e6 {
		t.Errorf("%d bytes", len(page))
	}
}

// A figure of many numbers holds them compressed: to four decimals, or to a shade where they are too many.
// Caught when planted: bytes in another order; a share where its square root belongs.
func TestHTMLPacksManyNumbers(t *testing.T) {
	for _, size := range []struct{ repeat, steps, heads int }{{12, 3, 2}, {40, 6, 2}} {
		trace := sample(strings.Repeat("31415", size.repeat), size.steps, size.heads)
		packed(t, trace, render(t, trace), []int{size.steps, size.heads, 5 * size.repeat, 5 * size.repeat})
	}
}

// packed compares what is packed in a page with its trace.
func packed(t *testing.T, trace *Trace, page string, shape []int) {
	t.Helper()
	want := [][][][][]float64{trace.Encoder.Attention, trace.Decoder.Attention, trace.Decoder.CrossAttention}
	for n, block := range regexp.MustCompile(`(?s)<script type="application/json">(.*?)</script>`).FindAllStringSubmatch(page, -1) {
		var figure struct {
			Packed []byte
			Shape  []int
			Levels float64
		}
		if err := json.Unmarshal([]byte(block[1]), &figure); err != nil {
			t.Fatal(err)
		}
		bytes, err := io.ReadAll(flate.NewReader(strings.NewReader(string(figure.Packed))))
		total := shape[0] * shape[1] * shape[2] * shape[3]
		if err != nil || len(bytes) < total || !slices.Equal(figure.Shape, shape) || figure.Levels > 0 && shape[2] < 200 {
			t.Fatalf("figure %d: %d bytes, %v, shape %v, %v levels", n+1, len(bytes), err, figure.Shape, figure.Levels)
		}
		at := 0
		for _, row := range slices.Concat(slices.Concat(want[n]...)...) {
			for _, v := range row {
				got, near := 0.0, 0.0
				if figure.Levels > 0 {
					got, near = float64(bytes[at])/figure.Levels, 0.5001/figure.Levels
					v = math.Sqrt(v)
				} else {
					got = float64(int(bytes[at])+256*int(bytes[total+at])) / 10_000
				}
				if math.Abs(got-v) > near {
					t.Fatalf("figure %d: number %d is %v, want %v", n+1, at, got, v)
				}
				at++
			}
		}
	}
}

func TestRounded(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "1", 0.5: "0.5", 0.123449: "0.1234", 0.00004: "0", -0.00001: "0", 0.9999999: "1"} {
		if got := string(appendRounded(nil, v)); got != want {
			t.Errorf("appendRounded(%g) = %s, want %s", v, got, want)
		}
	}
}

// Long inputs fold: the first bands stand open, the rest unfolds, and nothing is lost.
func TestLongInputsFold(t *testing.T) {
	f := newPonderFigure("encoder", "Encoder", sample(strings.Repeat("31415", 60), 3, 1).Encoder, false)
	if len(f.Open) != 4 || len(f.Folded) != 6 || f.FoldedName() != "Positions 129 to 300" {
		t.Fatalf("%d open, %d folded, %q", len(f.Open), len(f.Folded), f.FoldedName())
	}
	next := 1
	for _, b := range append(f.Open, f.Folded...) {
		for _, c := range b.Columns {
			if c.Position != next {
				t.Fatalf("position %d follows %d", c.Position, next-1)
			}
			next++
		}
	}
	if next != 301 {
		t.Errorf("%d positions, want 300", next-1)
	}
}
