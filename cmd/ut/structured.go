package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/decoding"
	"universal-transformer/pipeline"
)

// answerFieldsHelp lists the fields of answerJSON.
const answerFieldsHelp = `--n-best N writes the N best answers of a beam search, one per line: the number of the source's
line, the answer's log-probability and the answer, separated by tabs. Without --beam, the beam has a
width of N, but at least 4. A line that is skipped has no answers. A note says how many lines have
fewer than N, because the beam found no others within the maximum length.

With --json, each line is an object with the fields
  line          the number of the source's line, from 1
  answer        the answer
  log_prob      the natural logarithm of its probability, including its end: what ut score prints
  finished      false if the answer was cut off at the maximum length
  n_best        an array of the N best answers, the best first: objects with answer, log_prob,
                finished, and score, by which they are ranked
  unknown       an array of the tokens that the model does not know, which it reads as <unknown>
  source        the source's tokens; target: the answer's tokens, with <end>
  source_steps  the number of steps of each source position; target_steps: of each target position
  alignment     an array with an object for each target token, if the model attends to sources:
                target and source are positions, from 1; share is the attention to that source
                token, which gets most of it (the mean over heads and the target position's steps)
  exit          when positions ended: "confidence of at least 0.9"; empty if as trained
A line that is skipped is an object with the fields line and error.`

// structuredFlags holds the flags that choose the form of answers: --json and --n-best.
type structuredFlags struct {
	asJSON bool
	nBest  int
}

func (f *structuredFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&f.nBest, "n-best", 0, "write the `N` best answers")
	jsonFlag(c, &f.asJSON)
}

// check sets the beam of --n-best. Without --beam it is as wide as necessary.
func (f *structuredFlags) check(c *cobra.Command, how *pipeline.DecodeOptions) error {
	if err := between(c, "n-best", decoding.MaxWidth); err != nil {
		return err
	}
	how.Details = f.asJSON
	if f.nBest == 0 {
		return nil
	}
	if how.Sampling != (decoding.Sampling{}) {
		return usagef("--n-best and --sample are both given: the best answers are those of a beam search")
	}
	if !c.Flags().Changed("beam") {
		how.Beam.Width = max(4, f.nBest)
		if !c.Flags().Changed("alpha") {
			how.Beam.Alpha = defaultAlpha
		}
	}
	if f.nBest > how.Beam.Width {
		return usagef("--n-best is %d, but a beam of width %d has at most %[2]d answers: give --beam %[1]d", f.nBest, how.Beam.Width)
	}
	how.Beam.Best = f.nBest
	return nil
}

// answerFormat formats the answers of decode and translate, each with its line break.
type answerFormat struct {
	structuredFlags
	exit string
}

// plain reports whether answers are written as text, one per line.
func (f answerFormat) plain() bool { return !f.asJSON && f.nBest == 0 }

// rankedJSON is one of the best answers.
type rankedJSON struct {
	Answer   string  `json:"answer"`
	LogProb  float64 `json:"log_prob"`
	Finished bool    `json:"finished"`
	Score    float64 `json:"score"`
}

// alignedJSON is a target position with the source position that it attends to most. Both count from 1.
type alignedJSON struct {
	Target int     `json:"target"`
	Source int     `json:"source"`
	Share  float64 `json:"share"`
}

// answerJSON is a line of decode --json and translate --json.
type answerJSON struct {
	Line        int           `json:"line"`
	Answer      string        `json:"answer"`
	LogProb     float64       `json:"log_prob"`
	Finished    bool          `json:"finished"`
	NBest       []rankedJSON  `json:"n_best"`
	Unknown     []string      `json:"unknown"`
	Source      []string      `json:"source"`
	Target      []string      `json:"target"`
	SourceSteps []int         `json:"source_steps"`
	TargetSteps []int         `json:"target_steps"`
	Alignment   []alignedJSON `json:"alignment"`
	Exit        string        `json:"exit"`
}

// answer formats the answer to a line, counted from 1.
func (f answerFormat) answer(line int, a pipeline.Answer) string {
	best := append([]pipeline.Answer{a}, a.Others...)
	best = best[:min(max(1, f.nBest), len(best))]
	switch {
	case f.plain():
		return a.Text + "\n"
	case f.asJSON:
		return jsonLine(f.object(line, a, best))
	}
	var text strings.Builder
	for _, b := range best {
		fmt.Fprintf(&text, "%d\t%.6f\t%s\n", line, b.LogProb, b.Text)
	}
	return text.String()
}

// object returns the JSON of an answer and the best answers.
func (f answerFormat) object(line int, a pipeline.Answer, best []pipeline.Answer) answerJSON {
	o := answerJSON{
		Line: line, Answer: a.Text, LogProb: a.LogProb, Finished: a.Finished, Exit: f.exit, Unknown: append([]string{}, a.Unknown...),
		Source: []string{}, Target: []string{}, SourceSteps: []int{}, TargetSteps: []int{}, Alignment: []alignedJSON{},
	}
	for _, b := range best {
		o.NBest = append(o.NBest, rankedJSON{b.Text, b.LogProb, b.Finished, b.Score})
	}
	if d := a.Details; d != nil {
		o.Source, o.Target = append(o.Source, d.Source...), append(o.Target, d.Target...)
		o.SourceSteps, o.TargetSteps = append(o.SourceSteps, d.SourceSteps...), append(o.TargetSteps, d.TargetSteps...)
		for i, source := range d.Alignment {
			o.Alignment = append(o.Alignment, alignedJSON{i + 1, source + 1, d.AttentionShares[i]})
		}
	}
	return o
}

// failed formats a line without an answer.
func (f answerFormat) failed(line int, err error) string {
	switch {
	case f.plain():
		return "\n"
	case f.asJSON:
		return jsonLine(failedJSON{line, oneLine(err)})
	}
	return ""
}

// failedJSON is a line without an answer.
type failedJSON struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
}

// storyFieldsHelp lists the fields of storyJSON.
const storyFieldsHelp = `--n-best N also writes the N-1 next answers, one per line.

With --json, each question is answered by a line, an object with the fields
  line          the number of the question's line, from 1
  answer        the answer
  log_prob      the natural logarithm of its probability
  n_best        an array of the N best answers, the best first: objects with answer and log_prob
  unknown       an array of the words that the model does not know
  source        the facts and the question
  source_steps  the number of steps of each of them
  attention     the share of each in the attention of the question (the mean over heads and steps)
  exit          when positions ended: "confidence of at least 0.9"; empty if as trained
A question that cannot be answered is an object with the fields line and error.`

// storyJSON is a line of answer --json.
type storyJSON struct {
	Line        int         `json:"line"`
	Answer      string      `json:"answer"`
	LogProb     float64     `json:"log_prob"`
	NBest       []classRank `json:"n_best"`
	Unknown     []string    `json:"unknown"`
	Source      []string    `json:"source"`
	SourceSteps []int       `json:"source_steps"`
	Attention   []float64   `json:"attention"`
	Exit        string      `json:"exit"`
}

type classRank struct {
	Answer  string  `json:"answer"`
	LogProb float64 `json:"log_prob"`
}

// newStoryJSON returns the JSON of an answer with the n best classes.
func newStoryJSON(line int, a *pipeline.Explained, n int, exit string) storyJSON {
	o := storyJSON{
		Line: line, Answer: a.Answer, NBest: []classRank{}, Unknown: append([]string{}, a.Input.Unknown...), Source: a.Input.Labels, SourceSteps: []int{},
		Attention: make([]float64, len(a.Input.Labels)), Exit: exit,
	}
	for _, class := range a.Classes[:min(max(1, n), len(a.Classes))] {
		if class.Probability > 0 { // a pointer answers with words of the story only
			o.NBest = append(o.NBest, classRank{class.Name, math.Log(class.Probability)})
		}
	}
	if len(o.NBest) > 0 {
		o.LogProb = o.NBest[0].LogProb
	}
	for _, n := range a.Trace.Encoder.Updates {
		o.SourceSteps = append(o.SourceSteps, int(n))
	}
	for _, share := range a.Attention {
		o.Attention[share.Position] = share.Share
	}
	return o
}

// jsonLine returns v as one line.
func jsonLine(v any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // strings and finite numbers marshal
	}
	return text.String()
}
