package pipeline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/internal/vocab"
	"universal-transformer/pipeline"
	"universal-transformer/task"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// The readers in docs compute what the program computes, from an export alone: random configurations that together have every variant of
// every part, with random weights and rows of several lengths, agree to 1e-5 of the largest logit. Caught when planted: coordinates counted
// from 0; blocks of both_ends in another order; the final norm left out, or that of another layer; a remainder at the limit with listing;
// the state of a halted position changed; scale_steps left out; even windows centred the other way; separators forgotten; the target's
// segment from 1; the projection of a tied readout left out; kappa for alpha; masks of positions forgotten; a mean over padding.
func TestReadersInNumPy(t *testing.T) {
	python := pythonWith(t, "numpy")
	dir := t.TempDir()
	var cases []portableCase
	for i := range stepCases + otherCases {
		cases = append(cases, newPortableCase(t, filepath.Join(dir, fmt.Sprint(i)), i))
	}
	checkCoverage(t, cases)
	logits, furthest := readInNumPy(t, python, cases), 0.0
	for i, c := range cases {
		if len(logits[i]) != len(c.logits) {
			t.Errorf("%d, %s: %d logits, want %d", i, c.describe(), len(logits[i]), len(c.logits))
			continue
		}
		worst, largest := 0.0, 0.0
		for k, want := range c.logits {
			if c.real[k] {
				worst, largest = max(worst, math.Abs(logits[i][k]-want)), max(largest, math.Abs(want))
			}
		}
		if !(worst <= 1e-5*largest) || largest < 0.1 {
			t.Errorf("%d, %s: off by %.3g, the largest logit is %.3g", i, c.describe(), worst, largest)
		}
		furthest = max(furthest, worst/largest)
	}
	t.Logf("%d configurations, off by at most %.2g of the largest logit", len(cases), furthest)
}

// Numbers of random configurations: of models with the recurrent step, every kind with five halting policies, and of others, every kind twice.
const (
	stepCases  = 5 * 7
	otherCases = 2 * 6
)

// A portableCase is an exported run with random weights, ids, and the logits of the program.
type portableCase struct {
	run            experiment.Run
	export         string
	source, target [][]int32
	logits         []float64
	real           []bool // whether the logit belongs to a position that is no padding
	depths         map[float64]bool
}

func (c portableCase) describe() string {
	encoded, _ := json.Marshal(c.run.Model)
	return string(encoded)
}

// newPortableCase draws a configuration, makes a run of random weights in dir, and exports it.
func newPortableCase(t *testing.T, dir string, i int) portableCase {
	t.Helper()
	rng := rand.New(rand.NewPCG(49, uint64(i)))
	run, v := drawRun(t, rng, i)
	c := portableCase{run: run, depths: map[float64]bool{}}
	store := model.NewStore()
	c.draw(rng, v)
	c.compute(t, store, v, rng)
	parameters, err := training.Exported(store)
	if err != nil {
		t.Fatal(err)
	}
	if err := pipeline.WriteWeights(dir, enginetest.Backend(t), run, v, parameters, 1); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatalf("%s: %v", c.describe(), err)
	}
	defer m.Close()
	if info, err := pipeline.ReadInfo(dir); err != nil || info.Status != pipeline.WeightsOnly || m.Step != 1 {
		t.Errorf("%s: the weights are those of step %d: %+v, %v", c.describe(), m.Step, info, err)
	}
	if c.export, err = m.Export(); err != nil {
		t.Fatal(err)
	}
	return c
}

// compute sets random weights and computes the logits.
func (c *portableCase) compute(t *testing.T, store *model.Store, v task.Vocabularies, rng *rand.Rand) {
	t.Helper()
	m := c.run.Model.Value.Build(v, 1)
	computation, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source, target *graph.Node) []*graph.Node {
		result := m.Forward(scope, universal.Inputs{Source: source, Target: target}, universal.Options{})
		out := []*graph.Node{result.Logits}
		for _, pass := range result.Passes() {
			out = append(out, pass.Updates)
		}
		return out
	})
	if err != nil {
		t.Fatal(err)
	}
	defer computation.Finalize()
	if _, err := computation.Call(c.source, c.target); err != nil {
		t.Fatalf("%s: %v", c.describe(), err)
	}
	randomize(t, store, rng)
	out, err := computation.Call(c.source, c.target)
	if err != nil {
		t.Fatal(err)
	}
	for _, logit := range tensors.MustCopyFlatData[float32](out[0]) {
		c.logits = append(c.logits, float64(logit))
	}
	for _, updates := range out[1:] {
		for _, n := range tensors.MustCopyFlatData[float32](updates) {
			c.depths[float64(n)] = true
		}
	}
	c.real = make([]bool, len(c.logits))
	vocabulary, positions := v.Target.Size(), out[0].Shape().Dimensions[1]
	for k := range c.real {
		row, position := k/vocabulary/positions, k/vocabulary%positions
		switch positions {
		case 1:
			c.real[k] = true
		case 8:
			c.real[k] = c.target[row][position] != 0
		default:
			c.real[k] = c.source[row][position*v.Positions()] != 0
		}
	}
}

// randomize sets all parameters to random numbers that keep states and halting probabilities in range.
func randomize(t *testing.T, store *model.Store, rng *rand.Rand) {
	t.Helper()
	for variable := range store.IterVariables() {
		if !training.Trained(variable.Path()) {
			continue
		}
		dims := variable.Shape().Dimensions
		mean, deviation := 0.0, 1/math.Sqrt(float64(dims[0]))
		switch name := universal.Name(variable.Path()); {
		case strings.HasSuffix(name, "gain"):
			mean, deviation = 1, 0.3
		case strings.HasSuffix(name, "halting.bias"):
			mean, deviation = -0.4, 0.3
		case strings.HasSuffix(name, "halting.weight"):
			deviation = 0.7 / math.Sqrt(float64(dims[0]))
		case strings.HasSuffix(name, "bias"):
			deviation = 0.3
		case strings.HasPrefix(name, "embedding."), strings.HasSuffix(name, ".step"), strings.HasSuffix(name, "depthwise"):
			deviation = 0.6
		}
		values := make([]float32, variable.Shape().Size())
		for i := range values {
			values[i] = float32(mean + deviation*rng.NormFloat64())
		}
		if err := variable.SetValue(tensors.FromFlatDataAndDimensions(values, dims...)); err != nil {
			t.Fatal(err)
		}
	}
}

// checkCoverage fails unless every variant of every part, and both values of every switch, occur, and adaptive models halt after several
// numbers of steps, besides the 0 of padding.
func checkCoverage(t *testing.T, cases []portableCase) {
	t.Helper()
	var all strings.Builder
	for _, c := range cases {
		all.WriteString(c.describe())
		if universal.Adaptive(c.run.Model.Value.Build(task.Vocabularies{Source: mustVocabulary(t), Target: mustVocabulary(t)}, 1)) && len(c.depths) < 3 {
			t.Errorf("%s: all positions halt after the same number of steps: %v", c.describe(), c.depths)
		}
	}
	for _, key := range experiment.VariantKeys("model") {
		if !strings.Contains(all.String(), `"`+key+`":`) {
			t.Errorf("no configuration has %s", key)
		}
	}
	for _, field := range []string{"pre_norm", "learned_steps", "scale_embedding", "shared_embedding", "tied_readout"} {
		for _, value := range []string{"true", "false"} {
			if !strings.Contains(all.String(), fmt.Sprintf("%q:%s", field, value)) {
				t.Errorf("no configuration has %s %s", field, value)
			}
		}
	}
	for _, part := range []string{`"untied_layers":true`, `"scale_steps":true`, `"embedding_width":4`, `"evidence":true`, `"pool":"last"`, `"pool":"mean"`, `"attention":true`, `"alternate":true`, `"branched":{"pre_norm":true}`, `"branched":{}`, `"widths":[`, `"max":0`} {
		if !strings.Contains(all.String(), part) {
			t.Errorf("no configuration has %s", part)
		}
	}
}

func mustVocabulary(t *testing.T) *vocab.Vocabulary {
	t.Helper()
	v, err := vocab.New([]string{"a", task.Question})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// pythonWith returns a Python with a package: that of the environment variable PYTHON, or python3. Without one the test is skipped.
func pythonWith(t *testing.T, name string) string {
	t.Helper()
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import "+name).Run(); err != nil {
		t.Skipf("%s does not have %s (set PYTHON): nothing is compared", python, name)
	}
	return python
}

// readInNumPy returns the logits that the readers compute.
func readInNumPy(t *testing.T, python string, cases []portableCase) [][]float64 {
	t.Helper()
	var requests []map[string]any
	for _, c := range cases {
		requests = append(requests, map[string]any{"export": c.export, "ids": map[string]any{"source": c.source, "target": c.target}})
	}
	encoded, err := json.Marshal(requests)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.Abs("../docs")
	if err != nil {
		t.Fatal(err)
	}
	const program = `import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import numpy, weights_others
print(json.dumps([weights_others.load(r["export"]).logits(**{k: numpy.array(v) for k, v in r["ids"].items()}).ravel().tolist() for r in json.load(sys.stdin)]))`
	command := exec.CommandContext(t.Context(), python, "-c", program, docs)
	command.Stdin = bytes.NewReader(encoded)
	var failure strings.Builder
	command.Stderr = &failure
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, failure.String())
	}
	var logits [][]float64
	if err := json.Unmarshal(output, &logits); err != nil {
		t.Fatal(err)
	}
	return logits
}

// The reader is short enough to be read, as docs/weights.md says.
func TestReaderIsShort(t *testing.T) {
	text, err := os.ReadFile("../docs/weights.py")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n > 150 {
		t.Errorf("docs/weights.py has %d lines, at most 150 are promised", n)
	}
}
