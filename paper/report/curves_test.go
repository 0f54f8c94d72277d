package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/internal/browsertest"
	"universal-transformer/paper"
	"universal-transformer/sweep"
)

// curved is a result of table 4 with validations after 1,000, 2,500 and 3,000 updates, the last without loss, and times if asked.
func curved(t *testing.T, recipe string, seed uint64, times bool) sweep.Result {
	r := decoded(t, recipe, seed, 500)
	r.Curve = &sweep.Curve{Updates: []int64{1000, 2500, 3000}, Validation: []float64{2, r.Validation, 0}}
	if times {
		r.Curve.Seconds = []float64{60, 150, 600}
	}
	return r
}

// Each block of a table has learning curves of the results that recorded them, over updates, and over time where it is known; other results have
// none, silently.
// Caught when planted: the columns of another row, a ring at the last checkpoint, seconds in place of minutes, a figure without lines, the rows of
// all blocks in each figure.
func TestLearningCurves(t *testing.T) {
	results := []sweep.Result{
		curved(t, "algorithmic/copy", 1, true), curved(t, "algorithmic/copy", 2, false), curved(t, "algorithmic-lstm/reverse", 1, false), decoded(t, "algorithmic-alike-transformer/copy", 1, 3),
		answered(t, "babi-10k-single/task01", 1, 1, 0, 0),
	}
	pages := render(t, results, "[Learning curves](results/table4.md#learning-curves) of 3 runs.")
	page := string(pages.Files["table4.md"])
	for _, want := range []string{
		"a ring marks the selected checkpoint. Times are by the clock. Where cross entropy selects, it is that of smoothed targets, and its lowest point may be another: label smoothing of 0.1 asks for a probability of about 0.9, which is 0.105 nats. Values of at most 1e-06 are drawn at the mark ≤ 1e-06. 3 of 4 runs recorded a curve; results of earlier versions have none. No run of these rows did: Transformer, 4 layers (algorithmic-alike-transformer).\n",
		"\n![Table 4: validation cross entropy over updates: " + paper.PapersPositions + "](table4-curves-1-updates.svg)\n\n![Table 4: validation cross entropy over updates: " + paper.OtherPositions + "](table4-curves-2-updates.svg)\n",
		"](table4-curves-2-updates.svg)\n\n![Table 4: validation cross entropy over minutes: " + paper.OtherPositions + "](table4-curves-2-time.svg)\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	updates, minutes := string(pages.Files["table4-curves-2-updates.svg"]), string(pages.Files["table4-curves-2-time.svg"])
	for name, c := range map[string]struct {
		svg          string
		lines, rings int
		texts        []string
	}{
		"first block": {string(pages.Files["table4-curves-1-updates.svg"]), 1, 1, []string{">reverse<", ">LSTM with attention<", ">3000<"}},
		"updates":     {updates, 2, 2, []string{">copy<", ">UT, counted from both ends<", ">3000<", ">≤ 1e-06<"}},
		"minutes":     {minutes, 1, 1, []string{">copy<", ">UT, counted from both ends<", ">10<"}},
	} {
		if lines, rings := strings.Count(c.svg, "<polyline"), strings.Count(c.svg, "<circle"); lines != c.lines || rings != c.rings {
			t.Errorf("%s: %d lines with %d rings, want %d and %d", name, lines, rings, c.lines, c.rings)
		}
		for _, want := range c.texts {
			if !strings.Contains(c.svg, want) {
				t.Errorf("%s: no %q in %s", name, want, c.svg)
			}
		}
	}
	// 3000 updates end 199 pixels behind the left edge at 50; a ring is at 2500. 10 minutes end there too; the ring is at 2.5.
	if !strings.Contains(updates, fmt.Sprintf(`<circle cx="%.1f"`, 50+199*2500./3000)) || !strings.Contains(minutes, fmt.Sprintf(`<circle cx="%.1f"`, 50+199*2.5/10)) {
		t.Errorf("rings elsewhere in %s\n%s", updates, minutes)
	}
	for _, page := range [][]byte{pages.Files["table1.md"], pages.Files["table5.md"]} {
		if strings.Contains(string(page), "curve") {
			t.Errorf("curves without a recorded one: %s", page)
		}
	}
}

// Many updates are counted in thousands, and long times in hours.
func TestUnitsOfCurves(t *testing.T) {
	r := curved(t, "algorithmic/copy", 1, true)
	r.Step, r.Curve.Updates[2], r.Curve.Seconds[2] = 40_000, 40_000, 7*3600
	pages := render(t, []sweep.Result{r})
	for file, want := range map[string]string{"table4-curves-2-updates.svg": "over thousands of updates", "table4-curves-2-time.svg": "over hours"} {
		if svg := string(pages.Files[file]); !strings.Contains(svg, want) || strings.Contains(svg, "e+") {
			t.Errorf("%s: no %q in %s", file, want, svg)
		}
	}
}

// The published curves and new ones can be seen in small and large windows.
func TestCurvesInBrowser(t *testing.T) {
	browser := browsertest.Start(t)
	dir := t.TempDir()
	page := `<!doctype html><html data-ready="true"><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width"><body>`
	_, all := published(t)
	for file, svg := range all.Files {
		if strings.Contains(file, "-curves-") {
			page += fmt.Sprintf(`<img style="max-width:100%%" src="%s">`, file)
			if err := os.WriteFile(filepath.Join(dir, file), svg, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(dir, "page.html")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{1280, 400} {
		p := browsertest.OpenFile(t, browser, path, "", width, "light")
		p.Becomes(`document.images.length > 0 && [...document.images].every(i => i.complete && i.naturalWidth > 0 && i.width >= Math.min(384, i.naturalWidth))`, "true")
		p.Fits(fmt.Sprintf("curves %d", width))
	}
}
