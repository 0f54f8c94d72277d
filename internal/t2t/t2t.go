// Package t2t converts the variables of tensor2tensor's Universal Transformer, the authors' code, to the parameters of this project's models.
//
// It knows the names that tensor2tensor gives variables, such as
//
//	universal_transformer/body/encoder/universal_transformer_basic/rec_layer_0/self_attention/multihead_attention/q/kernel
//
// and the recurrences "basic" (fixed depth) and "act" with act_type "basic" (halting.Listing), with either transition, norms before or
// after the sub-layers, learned or sinusoidal step signals, shared or separate tables, with or without an encoder. Variables of anything
// else, such as gates, are errors that name them. Variables do not tell everything: embeddings are taken to be multiplied by the root of
// the width, and positions to count from 0, as in all of tensor2tensor's configurations.
package t2t

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"universal-transformer/halting"
	"universal-transformer/internal/safetensors"
	"universal-transformer/universal"
)

// Options are the hyperparameters that the variables do not tell.
type Options struct {
	Heads       int     // num_heads
	Steps       int     // num_rec_steps or act_max_steps; 0: the number of learned step signals
	Epsilon     float64 // act_epsilon; 0 means 0.01
	TargetSpace int     // the problem's target space id, which selects a row of target_space_embedding; -1: none was given
}

// A Model is what variables were converted to.
type Model struct {
	Config        universal.Config // of a universal.EncoderDecoder, or of a universal.Decoder
	LanguageModel bool
	Parameters    []safetensors.Tensor // F32
	Notes         []string             // what was left out, and what was assumed
}

// notWeights matches variables that are the state of training.
var notWeights = regexp.MustCompile(`^global_step$|^losses_avg/|^training/|(^|/)beta[12]_power$|/(Lazy|Multistep)?Adam(_1)?$|/[Aa]dafactor[^/]*$`)

// Convert converts the variables of a checkpoint.
func Convert(variables []safetensors.Tensor, o Options) (*Model, error) {
	c := &conversion{options: o, tables: map[string][]shard{}, parameters: map[string]array{}, from: map[string]string{}}
	left := 0
	for _, v := range variables {
		name := strings.TrimSuffix(v.Name, ":0")
		if notWeights.MatchString(name) {
			left++
			continue
		}
		if err := c.add(name, v); err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Name, err)
		}
	}
	if left > 0 {
		c.notes = append(c.notes, fmt.Sprintf("left out, as the state of training: %d of %d variables", left, len(variables)))
	}
	if c.recurrence == "act" {
		c.notes = append(c.notes, "the variables do not tell act_type: basic is assumed")
	}
	return c.model()
}

// An array is a matrix or a vector of numbers.
type array struct {
	shape  []int
	values []float32
}

// A shard is a part of a table, in the order of numbers.
type shard struct {
	number int
	array
}

// conversion collects what variables say.
type conversion struct {
	options    Options
	recurrence string             // "basic" or "act"
	postNorm   bool               // norms stand after sub-layers
	preNorm    bool               // or before
	tables     map[string][]shard // by "shared", "input_emb", "target_emb" and "softmax"
	modality   map[string]string  // of each kind of table
	space      *array             // target_space_embedding
	parameters map[string]array
	from       map[string]string // the variable that a parameter comes from
	notes      []string
}

var (
	table     = regexp.MustCompile(`^(symbol_modality_\d+_\d+)/(shared|input_emb|target_emb|softmax)/weights_(\d{1,4})$`)
	inStack   = regexp.MustCompile(`^body/(encoder|decoder)/universal_transformer_([a-z]+)/(.+)$`)
	finalNorm = regexp.MustCompile(`^body/(encoder|decoder)/layer_pre(?:post)?process/layer_norm/layer_norm_(scale|bias)$`)
	attention = regexp.MustCompile(`^rec_layer_0/(self|encdec)_attention/multihead_attention/(q|k|v|output_transform)/kernel$`)
	norm      = regexp.MustCompile(`^rec_layer_0/(self_attention|encdec_attention|ffn)/layer_(preprocess|postprocess|prepostprocess|prepostprocess_1)/layer_norm/layer_norm_(scale|bias)$`)
	layer     = regexp.MustCompile(`^rec_layer_0/ffn/conv([12])/(kernel|bias|depthwise_kernel|pointwise_kernel)$`)
	pondering = regexp.MustCompile(`^sigmoid_activation_for_pondering/dense/(kernel|bias)$`)
)

// add adds a variable, whose name has no suffix.
func (c *conversion) add(name string, v safetensors.Tensor) error {
	model, rest, _ := strings.Cut(name, "/")
	if model != "universal_transformer" {
		return errors.New("it does not belong to a model universal_transformer: save that model's variables only")
	}
	values, err := floats(v)
	if err != nil {
		return err
	}
	a := array{v.Shape, values}
	switch {
	case table.MatchString(rest):
		return c.addTable(table.FindStringSubmatch(rest), a)
	case rest == "body/target_space_embedding/kernel":
		c.space = &a
		return a.rank(2)
	case finalNorm.MatchString(rest):
		m := finalNorm.FindStringSubmatch(rest)
		return c.set(name, m[1]+".output_norm."+gainOrBias(m[2]), a, 1)
	case inStack.MatchString(rest):
		m := inStack.FindStringSubmatch(rest)
		return c.addToStack(name, m[1], m[2], m[3], a)
	}
	return errNoPlace
}

// errNoPlace is the error for a variable that no model of this project has.
var errNoPlace = errors.New("no model here has a place for it")

// addToStack adds a variable of a stack, named below its recurrence.
func (c *conversion) addToStack(name, stack, recurrence, rest string, a array) error {
	switch {
	case recurrence != "basic" && recurrence != "act":
		return fmt.Errorf("recurrence_type %q: %w; basic and act have one", recurrence, errNoPlace)
	case c.recurrence != "" && c.recurrence != recurrence:
		return fmt.Errorf("its recurrence_type is %s, that of variables before it %s", recurrence, c.recurrence)
	}
	c.recurrence = recurrence
	if rest == "layer_embedding" {
		if len(a.shape) == 4 && a.shape[1] == 1 && a.shape[2] == 1 {
			a.shape = []int{a.shape[0], a.shape[3]}
		}
		return c.set(name, stack+".step", a, 2)
	}
	if m := pondering.FindStringSubmatch(rest); m != nil && recurrence == "act" {
		if m[1] == "bias" {
			return c.set(name, stack+".halting.bias", a, 1)
		}
		return c.set(name, stack+".halting.weight", a.squeezed(1), 1)
	}
	parameter, rank := c.shared(rest)
	if parameter == "" {
		return errNoPlace
	}
	if strings.HasSuffix(rest, "_kernel") { // [w, 1, C, 1] or [1, 1, C, F]
		a = a.squeezed(4)
	}
	return c.set(name, stack+"."+parameter, a, rank)
}

// shared returns the parameter of a variable of the layers, and its rank; "" if there is none.
func (c *conversion) shared(rest string) (parameter string, rank int) {
	if m := attention.FindStringSubmatch(rest); m != nil {
		names := map[string]string{"self": "self_attention", "encdec": "cross_attention", "q": "query", "k": "key", "v": "value", "output_transform": "output"}
		return names[m[1]] + "." + names[m[2]], 2
	}
	if m := norm.FindStringSubmatch(rest); m != nil {
		if m[2] == "postprocess" || m[2] == "prepostprocess_1" {
			c.postNorm = true
		} else {
			c.preNorm = true
		}
		names := map[string]string{"self_attention": "self_attention", "encdec_attention": "cross_attention", "ffn": "transition"}
		return names[m[1]] + "_norm." + gainOrBias(m[3]), 1
	}
	m := layer.FindStringSubmatch(rest)
	if m == nil {
		return "", 0
	}
	dense, separable := map[string]string{"1": "inner", "2": "outer"}[m[1]], map[string]string{"1": "first", "2": "second"}[m[1]]
	switch m[2] {
	case "kernel":
		return "transition." + dense + ".weight", 2
	case "bias":
		return "transition." + m[1] + ".bias", 1 // of either; see model
	}
	return "transition." + separable + "." + strings.TrimSuffix(m[2], "_kernel"), 2
}

func gainOrBias(name string) string { return map[string]string{"scale": "gain", "bias": "bias"}[name] }

// addTable adds a shard of a table, [rows, D].
func (c *conversion) addTable(m []string, a array) error {
	if c.modality == nil {
		c.modality = map[string]string{}
	}
	if other := c.modality[m[2]]; other != "" && other != m[1] {
		return fmt.Errorf("%s has a table %s too, and nothing tells which one reads sources: %w", other, m[2], errNoPlace)
	}
	c.modality[m[2]] = m[1]
	var number int
	if _, err := fmt.Sscan(m[3], &number); err != nil {
		return err
	}
	c.tables[m[2]] = append(c.tables[m[2]], shard{number, a})
	return a.rank(2)
}

// set sets a parameter of the given rank.
func (c *conversion) set(variable, parameter string, a array, rank int) error {
	if other, twice := c.from[parameter]; twice {
		return fmt.Errorf("%s is the same parameter, %s", other, parameter)
	}
	c.from[parameter], c.parameters[parameter] = variable, a
	return a.rank(rank)
}

// rank returns an error unless the array has n axes.
func (a array) rank(n int) error {
	if len(a.shape) != n || slices.Contains(a.shape, 0) {
		return fmt.Errorf("its shape is %v, but it should have %d axes", a.shape, n)
	}
	return nil
}

// squeezed removes axes of length 1: of an array of four axes all of them, of others the last one.
func (a array) squeezed(axes int) array {
	switch {
	case axes == 4 && len(a.shape) == 4 && a.shape[1] == 1 && a.shape[3] == 1: // depthwise: [w, 1, C, 1]
		a.shape = []int{a.shape[0], a.shape[2]}
	case axes == 4 && len(a.shape) == 4 && a.shape[0] == 1 && a.shape[1] == 1: // pointwise: [1, 1, C, F]
		a.shape = a.shape[2:]
	case axes == 1 && len(a.shape) == 2 && a.shape[1] == 1:
		a.shape = a.shape[:1]
	}
	return a
}

// floats returns the numbers of a variable.
func floats(v safetensors.Tensor) ([]float32, error) {
	single, err := safetensors.Values[float32](v)
	if err != nil {
		double, wrong := safetensors.Values[float64](v)
		if wrong != nil {
			return nil, fmt.Errorf("it is %s: save it as float32 or float64", v.DType)
		}
		for _, x := range double {
			single = append(single, float32(x))
		}
	}
	for _, x := range single {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return nil, fmt.Errorf("it holds %v", x)
		}
	}
	return single, nil
}

// policy returns the halting policy for a number of steps.
func (c *conversion) policy(steps int) halting.Policy {
	if c.recurrence == "act" {
		epsilon := c.options.Epsilon
		if epsilon == 0 {
			epsilon = 0.01
		}
		return halting.Listing{ACT: halting.ACT{MaxSteps: steps, Epsilon: epsilon, Bias: 1, GlorotWeight: true}}
	}
	return halting.Fixed{Steps: steps}
}
