package measure

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/paper"
)

// Cells whose files are not there are left out and named; those that are there train, are measured on all sets, and say so.
// Caught when planted: a regime or a model for another's; sets that are not measured.
func TestTables2And3Train(t *testing.T) {
	linzen, passages, prose := t.TempDir(), t.TempDir(), t.TempDir()
	write := func(folder, name, content string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var rows, lines, book strings.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		fmt.Fprintf(&rows, "VBP\tthe keys in room %d\nVBZ\tthe key in room %d\n", i, i)
		fmt.Fprintf(&lines, "%s anna has the lantern . then in room %d boris saw anna\n", strings.Repeat("he said it . ", 14), i)
		fmt.Fprintf(&book, "Anna saw the old ") // and words at random, which do not give each other away
		for range 5 {
			fmt.Fprintf(&book, "%c%c ", 'b'+rng.IntN(8), 'o'+rng.IntN(8))
		}
		fmt.Fprintf(&book, "in room %d. ", i%9)
	}
	write(linzen, "numpred.val", rows.String())
	for k := 1; k <= 5; k++ {
		write(linzen, fmt.Sprintf("numpred.test.%d", k), strings.ReplaceAll(rows.String(), "the", fmt.Sprintf("some %d", k)))
	}
	write(linzen, "subj_agr_filtered.text", strings.Repeat("the key was here and opens it\nsome keys open it\n", 8))
	write(linzen, "subj_agr_filtered.gold", strings.Repeat("5\topens\topen\t0\n2\topen\topens\t1\n", 8))
	write(passages, "lambada_development_plain_text.txt", strings.ReplaceAll(lines.String(), "boris", "carla"))
	write(passages, "lambada_test_plain_text.txt", lines.String())
	for _, name := range []string{"one.txt", "chesterton-thursday.txt"} {
		write(prose, name, book.String()+strings.Repeat("They open it. It opens. ", 9))
	}
	root := t.TempDir()
	set := []string{"model.width=8", "training.steps=4", "training.evaluate_every=4", "training.checkpoint_every=4", "training.schedule.cosine.warmup=1", "training.validation=8", "training.log_every=2"}
	r, outcomes := runner()
	for _, want := range []struct {
		table paper.Table
		name  string
		cells int
	}{{paper.Table2(), "agreement-adaptive", 9}, {paper.Table2(), "agreement-lstm", 9}, {paper.Table3(), "lambada", 3}, {paper.Table3(), "lambada-transformer", 3}} {
		request := Request{Table: want.table, Rows: []string{want.name}, Seeds: []uint64{1}, Set: set, Data: map[string]string{"linzen": linzen, "lambada": passages, "prose": prose},
			Runs: filepath.Join(root, "runs"), Results: filepath.Join(root, "results")}
		if want.name != "agreement-lstm" {
			request.Set = append([]string{"model.heads=2", "model.transition.filter=8"}, set...)
		}
		if strings.HasPrefix(want.name, "agreement") {
			request.Data["novels"] = prose
		}
		cells, leftOut, err := request.Cells()
		if err != nil || len(cells) != want.cells || len(cells)+len(leftOut) != map[bool]int{true: 10, false: 7}[strings.HasPrefix(want.name, "agreement")] {
			t.Fatalf("%s: %d cells, left out %v, %v", want.name, len(cells), leftOut, err)
		}
		if err := r.Run(t.Context(), cells); err != nil {
			t.Fatal(err)
		}
	}
	attracted := "1 attractors of 400; 2 attractors of 400; 3 attractors of 400; 4 attractors of 400; 5 attractors of 400; "
	kindsOf := map[string]string{
		"agreement-adaptive/natural-text": attracted, "agreement-adaptive/natural-classes": attracted,
		"agreement-adaptive/forms": "0 attractors of 8; 1 attractors of 8; ", "agreement-adaptive/pairs": "0 attractors of 8; 1 attractors of 8; ",
		"agreement-adaptive/forms-text": "0 attractors of 8; 1 attractors of 8; ", "agreement-adaptive/forms-pretrained": "0 attractors of 8; 1 attractors of 8; ",
		"agreement-adaptive/pairs-novels": "0 attractors of 8; 1 attractors of 8; ",
	}
	for name, o := range outcomes {
		if o.Err != nil {
			t.Fatalf("%s: %v", name, o.Err)
		}
		sets := o.Measured.(*Metrics).Sets
		names := ""
		for _, s := range sets {
			names += s.Name + " "
		}
		want := map[bool]string{true: "test ", false: "control development test "}[strings.HasPrefix(name, "agreement")]
		if strings.HasSuffix(name, "/language-seed1") {
			want += "control with cache development with cache test with cache "
		}
		if names != want {
			t.Errorf("%s: sets %q", name, names)
		}
		kinds := ""
		for _, k := range o.Measured.(*Metrics).Kinds {
			kinds += fmt.Sprintf("%s of %d; ", k.Name, k.Examples)
			if k.Encoder+k.Decoder < 1 {
				t.Errorf("%s: ponder time of %+v", name, k)
			}
		}
		if !strings.Contains(name, "enriched") && kinds != kindsOf[strings.TrimSuffix(name, "-seed1")] {
			t.Errorf("%s: kinds %q", name, kinds)
		}
		if adaptive := strings.Contains(name, "adaptive"); adaptive != (sets[0].Encoder+sets[0].Decoder > 0) || strings.Contains(name, "lstm") != strings.Contains(o.Result.Model, "LSTM") {
			t.Errorf("%s: %s, ponder %v", name, o.Result.Model, sets[0].Encoder+sets[0].Decoder)
		}
		if enriched := strings.Contains(name, "enriched"); enriched != strings.Contains(o.Result.Data, "enriched") {
			t.Errorf("%s learned from %s", name, o.Result.Data)
		}
	}
	if len(outcomes) != 24 {
		t.Errorf("%d outcomes", len(outcomes))
	}
}
