package viewer

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

// looking is a trace of two facts and a question that looks at the second, with two heads and two steps.
func looking() *Trace {
	row := func(a, b, c float64) [][]float64 { return [][]float64{{1, 0, 0}, {0, 1, 0}, {a, b, c}} }
	return &Trace{
		Encoder: &Stack{
			Tokens: []string{"mary <left> .", "john & fred .", "where ?"}, Updates: []float64{1, 2, 2},
			Attention: [][][][]float64{{row(0.5, 0.25, 0.25), row(0.1, 0.6, 0.3)}, {row(0.125, 0.875, 0), row(0, 1, 0)}},
		},
	}
}

// Every weight of the question is a bar, in its place; labels are escaped; a key says what is drawn and how strong; the text is well-formed.
// Caught when planted: the attention of the first position, heads and steps exchanged.
func TestAttentionSVG(t *testing.T) {
	var b strings.Builder
	if err := WriteAttentionSVG(&b, looking()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"mary &lt;left&gt; .", "john &amp; fred .",
		"step 1, head 1: 0.500 to mary", "step 1, head 2: 0.600 to john", "step 2, head 1: 0.875 to john", "step 2, head 2: 0.000 to where ?", `fill-opacity="0.875"`,
		">attention of “where ?”, heads 1 to 2<", ">head<", ">weight<", ">0.25<"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if n := strings.Count(b.String(), "<title>"); n != 2*2*3+4 {
		t.Errorf("%d bars, want 12 and 4 in the key", n)
	}
	wellFormed(t, b.String())
}

func TestPonderSVG(t *testing.T) {
	var b strings.Builder
	if err := WritePonderSVG(&b, looking()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`width="120" height="15"`, `width="240" height="15"`, "mary &lt;left&gt; .: 1 step<"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
	wellFormed(t, b.String())
}

func TestSVGRefuses(t *testing.T) {
	for _, bad := range []*Trace{{}, {Encoder: &Stack{Tokens: []string{"a"}, Updates: []float64{1}}}} {
		if err := WriteAttentionSVG(io.Discard, bad); err == nil {
			t.Errorf("%+v is drawn", bad)
		}
	}
	if err := WritePonderSVG(io.Discard, &Trace{Decoder: &Stack{Tokens: []string{"a"}, Updates: []float64{1}}}); err == nil {
		t.Error("the ponder times of no encoder are drawn")
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
