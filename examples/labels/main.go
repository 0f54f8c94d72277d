// Program labels trains a classifier on texts and labels of its own, loads its best checkpoint, and labels new texts, in about ten seconds. It
// uses the public package only.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	ut "universal-transformer"
)

// rows returns texts with their labels, one per line: a verb decides.
func rows() string {
	verbs := map[string]string{"loved": "good", "liked": "good", "hated": "bad", "returned": "bad"}
	var b strings.Builder
	b.WriteString("text\tlabel\n")
	for _, who := range strings.Fields("i we she they everyone anna") {
		for verb, label := range verbs {
			for _, what := range strings.Fields("book film soup lamp phone tent bike chair") {
				fmt.Fprintf(&b, "%s %s the %s\t%s\n", who, verb, what, label)
			}
		}
	}
	return b.String()
}

func run(folder string) error {
	file, dir := filepath.Join(folder, "opinions.tsv"), filepath.Join(folder, "run")
	if err := os.WriteFile(file, []byte(rows()), 0o666); err != nil {
		return err
	}
	configuration, err := ut.Recipe("own-labels")
	if err != nil {
		return err
	}
	configuration, err = configuration.Set("task.path="+file, "task.tokenizer=whitespace", "model.width=16", "model.heads=2", "training.steps=100", "training.evaluate_every=25",
		"training.schedule.warmup=10")
	if err != nil {
		return err
	}
	if _, err := ut.Train(context.Background(), configuration, dir, ut.TrainOptions{}); err != nil {
		return err
	}
	model, err := ut.Load(dir, ut.LoadOptions{})
	if err != nil {
		return err
	}
	defer model.Close()
	texts, want := []string{"they loved the tent", "anna hated the film"}, []string{"good", "bad"}
	answers, err := model.Classify(context.Background(), texts)
	if err != nil {
		return err
	}
	for i, a := range answers {
		if a.Err != nil {
			return a.Err
		}
		fmt.Printf("%s: %s\n", texts[i], a.Class)
		if a.Class != want[i] {
			return fmt.Errorf("%s: %s, want %s", texts[i], a.Class, want[i])
		}
	}
	return nil
}

func main() {
	folder, err := os.MkdirTemp("", "labels")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := run(folder); err != nil {
		log.Fatal(err)
	}
}
