package universal_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/gradcheck"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// separator stands between context and question.
const separator = 2

// Contexts with words that stand there twice and three times, of different lengths, an example whose question has a word that its
// context has not, and a row of nothing.
var questions = [][]int32{{3, 6, 3, 5, 3, separator, 4, 1}, {4, 4, separator, 5}, {6, separator, 3, 3, 1}, {}}

func pointer() universal.Pointer {
	c := small()
	c.TargetVocabulary, c.Halting = c.SourceVocabulary, halting.Frozen{ACT: halting.ACT{MaxSteps: 4, Epsilon: 0.05}}
	return universal.Pointer{Config: c, Separator: separator}
}

// pointed runs a pointer and gives its logits [B, V] and its states [B, M, D], and a way to the parameters.
func pointed(t *testing.T, m universal.Pointer, source [][]int32) (logits, states []float64, store *model.Store) {
	t.Helper()
	store = model.NewStore()
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source *Node) []*Node {
		result := m.Forward(scope, universal.Inputs{Source: source}, universal.Options{})
		return []*Node{result.Logits, result.Encoder.State}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	if _, err := exec.Call(source); err != nil {
		t.Fatal(err)
	}
	scramble(t, store)
	out, err := exec.Call(source)
	if err != nil {
		t.Fatal(err)
	}
	return flat(out[0]), flat(out[1]), store
}

// The probability of a word is the sum of the shares of its places in the context, by plain loops over the states; of a word that is
// not there, or stands in the question only, next to nothing. Padding and an empty row change nothing.
// Caught when planted: the last share of a word in place of their sum, shares of the question, the query of the first position, no
// division by the root.
func TestPointerSum(t *testing.T) {
	for _, evidence := range []bool{false, true} {
		m := pointer()
		m.Evidence = evidence
		testPointerSum(t, m)
	}
}

func testPointerSum(t *testing.T, m universal.Pointer) {
	const length = 9
	logits, states, store := pointed(t, m, rectangle(questions, length))
	var w []float64
	for v := range store.IterVariables() {
		if strings.HasSuffix(universal.Name(v.Path()), "pointer.weight") {
			w = flat(v.MustValue())
		}
	}
	d, vocabulary := m.Width, m.SourceVocabulary
	for b, source := range questions[:3] {
		state := func(i int) []float64 { return states[(b*length+i)*d : (b*length+i+1)*d] }
		query := make([]float64, d)
		for i := range d {
			for j := range d {
				query[j] += state(len(source) - 1)[i] * w[i*d+j]
			}
		}
		p, sum := make([]float64, vocabulary), 0.0
		for i, token := range source {
			if token == separator {
				break
			}
			score := 0.0
			for j := range d {
				score += state(i)[j] * query[j]
			}
			share := math.Exp(score / math.Sqrt(float64(d)))
			p[token], sum = p[token]+share, sum+share
		}
		for token := range p {
			got := math.Exp(logits[b*vocabulary+token])
			if math.Abs(got-p[token]/sum) > 1e-9 {
				t.Errorf("example %d: word %d has %v, the sum of its places is %v", b, token, got, p[token]/sum)
			}
		}
	}
	for b := range questions[:3] {
		alone, _, _ := pointed(t, m, questions[b:b+1])
		if far := distance(alone, logits[b*vocabulary:(b+1)*vocabulary]); far > 1e-9 {
			t.Errorf("example %d alone differs by %v", b, far)
		}
	}
}

// Central differences agree, with rows of nothing in the batch, and evidence.
// Caught when planted: shares that carry no gradient.
func TestPointerGradient(t *testing.T) {
	m := pointer()
	m.Evidence = true
	source, target := rectangle(questions, 9), [][]int32{{3}, {4}, {6}, {0}}
	_, _, store := pointed(t, m, source)
	loss := func(scope *model.Scope, nodes []*Node) *Node {
		result := m.Forward(scope, universal.Inputs{Source: nodes[0]}, universal.Options{})
		value, _ := objective.Objective{}.Of(result, nodes[1], Const(nodes[1].Graph(), 0.3))
		return value
	}
	for path, largest := range gradcheck.Check(t, enginetest.Backend(t), store, loss, []any{source, target}, gradientTolerance) {
		if largest < 1e-6 {
			t.Errorf("the largest gradient of %s is %v: nothing was compared", universal.Name(path), largest)
		}
	}
}

// Every row of the table of evidence that the questions have use of changes the answers, and no other does.
// Caught when planted: marks that are not added, counts that begin at one.
func TestEvidenceIsRead(t *testing.T) {
	m := pointer()
	m.Evidence = true
	store := model.NewStore()
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source *Node) *Node {
		return m.Forward(scope, universal.Inputs{Source: source}, universal.Options{}).Logits
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	call := func() []float64 {
		out, err := exec.Call([][]int32{{3, 6, 3, 5, 4, separator, 4, 1}, {3, 6, 3, 3, separator, 3, 5, 0}})
		if err != nil {
			t.Fatal(err)
		}
		return flat(out[0])
	}
	call()
	scramble(t, store)
	before := call()
	var table *model.Variable
	for v := range store.IterVariables() {
		if strings.HasSuffix(universal.Name(v.Path()), "embedding.evidence") {
			table = v
		}
	}
	kept := flat(table.MustValue())
	rows := len(kept) / m.Width
	for row := range rows {
		values := make([][]float64, rows)
		for i := range values {
			values[i] = slices.Clone(kept[i*m.Width : (i+1)*m.Width])
		}
		for j := range values[row] {
			values[row][j] += float64(1 + j%3)
		}
		if err := table.SetValue(tensors.FromValue(values)); err != nil {
			t.Fatal(err)
		}
		used := map[int]bool{0: true, 1: true, 2: true, 3: true, 8: true, 9: true}[row]
		if far := distance(call(), before); (far > 1e-6) != used {
			t.Errorf("row %d changes answers by %v", row, far)
		}
	}
}

// A pointer is refused where the answers are no words of the source.
func TestPointerValidate(t *testing.T) {
	for want, change := range map[string]func(*universal.Pointer){
		"answers with words of its source": func(m *universal.Pointer) { m.TargetVocabulary = 5 },
		"a context and a question":         func(m *universal.Pointer) { m.Separator = 0 },
		"one token a position":             func(m *universal.Pointer) { m.TokensPerPosition = 2 },
		"tied_readout":                     func(m *universal.Pointer) { m.TiedReadout = true },
		"width is 0":                       func(m *universal.Pointer) { m.Width = 0 },
	} {
		m := pointer()
		change(&m)
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := pointer().Validate(); err != nil {
		t.Error(err)
	}
}
