package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// sweepFile is a file of ut sweep.
type sweepFile struct {
	Name     string              `json:"name"`
	Base     string              `json:"base"`
	Set      []string            `json:"set"`
	Variants map[string][]string `json:"variants,omitempty"`
	Seeds    int                 `json:"seeds"`
	Measure  map[string]any      `json:"measure,omitempty"`
}

// saveSweep writes NAME.json, the recipe as it is with three seeds, or NAME-grid.json, twelve settings with one seed.
func (d dataset) saveSweep(dir string, grid bool) error {
	f := sweepFile{Name: d.name, Base: d.recipe, Set: d.set, Seeds: 3}
	if d.test != "" {
		f.Measure = map[string]any{"file": d.test}
	}
	if grid {
		f.Name, f.Seeds, f.Variants = d.name+"-grid", 1, spaces[d.recipe].settings()
		f.Set = append(append([]string{}, d.set...), spaces[d.recipe].common...)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(f); err != nil {
		return err
	}
	return save(dir, f.Name+".json", text.String())
}

// A space holds the settings of a recipe's grid: fixed depth with two widths, two rates of dropout and two optimizers, and adaptive depth
// with two widths and two rates of dropout.
type space struct {
	steps      int          // of fixed depth, and the limit of adaptive depth
	optimizers [2]optimizer // adaptive depth has the first
	dropout    [2]float64
	field      string   // form of the dropout
	warmup     int      // updates in which the ponder cost grows
	common     []string // assignments of all settings
}

// An optimizer is one way to train.
type optimizer struct {
	name string
	set  []string
}

// muon is Muon for the matrices, with weight decay and a mean of the weights, at a peak of the learning rate.
func muon(peak float64) optimizer {
	return optimizer{fmt.Sprintf("muon=%g", peak), []string{
		"training.muon=0.95", "training.weight_decay=0.1", "training.average=0.99", fmt.Sprintf("training.schedule.cosine.peak=%g", peak),
	}}
}

func adam(peak float64) optimizer {
	return optimizer{fmt.Sprintf("adam=%g", peak), []string{fmt.Sprintf("training.schedule.cosine.peak=%g", peak)}}
}

const (
	inLayers = `model.dropout={"attention": %[1]g, "transition": %[1]g, "residual": %[1]g}`
	outside  = `model.dropout={"embedding": %[1]g, "residual": %[1]g}`
)

// spaces holds the grids of the recipes.
var spaces = map[string]space{
	"own-pairs": {4, [2]optimizer{muon(0.004), adam(0.001)}, [2]float64{0, 0.1}, inLayers, 1000, []string{
		"training.steps=9000", "training.evaluate_every=100", "training.stop.patience=8", "training.stop.accuracy=1"}},
	"own-labels": {3, [2]optimizer{muon(0.004), adam(0.001)}, [2]float64{0.1, 0.3}, inLayers, 300, []string{"training.stop.patience=10"}},
	"own-tags":   {3, [2]optimizer{muon(0.004), adam(0.001)}, [2]float64{0.1, 0.3}, inLayers, 300, []string{"training.stop.patience=10"}},
	"own-text": {4, [2]optimizer{muon(0.008), adam(0.002)}, [2]float64{0, 0.1}, inLayers, 500, []string{
		"training.steps=1500", "training.evaluate_every=150", "training.stop.patience=5"}},
	"own-translation": {4, [2]optimizer{muon(0.008), muon(0.004)}, [2]float64{0.1, 0.3}, outside, 500, []string{
		"model.heads=4", "model.embedding_width=0", "training.ponder.weight=0.001", "training.steps=1500", "training.evaluate_every=150", "training.stop.patience=6"}},
}

// settings returns the twelve settings by name.
func (s space) settings() map[string][]string {
	list := map[string][]string{}
	add := func(depth, halting string, width int, dropout float64, o optimizer, more ...string) {
		set := []string{
			halting, fmt.Sprintf("model.width=%d", width), fmt.Sprintf("model.transition.feedforward.filter=%d", 4*width), fmt.Sprintf(s.field, dropout),
		}
		list[fmt.Sprintf("%s,width=%d,dropout=%g,%s", depth, width, dropout, o.name)] = append(append(set, more...), o.set...)
	}
	for _, width := range []int{64, 128} {
		for _, dropout := range s.dropout {
			for _, o := range s.optimizers {
				add("fixed", fmt.Sprintf("model.halting.fixed.steps=%d", s.steps), width, dropout, o)
			}
			add("adaptive", fmt.Sprintf(`model.halting={"frozen": {"max_steps": %d, "epsilon": 0.01, "bias": -2}}`, s.steps), width, dropout, s.optimizers[0],
				fmt.Sprintf("training.ponder.warmup=%d", s.warmup))
		}
	}
	return list
}
