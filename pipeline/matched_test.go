package pipeline

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/safetensors"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/task/labels"
)

func vocabulary(t *testing.T, tokens string, options ...vocab.Option) *vocab.Vocabulary {
	t.Helper()
	v, err := vocab.New(strings.Fields(tokens), options...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Tokens are matched by their text: padding and End with themselves, <unknown> with <unknown>, which alone is nothing in common.
func TestMatchTokens(t *testing.T) {
	unknown := vocab.WithUnknown()
	for _, c := range []struct {
		from, to  *vocab.Vocabulary
		old       []int
		new, gone string
		found     int
		fails     string
	}{
		{vocabulary(t, "a b c"), vocabulary(t, "c d a"), []int{0, 1, 4, -1, 2}, "d", "b", 2, ""},
		{vocabulary(t, "x a y"), vocabulary(t, "a"), []int{0, 1, 3}, "", "x y", 1, ""},
		{vocabulary(t, "a"), vocabulary(t, "x a y"), []int{0, 1, -1, 2, -1}, "x y", "", 1, ""},
		{vocabulary(t, "a b", unknown), vocabulary(t, "b", unknown), []int{0, 1, 3, 4}, "", "a", 1, ""},
		{vocabulary(t, "a b"), vocabulary(t, "b", unknown), []int{0, 1, 3, -1}, "<unknown>", "a", 1, ""},
		{vocabulary(t, "a b", unknown), vocabulary(t, "b"), []int{0, 1, 3}, "", "a <unknown>", 1, ""},
		{vocabulary(t, "a b", unknown), vocabulary(t, "c", unknown), []int{0, 1, -1, 4}, "c", "a b", 0, `none of its target tokens ("a", "b") is one of the new run's ("c"): choose a run on the same tokens`},
		{nil, nil, nil, "", "", 0, ""},
	} {
		m := matchTokens("target", c.from, c.to)
		if nothing := m.nothing(task.Vocabularies{}, task.Vocabularies{}); c.fails != "" {
			refused(t, c, nothing, c.fails)
		}
		if m.found != c.found || m.side != "target" || strings.Join(m.new, " ") != c.new || strings.Join(m.gone, " ") != c.gone || !slices.Equal(m.old, c.old) {
			t.Errorf("%+v: matched %+v", c, m)
		}
	}
}

// A message names ten tokens and counts the others.
func TestQuotedTokens(t *testing.T) {
	letters := strings.Split("abcdefghijklm", "")
	const ten = `"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"`
	for n, want := range map[int]string{0: "", 1: `"a"`, 9: ten[:len(ten)-5], 10: ten, 11: ten + ", and 1 more", 13: ten + ", and 3 more"} {
		if got := quoted(task.Vocabularies{}, letters[:n]); got != want {
			t.Errorf("%d tokens: %s, want %s", n, got, want)
		}
	}
	for _, c := range []struct {
		m    tokenMap
		want string
	}{
		{tokenMap{side: "source", old: make([]int, 5)}, "[]"},
		{tokenMap{side: "source", old: make([]int, 5), new: letters[:1]}, `["1 of 5 source tokens are new and begin with random weights: \"a\""]`},
		{tokenMap{side: "target", old: make([]int, 5), gone: letters[1:3]}, `["2 target tokens of that run do not occur here: \"b\", \"c\""]`},
	} {
		if got := fmt.Sprintf("%q", c.m.notes(task.Vocabularies{}, task.Vocabularies{})); got != c.want {
			t.Errorf("%+v: %s, want %s", c.m, got, c.want)
		}
	}
}

// tensorOf has the numbers row by row; of F64 if wide.
func tensorOf(name string, rows, columns int, wide bool, numbers ...float64) safetensors.Tensor {
	t := safetensors.Tensor{Name: name, DType: "F32", Shape: []int{rows, columns}}
	if wide {
		t.DType = "F64"
	}
	for _, n := range numbers {
		if wide {
			t.Data = binary.LittleEndian.AppendUint64(t.Data, math.Float64bits(n))
		} else {
			t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(float32(n)))
		}
	}
	return t
}

// Rows and columns of tokens move to their new ids; those of new tokens are the initial ones. A tensor of another model stays as it is.
func TestMoveTokens(t *testing.T) {
	m := tokenMap{old: []int{0, 2, -1, 1}}
	for _, wide := range []bool{false, true} {
		rows, err := m.move(tensorOf("p", 3, 2, wide, 1, 2, 3, 4, 5, 6), tensorOf("i", 4, 2, wide, -1, -2, -3, -4, -5, -6, -7, -8), 0)
		if want := tensorOf("p", 4, 2, wide, 1, 2, 5, 6, -5, -6, 3, 4); err != nil || fmt.Sprint(rows) != fmt.Sprint(want) {
			t.Errorf("rows: %v, want %v, %v", rows, want, err)
		}
		columns, err := m.move(tensorOf("p", 2, 3, wide, 1, 2, 3, 4, 5, 6), tensorOf("i", 2, 4, wide, -1, -2, -3, -4, -5, -6, -7, -8), 1)
		if want := tensorOf("p", 2, 4, wide, 1, 3, -3, 2, 4, 6, -7, 5); err != nil || fmt.Sprint(columns) != fmt.Sprint(want) {
			t.Errorf("columns: %v, want %v, %v", columns, want, err)
		}
	}
	p, initial := tensorOf("p", 3, 2, false, 1, 2, 3, 4, 5, 6), tensorOf("i", 4, 2, false, 1, 2, 3, 4, 5, 6, 7, 8)
	flat := safetensors.Tensor{Name: "p", DType: "F32", Shape: []int{6}, Data: p.Data}
	for name, c := range map[string]struct {
		p, initial safetensors.Tensor
	}{
		"vector": {flat, initial}, "initial vector": {p, flat}, "none": {p, safetensors.Tensor{}}, "another width": {p, tensorOf("i", 4, 1, false, 1, 2, 3, 4)},
		"other tokens": {p, tensorOf("i", 3, 2, false, 6, 5, 4, 3, 2, 1)}, "another type": {p, tensorOf("i", 4, 2, true, 1, 2, 3, 4, 5, 6, 7, 8)},
	} {
		if got, err := m.move(c.p, c.initial, 0); err != nil || fmt.Sprint(got) != fmt.Sprint(c.p) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	_, err := tokenMap{old: []int{0, 3, 1, 2}}.move(p, initial, 0)
	refused(t, "a table of fewer tokens", err, "parameter p has 3 tokens, and no token 3")
}

// A model of tables of its own for source and target gets both, and the readout of the target; notes name both sides, or a shared one once.
func TestTranslatedTables(t *testing.T) {
	m, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	from := task.Vocabularies{Source: vocabulary(t, "a b"), Target: vocabulary(t, "x y z")}
	to := task.Vocabularies{Source: vocabulary(t, "b c a"), Target: vocabulary(t, "z w")}
	initial, err := initialValues(m.backend, m.Run, to)
	if err != nil {
		t.Fatal(err)
	}
	width := m.Run.Model.Value.Channels()
	numbered := func(name string, tokens, axis int) safetensors.Tensor { // the number at a token and a place of its row is 100 times the token + place
		rows, columns := tokens, width
		if axis == 1 {
			rows, columns = width, tokens
		}
		var list []float64
		for i := range rows * columns {
			token, place := i/columns, i%columns
			if axis == 1 {
				token, place = place, token
			}
			list = append(list, float64(100*token+place))
		}
		return tensorOf(name, rows, columns, false, list...)
	}
	tables := []safetensors.Tensor{numbered("embedding.source", 4, 0), numbered("embedding.target", 5, 0), numbered("readout.weight", 5, 1), {Name: "other", DType: "F32", Data: []byte{1, 2, 3, 4}}}
	moved, notes, err := translated(m.backend, m.Run, from, to, tables)
	if err != nil || len(moved) != 4 || fmt.Sprint(moved[3]) != fmt.Sprint(tables[3]) {
		t.Fatalf("%d tensors, %v", len(moved), err)
	}
	for i, old := range [][]int{{0, 1, 3, -1, 2}, {0, 1, 4, -1}, {0, 1, 4, -1}} {
		of, axis, start := moved[i], i/2, initial[moved[i].Name]
		if of.Name != tables[i].Name || of.Shape[axis] != len(old) || of.Shape[1-axis] != width {
			t.Fatalf("%s has the shape %v", of.Name, of.Shape)
		}
		for token, was := range old {
			for place := range width {
				at := 4 * (token*width + place)
				if axis == 1 {
					at = 4 * (place*len(old) + token)
				}
				got, want := of.Data[at:at+4], binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(100*was+place)))
				if was < 0 {
					want = start.Data[at : at+4]
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s: token %d at %d is %v, want %v", of.Name, token, place, got, want)
				}
			}
		}
	}
	if got, want := fmt.Sprintf("%q", notes), `["1 of 5 source tokens are new and begin with random weights: \"c\"" "1 of 4 target tokens are new and begin with random weights: \"w\"" "2 target tokens of that run do not occur here: \"x\", \"y\""]`; got != want {
		t.Errorf("notes %s, want %s", got, want)
	}
	both := func(v *vocab.Vocabulary) task.Vocabularies { return task.Vocabularies{Source: v, Target: v} }
	half := task.Vocabularies{Source: vocabulary(t, "b"), Target: vocabulary(t, "a b")}
	for _, c := range []struct {
		from, to task.Vocabularies
		notes    int
	}{{both(vocabulary(t, "a b")), both(vocabulary(t, "b c")), 2}, {both(vocabulary(t, "a b")), half, 1}, {half, both(vocabulary(t, "a b")), 1}} {
		if _, notes, err := translated(m.backend, m.Run, c.from, c.to, nil); err != nil || len(notes) != c.notes {
			t.Errorf("%q, %v, want %d notes", notes, err, c.notes)
		}
	}
	classes := m.Run
	classes.Task.Value = labels.Labels{}
	if _, notes, err := translated(m.backend, classes, from, task.Vocabularies{Source: from.Source, Target: vocabulary(t, "p q")}, nil); err != nil || len(notes) != 2 {
		t.Errorf("other classes of the same texts: %q, %v", notes, err)
	}
	for i := range 3 {
		short := slices.Clone(tables)
		short[i] = numbered(short[i].Name, 3, i/2)
		_, _, err := translated(m.backend, m.Run, from, to, short)
		refused(t, short[i].Name, err, "parameter "+short[i].Name+" has 3 tokens")
	}
	language, strange := to, task.Vocabularies{Source: vocabulary(t, "k"), Target: to.Target}
	language.Source = nil
	for want, v := range map[string]task.Vocabularies{"are of different kinds: choose another run": language, "none of its source tokens": strange, "none of its target tokens": {Source: to.Source, Target: strange.Source}} {
		_, _, err := translated(m.backend, m.Run, from, v, tables)
		refused(t, v, err, want)
	}
}

// Subwords are shown as the text that they add, and bytes of a part of a character as numbers: é is C3 A9 in UTF-8, € is E2 82 AC. Padding
// and End, which have no text, are named.
func TestTokensOfSubwords(t *testing.T) {
	p, err := subword.Choice{TokenizerSize: 259}.Pieces(slices.Values([]string{"ab ab ab"}))
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Vocabularies: task.Vocabularies{Subwords: p}}
	for text, want := range map[string]string{"b é": `["b" " " "\\xc3" "\\xa9"]`, "€a": `["\\xe2" "\\x82" "\\xac" "a"]`} {
		ids, err := p.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%q", m.tokens(p.Vocabulary(), ids)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := fmt.Sprintf("%q", m.tokens(p.Vocabulary(), []vocab.ID{vocab.Padding, vocab.End})); got != `["<pad>" "<end>"]` {
		t.Errorf("padding and End are %s", got)
	}
	if got := quoted(m.Vocabularies, []string{"Ġ", "a", "Ã", "none"}); got != `" ", "a", "Ã", "none"` {
		t.Errorf("a message names %s", got)
	}
	m.Vocabularies.Subwords = nil
	if got := fmt.Sprintf("%q", m.tokens(vocabulary(t, "a b"), []vocab.ID{3, 1, 2})); got != `["b" "<end>" "a"]` {
		t.Errorf("tokens %s", got)
	}
	for n, want := range map[int]string{0: "[]", 1: "[3]", 2: "[3]"} {
		if got := fmt.Sprint(answered([]vocab.ID{3, vocab.End}[:n])); got != want {
			t.Errorf("%d tokens: answered %s, want %s", n, got, want)
		}
	}
}
