package report

import (
	"cmp"
	"fmt"

	"universal-transformer/paper"
	"universal-transformer/sweep"
)

// training lists how every run was trained, and by whom.
func (p *page) training(t paper.Table) {
	runs := p.book.table(t)
	if len(runs) == 0 {
		p.printf("No run has a result.\n")
		return
	}
	p.printf("## Training\n\n")
	p.head("recipe", "seed", "version of the recipe", "model", "parameters", "updates", "chosen", "validation, nats", "chosen by", "minutes", "threads", "trained by", "measured by")
	for _, r := range runs {
		p.row(r.Recipe, fmt.Sprint(r.Seed), r.recipeVersion(), r.Model, thousands(r.Parameters), thousands(int(r.Step)), thousands(int(r.BestStep)), nats(r.Validation),
			r.ChosenBy, fmt.Sprintf("%.1f", r.Seconds/60), fmt.Sprint(r.Threads), by(r.TrainedBy), by(r.MeasuredBy))
	}
	p.printf("\nMinutes are those of training with its validations, on the machine of trained by. Where trained by is not recorded, the machine is unknown. " +
		"Training the recipe of a run, with its seed, trains the run again.\n")
}

// nats is a cross entropy of validation, "" of results that do not have it.
func nats(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.2g", v)
}

// by is a provenance in a cell.
func by(p sweep.Provenance) string {
	if !p.Recorded() {
		return "not recorded"
	}
	text := cmp.Or(p.Build(), "build not recorded")
	for _, part := range []string{p.Backend, p.Device, p.CPU} {
		if part != "" {
			text += ", " + part
		}
	}
	if p.WallSeconds > 0 {
		text += fmt.Sprintf(", %.1f minutes, %.1f of processors", p.WallSeconds/60, p.CPUSeconds/60)
	}
	return text
}
