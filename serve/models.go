package serve

import (
	"io"
	"net/http"
	"path"
	"strings"

	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// Kinds of models, as /v1/models lists them.
const (
	generates  = "completions"
	classifies = "classify"
)

// kind returns what a model answers requests for.
func kind(m *pipeline.Model) string {
	switch m.Run.Task.Value.Kind() {
	case task.Classification, task.Tagging:
		return classifies
	}
	return generates
}

// mustBe returns an error if a model is not of the kind that an endpoint is for.
func mustBe(e *entry, m *loaded, want string) error {
	if got := kind(m.Model); got != want {
		return invalid("model", "%s does not answer here: use /v1/%s", e.name, got)
	}
	return nil
}

// modelJSON is a model in /v1/models.
type modelJSON struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"` // when it was loaded, in seconds since 1970
	OwnedBy string `json:"owned_by"`
	Kind    string `json:"kind"` // the endpoint for its answers
	Task    string `json:"task"`
	Step    int64  `json:"step"` // of the checkpoint

	Reads    string     `json:"reads"`    // what an input is: "story", "prompt", "sentence", "program", "text" or "line"
	Examples []string   `json:"examples"` // inputs; none if the task reads them from files
	Traces   bool       `json:"traces"`   // whether /v1/trace has something to show
	Exits    []exitRule `json:"exits"`    // that /v1/trace accepts; none if the depth cannot be changed
}

// profile is what people need to know to try a model: fields of modelJSON.
type profile struct {
	Reads    string
	Examples []string
	Traces   bool
	Exits    []exitRule
}

// exitRule is a rule with settings from few steps to many.
type exitRule struct {
	Rule     string    `json:"rule"`
	Settings []float64 `json:"settings"`
}

// examples is the number of inputs of a profile.
const examples = 5

func newProfile(m *pipeline.Model) profile {
	p := profile{Reads: reads(m), Examples: m.Samples(examples), Traces: m.Traces(), Exits: []exitRule{}}
	for _, rule := range pipeline.DepthRuleNames() {
		exits, _ := m.DepthExits([]string{rule}, 0) // a rule that does not fit the model is left out
		r := exitRule{Rule: rule}
		for _, e := range exits[min(1, len(exits)):] { // the first one is as trained
			if r.Settings = append(r.Settings, e.Setting); len(r.Settings) == maxExitSteps {
				break
			}
		}
		if len(r.Settings) > 0 {
			p.Exits = append(p.Exits, r)
		}
	}
	return p
}

// reads returns what an input of a model is.
func reads(m *pipeline.Model) string {
	definition, name := m.Run.Task.Value, m.Run.TaskName()
	switch {
	case name == "babi":
		return "story"
	case definition.Kind() == task.LanguageModeling:
		return "prompt"
	case strings.HasPrefix(name, "execute_"):
		return "program"
	case name == "translation" || definition.Kind() == task.Tagging:
		return "sentence"
	case definition.Kind() == task.Classification:
		return "text"
	}
	return "line"
}

// health answers ok until the server is closed.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	m, err := s.models[0].use()
	if err != nil {
		writeFailure(w, err)
		return
	}
	m.users.Done()
	_, _ = io.WriteString(w, "ok\n")
}

func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	models := []modelJSON{}
	for _, e := range s.models {
		m, err := e.use()
		if err != nil {
			writeFailure(w, err)
			return
		}
		models = append(models, newModel(e, m))
		m.users.Done()
	}
	writeJSON(w, http.StatusOK, struct {
		Object string      `json:"object"`
		Data   []modelJSON `json:"data"`
	}{"list", models})
}

// aModel is the path of one model, with its name in place of the last element.
const aModel = "/v1/models/{model}"

// describe answers with the description of one model.
func (s *Server) describe(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.URL.Path)
	e, m, err := s.model(&name)
	if err != nil {
		writeFailure(w, err)
		return
	}
	defer m.users.Done()
	writeJSON(w, http.StatusOK, newModel(e, m))
}

func newModel(e *entry, m *loaded) modelJSON {
	return modelJSON{e.name, "model", m.since.Unix(), "ut", kind(m.Model), m.Run.Task.Value.String(), m.Step, m.profile.Reads, m.profile.Examples, m.profile.Traces, m.profile.Exits}
}
