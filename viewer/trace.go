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

// Format names the JSON layout of a [Trace]. It changes when a field changes its meaning or is removed; [ReadJSON] rejects any other.
const Format = "universal-transformer/trace/2"

// Trace records one run of the model on one input. Its JSON names are stable: empty lists and absent stacks are omitted, everything else
// is always present. Tokens are spelled as in the vocabulary, including "<end>"; this package decides how they are displayed.
type Trace struct {
	Version    string `json:"version"`    // the version of the program that ran the model
	Model      string `json:"model"`      // one line: "adaptive (ACT, halted states copied), width 64, 4 heads, at most 6 steps"
	Task       string `json:"task"`       // "reverse"
	Experiment string `json:"experiment"` // the experiment the weights come from
	Checkpoint int64  `json:"checkpoint"` // training steps behind the weights

	Source []string `json:"source,omitempty"` // what the model was asked
	// Target holds one token per decoder position: the one written there. The input of the decoder at position k is the token before it,
	// Target[k-1], and nothing at the first position.
	Target    []string `json:"target,omitempty"`
	Output    []string `json:"output,omitempty"`    // what the model answered
	Reference []string `json:"reference,omitempty"` // the right answer, where it is known

	Encoder *Stack `json:"encoder,omitempty"` // nil for a decoder-only model
	Decoder *Stack `json:"decoder,omitempty"` // nil for an encoder-only model
}

// Stack records the recurrence of the encoder or of the decoder. M below is len(Tokens); for a decoder it is the number of target
// positions.
type Stack struct {
	Tokens     []string    `json:"tokens"`               // [M] for a decoder the token written at the position
	Updates    []float64   `json:"updates"`              // [M] n: the steps the position ran
	Remainders []float64   `json:"remainders,omitempty"` // [M] r; nil for a fixed depth
	Weights    [][]float64 `json:"weights,omitempty"`    // [T][M] u per step; nil for a fixed depth

	Attention      [][][][]float64 `json:"attention,omitempty"`       // [T][K][M queries][M keys], self attention
	CrossAttention [][][][]float64 `json:"cross_attention,omitempty"` // [T][K][M queries][encoder's M keys]
}

// steps is T: the number of recorded steps or, if only Updates is known, the largest number of steps of a position.
func (s *Stack) steps() int {
	most := 0
	for _, n := range s.Updates {
		most = max(most, int(n))
	}
	return max(most, len(s.Weights), len(s.Attention), len(s.CrossAttention))
}

// adaptive reports whether the positions of this stack decide for themselves when to halt.
func (s *Stack) adaptive() bool { return len(s.Weights) > 0 || s.Remainders != nil }

// mean is the average ponder time over positions.
func (s *Stack) mean() float64 {
	sum := 0.0
	for _, n := range s.Updates {
		sum += n
	}
	return sum / float64(len(s.Updates))
}
