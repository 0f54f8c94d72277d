package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// scoreRequest is the body of /v1/score.
type scoreRequest struct {
	Model *string           `json:"model"`
	Pairs []json.RawMessage `json:"pairs"` // of pairJSON
}

// pairJSON is a pair to score.
type pairJSON struct {
	Source *string `json:"source"` // of language models: not read, and may be missing
	Target *string `json:"target"`
}

// scoreJSON is the score of a pair, or why it has none.
type scoreJSON struct {
	LogProb       *float64  `json:"log_prob,omitempty"` // of the whole target, natural logarithm
	Tokens        []string  `json:"tokens,omitempty"`
	LogProbs      []float64 `json:"log_probs,omitempty"`      // of each token, given those before it
	UnknownCount  int       `json:"unknown_count"`            // number of tokens of the target that the model does not know
	Unknown       []string  `json:"unknown,omitempty"`        // these tokens
	UnknownSource []string  `json:"unknown_source,omitempty"` // tokens of the source that the model does not know
	Error         string    `json:"error,omitempty"`
}

// results is the answer of /v1/score and /v1/classify: a result for each text, in their order.
type results[T any] struct {
	Object string `json:"object"`
	Model  string `json:"model"`
	Data   []T    `json:"data"`
}

func (s *Server) score(ctx context.Context, _ http.ResponseWriter, body []byte) ([]byte, error) {
	var r scoreRequest
	if err := parse(body, &r); err != nil {
		return nil, err
	}
	e, m, err := s.model(r.Model)
	if err != nil {
		return nil, err
	}
	defer m.users.Done()
	if err := errors.Join(mustBe(e, m, generates), s.several("pairs", len(r.Pairs))); err != nil {
		return nil, err
	}
	pairs := make([]pipeline.Pair, len(r.Pairs))
	for i, text := range r.Pairs {
		var p pairJSON
		if err := parseElement("pairs", i, text, &p); err != nil {
			return nil, err
		}
		switch {
		case p.Source != nil:
			pairs[i].Source = *p.Source
		case m.Run.Task.Value.Kind() != task.LanguageModeling:
			return nil, missing(i, "source")
		}
		if p.Target == nil {
			return nil, missing(i, "target")
		}
		pairs[i].Target = *p.Target
	}
	for _, p := range pairs {
		if tokens, err := m.Size(p, s.options.MaxSource); err == nil {
			e.read(tokens)
		}
	}
	found, err := m.Score(ctx, pairs, s.options.MaxSource)
	if err != nil {
		return nil, err
	}
	answer := results[scoreJSON]{Object: "list", Model: e.name}
	for _, f := range found {
		answer.Data = append(answer.Data, newScore(f))
	}
	return encode(answer)
}

// missing returns the error for a pair that lacks a text.
func missing(pair int, field string) failure {
	field = fmt.Sprintf("pairs[%d].%s", pair, field)
	return invalid(field, "%s is missing: give a text, which may be empty", field)
}

func newScore(f pipeline.Scored) scoreJSON {
	if f.Err != nil {
		return scoreJSON{Error: failureOf(f.Err).message}
	}
	sum := 0.0
	for _, p := range f.LogProbs {
		sum += p
	}
	return scoreJSON{LogProb: &sum, Tokens: f.Tokens, LogProbs: f.LogProbs, UnknownCount: f.UnknownCount, Unknown: f.Unknown, UnknownSource: f.UnknownSource}
}

// inputRequest is the body of /v1/classify.
type inputRequest struct {
	Model *string         `json:"model"`
	Input json.RawMessage `json:"input"` // a string or an array of strings
}

// labelJSON is the label of a text, or why it has none; the fields are those of ut's JSON.
type labelJSON struct {
	Label         string       `json:"label,omitempty"`
	Probability   float64      `json:"probability,omitempty"`
	Probabilities []labelShare `json:"probabilities,omitempty"` // all labels, the most probable one first
	Words         []wordJSON   `json:"words,omitempty"`         // of a model that answers with a tag for each word
	Spans         []spanJSON   `json:"spans,omitempty"`
	Unknown       []string     `json:"unknown,omitempty"` // tokens that the model does not know
	Error         string       `json:"error,omitempty"`
}

type labelShare struct {
	Label       string  `json:"label"`
	Probability float64 `json:"probability"`
}

type wordJSON struct {
	Word        string  `json:"word"`
	Tag         string  `json:"tag"`
	Probability float64 `json:"probability"`
}

type spanJSON struct {
	Type  string `json:"type"`
	Start int    `json:"start"` // number of the first word, from 1
	End   int    `json:"end"`   // number of the last word
	Text  string `json:"text"`
}

func (s *Server) classify(ctx context.Context, _ http.ResponseWriter, body []byte) ([]byte, error) {
	var r inputRequest
	if err := parse(body, &r); err != nil {
		return nil, err
	}
	input, err := readTexts("input", r.Input)
	if err != nil {
		return nil, err
	}
	e, m, err := s.model(r.Model)
	if err != nil {
		return nil, err
	}
	defer m.users.Done()
	if err := errors.Join(mustBe(e, m, classifies), s.several("input", len(input))); err != nil {
		return nil, err
	}
	answer := results[labelJSON]{Object: "list", Model: e.name, Data: make([]labelJSON, len(input))}
	var good []string
	var at []int
	for i, text := range input {
		in, err := s.input(m, text)
		if err != nil {
			answer.Data[i].Error = failureOf(err).message
			continue
		}
		e.read(len(in.Labels))
		good, at = append(good, text), append(at, i)
	}
	labels, err := labels(ctx, m.Model, good, s.options.MaxSource)
	if err != nil {
		return nil, err
	}
	for i, l := range labels {
		answer.Data[at[i]] = l
	}
	return encode(answer)
}

// labels classifies or tags texts of at most maxSource tokens.
func labels(ctx context.Context, m *pipeline.Model, texts []string, maxSource int) (list []labelJSON, err error) {
	if m.Run.Task.Value.Kind() == task.Tagging {
		found, err := m.Tag(ctx, texts, maxSource)
		for _, f := range found {
			list = append(list, newTags(f))
		}
		return list, err
	}
	found, err := m.ClassifyAll(ctx, texts, maxSource)
	for _, f := range found {
		list = append(list, newLabel(f))
	}
	return list, err
}

func newLabel(f pipeline.Classified) labelJSON {
	if f.Err != nil {
		return labelJSON{Error: failureOf(f.Err).message}
	}
	l := labelJSON{Label: f.Classes[0].Name, Probability: f.Classes[0].Probability, Unknown: f.Input.Unknown}
	for _, c := range f.Classes {
		l.Probabilities = append(l.Probabilities, labelShare{c.Name, c.Probability})
	}
	return l
}

func newTags(f pipeline.Tagged) labelJSON {
	if f.Err != nil {
		return labelJSON{Error: failureOf(f.Err).message}
	}
	l := labelJSON{Unknown: f.Input.Unknown}
	for i, classes := range f.Classes {
		l.Words = append(l.Words, wordJSON{f.Input.Labels[i], classes[0].Name, classes[0].Probability})
	}
	for _, s := range f.Spans {
		l.Spans = append(l.Spans, spanJSON{s.Type, s.Start + 1, s.End, strings.Join(f.Input.Labels[s.Start:s.End], " ")})
	}
	return l
}
