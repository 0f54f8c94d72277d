package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/pipeline"
)

// The points of ut depth are what ut eval measures with the same exits; the help lists the fields; the plot has a curve for each rule.
// Caught when planted: points that keep the exit before; the encoder's steps taken for the decoder's; a curve without its name.
func TestDepth(t *testing.T) {
	copier, svg := copierRun(t), filepath.Join(t.TempDir(), "depth.svg")
	var runs []depthRun
	out := succeeds(t, "depth", copier, "--count", "30", "--json", "--svg", svg)
	if err := json.Unmarshal([]byte(out), &runs); err != nil || len(runs) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	points := map[string]pipeline.DepthPoint{}
	for _, p := range runs[0].Points {
		points[p.Exit] = p
	}
	if n := len(points); n != len(runs[0].Points) || n != 1+6+2+10+8+3+7 {
		t.Errorf("%d points", n)
	}
	for exit, args := range map[string][]string{
		"": nil, "2 fixed steps": {"--fixed-steps", "2"}, "at most 1 step": {"--exit-steps", "1"}, "halting threshold 0.5": {"--exit-threshold", "0.5"},
		"confidence of at least 0.9": {"--exit-confidence", "0.9"}, "divergence below 1": {"--exit-divergence", "1"},
	} {
		var e struct {
			Metrics []struct{ Value float64 }
			Decoder struct{ Mean float64 } `json:"decoder_steps"`
		}
		if err := json.Unmarshal([]byte(succeeds(t, append([]string{"eval", copier, "--count", "30", "--json"}, args...)...)), &e); err != nil {
			t.Fatal(err)
		}
		p, ok := points[exit]
		if !ok || p.Quality != e.Metrics[1].Value || exit != "" && p.Steps != e.Decoder.Mean {
			t.Errorf("%q: %+v, ut eval measures %+v", exit, p, e)
		}
	}
	if p := points["2 fixed steps"]; p.Steps != 2 || p.Encoder != 2 || p.Decoder != 2 || p.Setting != 2 || p.Rule != "fixed" {
		t.Errorf("%+v", p)
	}
	help := succeeds(t, "depth", "--help")
	for _, field := range fields(t, []byte(out)) {
		if !strings.Contains(help, field) && !strings.Contains(evalHelp, field) {
			t.Errorf("the help does not say what %q is", field)
		}
	}
	drawn, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pipeline.DepthRuleNames(), "trained") {
		if name = ruleLegend(name); !strings.Contains(string(drawn), ": "+name+"</text>") {
			t.Errorf("the plot has no curve %q", name)
		}
	}
}

// Runs that cannot be measured together are refused before any is measured. Caught when planted: only the first run checked; a run named
// twice, or by another name, that is measured twice; metrics compared after the first run is measured.
func TestDepthChecksAllRuns(t *testing.T) {
	copier, text := copierRun(t), textRun(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(copier, link); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"is not a run directory":                    {copier, t.TempDir()},
		"are the same run":                          {copier, link},
		`--rules: limit does not apply`:             {copier, trained(t), "--rules", "limit"},
		`metric "bleu" is unknown`:                  {copier, trained(t), "--metric", "bleu"},
		"give --metric, or compare them separately": {copier, text, "--rules", "unchanged", "--teacher-forced"},
	} {
		if r := ut(t, append([]string{"depth", "--count", "5"}, args...)...); r.code == 0 || r.stdout != "" || !strings.Contains(r.stderr, want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}

// After an interrupt, what was measured is printed. Caught when planted: points that are lost.
func TestDepthKeepsWhatWasMeasured(t *testing.T) {
	copier, measured := copierRun(t), 0
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, f := newDepth(), depthFlags{rules: []string{"fixed"}}
	f.Selection.Count = 5
	f.measured = func() {
		if measured++; measured == 2 {
			cancel()
		}
	}
	c.SetContext(ctx)
	c.SetOut(&out)
	if err := f.run(c, []string{copier}); !errors.Is(err, context.Canceled) && !errors.Is(err, errInterrupted) {
		t.Errorf("interrupted: %v", err)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); measured != 2 || len(lines) != 3+2 || !strings.HasPrefix(lines[4], "1 fixed step ") {
		t.Errorf("%d measured, %q", measured, lines)
	}
}

// A model whose data are missing can be evaluated on a file, which the commands name.
// Caught when planted: the field of --set, which they do not have.
func TestMissingDataNamesTheFlag(t *testing.T) {
	translation, err := filepath.Abs("../../models/translation")
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.CopyFS(other, os.DirFS(translation)); err != nil {
		t.Fatal(err)
	}
	const want = "no such file or directory: give a file of examples with --data"
	if r := ut(t, "depth", translation); r.code == 0 || !strings.Contains(r.stderr, want) {
		t.Errorf("depth: %d %s", r.code, r.stderr)
	}
	page := filepath.Join(t.TempDir(), "compared.html")
	succeeds(t, "compare", translation, other, "--out", page)
	if text, err := os.ReadFile(page); err != nil || strings.Count(string(text), want) != 2 {
		t.Errorf("compare: %v", err)
	}
}
