package ut_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	ut "universal-transformer"
)

// copier is a run directory with a model that copies up to four digits.
const copier = "pipeline/testdata/copier"

func Example() {
	model, err := ut.Load(copier, ut.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	answers, err := model.Decode(context.Background(), []string{"31", "3x", "2026"}, ut.DecodeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range answers {
		if a.Err != nil {
			fmt.Println("error:", a.Err)
			continue
		}
		fmt.Printf("%s, probability above 0.9: %v\n", a.Text, a.LogProb > -0.1)
	}
	// Output:
	// 31, probability above 0.9: true
	// error: unknown token "x" at position 2 (counted from 1)
	// 2026, probability above 0.9: true
}

// A model learns to tag words from rows of words and tags, with blank lines between the sentences.
func ExampleModel_Tag() {
	folder, err := os.MkdirTemp("", "ut")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	var rows []byte
	for i := range 200 {
		rows = fmt.Appendf(rows, "Room O\n%d O\ncosts O\n%d B-PRICE\nEUR I-PRICE\n\n", 1+i%30, 5*i)
	}
	file := filepath.Join(folder, "prices.conll")
	if err := os.WriteFile(file, rows, 0o666); err != nil {
		log.Fatal(err)
	}
	run, err := ut.Recipe("own-tags")
	if err != nil {
		log.Fatal(err)
	}
	run, err = run.Set("task.path="+file, "model.width=16", "model.heads=2", "training.steps=100", "training.schedule.peak=0.005", "training.schedule.warmup=10")
	if err != nil {
		log.Fatal(err)
	}
	dir := filepath.Join(folder, "run")
	if _, err := ut.Train(context.Background(), run, dir, ut.TrainOptions{}); err != nil {
		log.Fatal(err)
	}
	model, err := ut.Load(dir, ut.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	sentences, err := model.Tag(context.Background(), []string{"Room 7 costs 45 EUR", ""})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range sentences {
		if s.Err != nil {
			fmt.Println("error:", s.Err)
			continue
		}
		fmt.Println(s.Tags)
		for _, span := range s.Spans {
			fmt.Println(span.Type, s.Words[span.Start:span.End])
		}
	}
	// Output:
	// [O O O B-PRICE I-PRICE]
	// PRICE [45 EUR]
	// error: the sentence is empty
}

// A model learns from a file with one pair per line, source and target separated by a tab.
func ExampleTrain() {
	folder, err := os.MkdirTemp("", "ut")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	var pairs []byte
	for i := range 200 {
		pairs = fmt.Appendf(pairs, "%d\t%d\n", i, i%10)
	}
	file := filepath.Join(folder, "pairs.tsv")
	if err := os.WriteFile(file, pairs, 0o666); err != nil {
		log.Fatal(err)
	}

	run, err := ut.ParseRun(fmt.Appendf(nil, `{
		"name": "last-digit",
		"task": {"table": {"path": %q, "tokenizer": "characters"}},
		"model": {"encoder_decoder": {"width": 16, "heads": 2, "transition": {"feedforward": {"filter": 32}}, "halting": {"fixed": {"steps": 2}}}},
		"training": {"steps": 20, "evaluate_every": 20, "batch": {"rows": 16}}
	}`, file))
	if err != nil {
		log.Fatal(err)
	}
	dir := filepath.Join(folder, "run")
	first, err := ut.Train(context.Background(), run, dir, ut.TrainOptions{})
	if err != nil {
		log.Fatal(err)
	}
	second, err := ut.Resume(context.Background(), dir, ut.TrainOptions{}, "training.steps=40")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.Step, first.Stopped, second.Step, second.Stopped, second.CrossEntropy < first.CrossEntropy)
	// Output: 20 done 40 done true
}

func ExampleModel_Decode_beam() {
	model, err := ut.Load(copier, ut.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	answers, err := model.Decode(context.Background(), []string{"2026"}, ut.DecodeOptions{Beam: ut.Beam{Width: 3, Alpha: 0.6}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answers[0].Text, len(answers[0].Alternatives))
	// Output: 2026 2
}

func ExampleModel_Stream() {
	model, err := ut.Load(copier, ut.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	answers, err := model.Stream(context.Background(), os.Stdout, []string{"7", "31"}, ut.DecodeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(answers[1].Unknown), answers[1].Finished)
	// Output:
	// 7
	// 31
	// 0 true
}

func ExampleModel_Score() {
	model, err := ut.Load(copier, ut.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	scored, err := model.Score(context.Background(), []ut.Pair{{Source: "12", Target: "12"}, {Source: "12", Target: "21"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(scored[0].Tokens, scored[0].LogProb > scored[1].LogProb)
	// Output: [1 2 <end>] true
}

func ExampleModel_Evaluate() {
	model, err := ut.Load(copier, ut.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	e, err := model.Evaluate(context.Background(), ut.EvaluateOptions{Selection: ut.Selection{Mix: 4, Count: 50}})
	if err != nil {
		log.Fatal(err)
	}
	for _, metric := range e.Metrics {
		fmt.Println(metric.Name, metric.Value)
	}
	// Output:
	// token accuracy 1
	// sequence accuracy 1
}

func ExampleModel_Trace() {
	model, err := ut.Load(copier, ut.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	trace, err := model.Trace(context.Background(), "31")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(trace.Encoder.Tokens, len(trace.Encoder.Updates))
	// Output: [3 1] 2
}
