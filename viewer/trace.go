// Package viewer visualizes one run of a Universal Transformer on one input: the number of steps of each position, the weights of those
// steps in its output, and the attention of each head in each step.
//
// It takes a [Trace], a plain value without tensors, and writes it as a self-contained page ([WriteHTML]), as JSON ([WriteJSON],
// [ReadJSON]) or as text for a terminal ([WriteText]). It works on tokens, not ids, and on numbers, not models; the program that runs the
// model fills in the Trace.
//
// Letters: M positions, N target positions, K heads, T steps. Positions, steps and heads count from 1 in the output and from 0 in the
// slices.
package viewer

// Format names the JSON layout of a [Trace]. It changes when the meaning of a field changes or a field is removed. [ReadJSON] rejects
// other formats.
const Format = "universal-transformer/trace/2"

// A Trace records one run of the model on one input. Its JSON names are stable. Empty lists and nil stacks are omitted; all other
// fields are always present. Tokens are spelled as in the vocabulary, including "<end>"; pieces of words are the text that they add, with
// its blank (" man"), and bytes that are a part of a character are numbers ("\\xe6"). This package decides how they are displayed.
type Trace struct {
	Version    string `json:"version"`    // version of the program that ran the model
	Model      string `json:"model"`      // one line: "adaptive (ACT, halted states copied), width 64, 4 heads, at most 6 steps"
	Task       string `json:"task"`       // "reverse"
	Experiment string `json:"experiment"` // name of the run that trained the weights
	Checkpoint int64  `json:"checkpoint"` // number of training steps of the weights

	Input   string   `json:"input,omitempty"`   // text of the input; "" in traces of earlier versions
	Unknown []string `json:"unknown,omitempty"` // tokens of the input that the model does not know and reads as "<unknown>"
	Source  []string `json:"source,omitempty"`  // tokens of the input; of a language model, the prompt
	// Target holds the token written at each decoder position. The input of the decoder at position k is the previous token,
	// Target[k-1], and nothing at the first position.
	Target    []string `json:"target,omitempty"`
	Output    []string `json:"output,omitempty"`    // tokens of the model's answer
	Reference []string `json:"reference,omitempty"` // tokens of the correct answer, if it is known

	Encoder *Stack `json:"encoder,omitempty"` // nil for a decoder-only model
	Decoder *Stack `json:"decoder,omitempty"` // nil for an encoder-only model

	// Readouts holds a readout for each decoder position, [N], for each position of a tagger, [M], or a single one for a classifier or a
	// pointer. Their steps are those of the decoder or, without one, of the encoder. nil if they were not recorded.
	Readouts []Readout `json:"readouts,omitempty"`
	// Exit describes when positions ended if that was not as trained: "confidence of at least 0.9"; omitted if as trained.
	Exit string `json:"exit,omitempty"`
}

// A Stack records the recurrence of the encoder or of the decoder. M below is len(Tokens); in a decoder it is the number of target
// positions.
type Stack struct {
	Tokens     []string    `json:"tokens"`               // [M]; in a decoder, the token written at the position
	Updates    []float64   `json:"updates"`              // [M] n: number of steps of the position
	Remainders []float64   `json:"remainders,omitempty"` // [M] r; nil if the depth is fixed
	Weights    [][]float64 `json:"weights,omitempty"`    // [T][M] u of each step; nil if the depth is fixed
	// Limit is the maximum number of steps of a position that halts by itself, at which the others are stopped; 0 if the depth is fixed, or in
	// traces of earlier versions.
	Limit int `json:"limit,omitempty"`

	// Changes is the Euclidean norm of the change of the state in each step, |H^t - H^{t-1}|, [T][M]; 0 where a halted state is copied. At most
	// the largest float32.
	// nil if it was not recorded.
	Changes [][]float64 `json:"changes,omitempty"`

	Attention      [][][][]float64 `json:"attention,omitempty"`       // [T][K][M queries][M keys], self attention
	CrossAttention [][][][]float64 `json:"cross_attention,omitempty"` // [T][K][M queries][encoder's M keys]
}

// steps returns T: the number of recorded steps or, if only Updates is known, the maximum number of steps of a position.
func (s *Stack) steps() int {
	maximum := 0
	for _, n := range s.Updates {
		maximum = max(maximum, int(n))
	}
	return max(maximum, len(s.Weights), len(s.Changes), len(s.Attention), len(s.CrossAttention))
}

// adaptive reports whether the positions of the stack halt individually.
func (s *Stack) adaptive() bool { return len(s.Weights) > 0 || s.Remainders != nil }

// mean returns the mean ponder time of the positions.
func (s *Stack) mean() float64 {
	sum := 0.0
	for _, n := range s.Updates {
		sum += n
	}
	return sum / float64(len(s.Updates))
}
