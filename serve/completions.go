package serve

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"universal-transformer/decoding"
	"universal-transformer/pipeline"
)

// completionRequest is the body of /v1/completions.
type completionRequest struct {
	Model       *string         `json:"model"`
	Prompt      json.RawMessage `json:"prompt"`      // a string or an array of strings
	MaxTokens   *whole          `json:"max_tokens"`  // missing: enough for the task
	Temperature *decimal        `json:"temperature"` // missing or 0: greedy decoding
	TopP        *decimal        `json:"top_p"`
	N           *whole          `json:"n"`
	Seed        *whole          `json:"seed"` // missing: other answers each time
	Stop        json.RawMessage `json:"stop"` // a string or an array of strings, before which answers end
	Stream      bool            `json:"stream"`
	Options     *streamOptions  `json:"stream_options"`
}

type streamOptions struct {
	Usage bool `json:"include_usage"` // the last event has the usage
	Steps bool `json:"include_steps"` // each token comes in an event of its own, with its number of steps
}

// completion is an answer of /v1/completions, or an event of its stream.
type completion struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage,omitempty"`
}

// choice is an answer, or a piece of one. Prompt i has the choices i*n to i*n + n-1.
type choice struct {
	Text     string  `json:"text"`
	Index    int     `json:"index"`
	LogProbs *string `json:"logprobs"`      // always null
	Finish   *string `json:"finish_reason"` // "stop", "length" at the limit of tokens, or null before the end

	// Unknown are the tokens of the prompt that the model does not know. A stream has them in the event with the reason why the answer ends.
	Unknown []string `json:"unknown,omitempty"`

	// Token and Steps are in events of a stream with include_steps: the text that a token adds, and the number of steps of the decoder's
	// position that chose it, 0 if the model has none.
	Token *string `json:"token,omitempty"`
	Steps *int    `json:"steps,omitempty"`
}

// usage counts tokens: those of each prompt once, and those of all answers without their ends and without texts of stop.
type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// job is a valid request for completions.
type job struct {
	*loaded
	entry   *entry
	lines   []string // each prompt n times
	options pipeline.DecodeOptions
	tokens  int // of all prompts
	stream  streamOptions
	reply   completion
}

func (s *Server) complete(ctx context.Context, w http.ResponseWriter, body []byte) ([]byte, error) {
	var r completionRequest
	if err := parse(body, &r); err != nil {
		return nil, err
	}
	if err := r.supported(body); err != nil {
		return nil, err
	}
	e, m, err := s.model(r.Model)
	if err != nil {
		return nil, err
	}
	defer m.users.Done()
	j := &job{loaded: m, entry: e}
	if r.Options != nil {
		j.stream = *r.Options
	}
	j.reply = completion{ID: "cmpl-" + rand.Text(), Object: "text_completion", Created: time.Now().Unix(), Model: e.name}
	if err := s.prepare(j, r); err != nil {
		return nil, err
	}
	e.read(j.tokens)
	if r.Stream {
		return nil, s.stream(ctx, w, j)
	}
	answers, err := m.Decode(ctx, j.lines, j.options)
	if err != nil {
		return nil, err
	}
	u, err := j.finish(answers)
	if err != nil {
		return nil, err
	}
	j.reply.Usage = &u
	for i, a := range answers {
		j.reply.Choices = append(j.reply.Choices, choice{Text: a.Text, Index: i, Finish: reason(a), Unknown: a.Unknown})
	}
	return encode(j.reply)
}

// unsupported are fields of the OpenAI API that would change an answer, and have no effect here.
var unsupported = []string{"best_of", "echo", "frequency_penalty", "logit_bias", "logprobs", "presence_penalty", "suffix"}

// supported returns an error if a request, whose body is given, asks for something with one of these fields.
func (r completionRequest) supported(body []byte) error {
	fields, err := topFields(body)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if f := fields[name]; slices.Contains(unsupported, name) && !r.asksNothing(name, f.Value) {
			return invalid(f.Name, "%s is not supported: leave it out", f.Name)
		}
	}
	return nil
}

// answers returns n, or what it is if it is missing.
func (r completionRequest) answers() whole {
	if r.N == nil {
		return whole{value: 1, text: "1"}
	}
	return *r.N
}

// asksNothing reports whether the value of an unsupported field asks for nothing, as clients send it: null, false, what is empty, 0 but for
// logprobs, which asks for the chosen tokens, and as many answers in best_of as in n, or one, the default.
func (r completionRequest) asksNothing(name string, text json.RawMessage) bool {
	var value any
	if json.Unmarshal(text, &value) != nil {
		return false // a number that is too large
	}
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return value == false || value == 0.0 && name != "logprobs" || value == "" || name == "best_of" && (value == 1.0 || value == float64(r.answers().value))
}

// prepare checks a request, and fills in the job.
func (s *Server) prepare(j *job, r completionRequest) error {
	if err := mustBe(j.entry, j.loaded, generates); err != nil {
		return err
	}
	prompts, err := readTexts("prompt", r.Prompt)
	if err != nil {
		return err
	}
	if j.options.Stop, err = readTexts("stop", r.Stop); err != nil {
		return err
	}
	n, err := r.answers().between("n", s.options.MaxPrompts)
	if err != nil {
		return err
	}
	if err := s.several("prompt", len(prompts)); err != nil {
		return err
	}
	if all := len(prompts) * n; all > s.options.MaxPrompts {
		return invalid("n", "n is %d for %d prompts: %d answers are more than %d: lower n, or send the prompts in several requests", n, len(prompts), all, s.options.MaxPrompts)
	}
	for i, prompt := range prompts {
		in, err := s.input(j.loaded, prompt)
		if err != nil {
			return invalid("prompt", "prompt %d: %v", i+1, failureOf(err))
		}
		j.tokens += len(in.Labels)
		for range n {
			j.lines = append(j.lines, prompt)
		}
	}
	return s.method(j, r)
}

// Limits of the fields of a request.
const (
	minTemperature = 0.01
	maxTemperature = 10
	maxStops       = 16
)

// method determines how the prompts are answered.
func (s *Server) method(j *job, r completionRequest) error {
	if r.MaxTokens != nil {
		var err error
		if j.options.MaxLength, err = r.MaxTokens.between("max_tokens", s.options.MaxTokens); err != nil {
			return err
		}
	}
	if stops := j.options.Stop; len(stops) > maxStops {
		return invalid("stop", "%d texts are more than %d", len(stops), maxStops)
	} else if slices.Contains(stops, "") {
		return invalid("stop", "stop has an empty text")
	}
	j.options.MaxSource = s.options.MaxSource
	p := 1.0
	if r.TopP != nil {
		p = float64(*r.TopP)
	}
	if !(p > 0 && p <= 1) {
		return invalid("top_p", "top_p is %v: it must be above 0 and at most 1", p)
	}
	if r.Seed != nil && r.Seed.beyond {
		return invalid("seed", "seed is %s: it must be %d to %d", shortened(r.Seed.text), math.MinInt64, math.MaxInt64)
	}
	if r.Temperature == nil || *r.Temperature == 0 {
		return nil
	}
	if t := *r.Temperature; t < minTemperature || t > maxTemperature {
		return invalid("temperature", "temperature is %v: it must be 0, or %v to %v", t, minTemperature, maxTemperature)
	}
	j.options.Sampling = decoding.Sampling{Temperature: float64(*r.Temperature), TopP: p}
	j.options.First = 1 // the first line of a file has this number
	if r.Seed != nil {
		j.options.Seed = uint64(r.Seed.value)
	} else {
		j.options.Seed = randomSeed()
	}
	return nil
}

func randomSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.NativeEndian.Uint64(b[:])
}

// finish counts tokens, and returns the error of the first prompt without an answer.
func (j *job) finish(answers []pipeline.Answer) (u usage, err error) {
	u.PromptTokens = j.tokens
	for i, a := range answers {
		if a.Err != nil {
			return u, fmt.Errorf("choice %d: %w", i, a.Err)
		}
		u.CompletionTokens += a.Tokens()
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u, nil
}

// reason returns why an answer ends.
func reason(a pipeline.Answer) *string {
	why := "stop"
	if !a.Finished {
		why = "length"
	}
	return &why
}
