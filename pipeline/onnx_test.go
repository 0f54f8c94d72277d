//go:build onnx

package pipeline_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/onnxfile"
	"universal-transformer/pipeline"
)

// ONNX Runtime, as its Python package, computes the program's logits from the graphs of the random configurations, to 1e-4 of the largest:
// of classifiers and taggers at once, of others token by token with encoder and cache. Pointers are refused. Caught when planted: a cache
// that is not passed on; windows of a convolution filled from the wrong side; a mask that is left out.
func TestONNX(t *testing.T) {
	python := pythonWith(t, "onnxruntime")
	if os.Getenv("ONNXRUNTIME_SHARED_LIBRARY_PATH") == "" {
		t.Skip("ONNXRUNTIME_SHARED_LIBRARY_PATH is not set: files of ONNX are not compared")
	}
	dir := t.TempDir()
	var requests []map[string]any
	var cases []portableCase
	for i := range stepCases + otherCases {
		c := newPortableCase(t, filepath.Join(dir, fmt.Sprint(i)), i)
		m, err := pipeline.Load(filepath.Join(dir, fmt.Sprint(i)), enginetest.Backend(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		_, err = m.ExportONNX(onnxfile.Sizes{Rows: 4, Source: 12, Target: 8})
		if pointer := strings.Contains(c.describe(), `pointer":`); pointer != (err != nil && strings.Contains(err.Error(), "a pointer cannot be expressed")) {
			t.Errorf("%d, %s: %v", i, c.describe(), err)
		}
		if err != nil {
			continue
		}
		cases, requests = append(cases, c), append(requests, map[string]any{"dir": c.export, "source": c.source, "target": c.target})
	}
	encoded, err := json.Marshal(requests)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), python, "-c", runONNX)
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
	furthest := 0.0
	for i, c := range cases {
		worst, largest := 0.0, 0.0
		for k, want := range c.logits {
			if c.real[k] {
				worst, largest = max(worst, math.Abs(logits[i][k]-want)), max(largest, math.Abs(want))
			}
		}
		if !(worst <= 1e-4*largest) || len(logits[i]) != len(c.logits) {
			t.Errorf("%d, %s: off by %.3g, the largest logit is %.3g", i, c.describe(), worst, largest)
		}
		furthest = max(furthest, worst/largest)
	}
	t.Logf("%d models, off by at most %.2g of the largest logit", len(cases), furthest)
	if _, err := os.Stat("failed_model.onnx"); err == nil {
		t.Error("a graph that failed was left behind")
	}
}

// runONNX prints the logits of each request: teacher forcing, one token at a time.
const runONNX = `import json, os, sys
import numpy as np, onnxruntime
def session(path):
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
def logits(r):
    source, target = np.array(r["source"], np.int32), np.array(r["target"], np.int32)
    if os.path.exists(r["dir"] + "/model.onnx"):
        return session(r["dir"] + "/model.onnx").run(["logits"], {"source": source})[0]
    feed = {}
    if os.path.exists(r["dir"] + "/encoder.onnx"):
        encoder = session(r["dir"] + "/encoder.onnx")
        feed = dict(zip([o.name for o in encoder.get_outputs()], encoder.run(None, {"source": source})))
    step, steps = session(r["dir"] + "/step.onnx"), []
    inputs = {i.name: i for i in step.get_inputs()}
    for name, i in inputs.items():
        if name.startswith("cache_"):
            feed[name] = np.zeros(i.shape, np.float32)
    for n in range(target.shape[1]):
        feed["token"], feed["length"] = (target[:, n - 1] if n else 0 * target[:, 0])[:, None], np.array([n], np.int32)
        out = dict(zip([o.name for o in step.get_outputs()], step.run(None, {k: v for k, v in feed.items() if k in inputs})))
        steps.append(out["logits"])
        feed.update({"cache_" + k[5:]: v for k, v in out.items() if k.startswith("next_")})
    return np.stack(steps, 1)
print(json.dumps([logits(r).ravel().tolist() for r in json.load(sys.stdin)]))
`
