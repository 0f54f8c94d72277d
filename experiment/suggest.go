package experiment

import (
	"errors"
	"slices"
	"strings"

	"universal-transformer/internal/strictjson"
)

// aliases are names that other programs use for a field, with the fields that may be meant; the first that a run has is offered. They are
// never accepted.
var aliases = map[string][]string{
	"lr": rates, "learning_rate": rates, "rate": rates, "max_lr": rates, "peak": rates, "warmup_steps": {"training.schedule.warmup"},
	"epochs": steps, "num_epochs": steps, "n_epochs": steps, "max_epochs": steps, "max_steps": steps, "num_steps": steps, "iterations": steps, "updates": steps,
	"layers": depths, "num_layers": depths, "n_layers": depths, "n_layer": depths, "depth": depths, "encoder_layers": depths, "decoder_layers": depths,
	"d_model": {"model.width"}, "hidden_size": {"model.width"}, "hidden": {"model.width"}, "dim": {"model.width"}, "embed_dim": {"model.width"},
	"embedding_size": {"model.width"}, "num_heads": {"model.heads"}, "n_heads": {"model.heads"}, "n_head": {"model.heads"}, "nhead": {"model.heads"},
	"d_ff": {"model.transition.filter"}, "ffn_dim": {"model.transition.filter"}, "filter_size": {"model.transition.filter"}, "intermediate_size": {"model.transition.filter"},
	"batch_size": {"training.batch.rows"}, "max_tokens": {"training.batch.tokens"}, "early_stopping": {"training.stop.patience"},
	"clip": {"training.clip_norm"}, "grad_clip": {"training.clip_norm"}, "gradient_clip": {"training.clip_norm"}, "max_grad_norm": {"training.clip_norm"},
	"accumulation": {"training.accumulate"}, "gradient_accumulation": {"training.accumulate"}, "random_seed": {"seed"},
	"vocab_size": {"task.tokenizer_size"}, "vocabulary_size": {"task.tokenizer_size"}, "max_len": {"task.max_length"}, "data": {"task.path"}, "file": {"task.path"},
}

var (
	rates  = []string{"training.schedule.peak", "training.schedule.rate", "training.schedule.factor"}
	steps  = []string{"training.steps"}
	depths = []string{"model.halting.steps", "model.halting.max_steps", "model.layers"}
)

// Suggest returns the field of the run that is probably meant by a path that is not one: a field of that name elsewhere, or what other
// programs call so. It returns false if there is none. Misspellings are left to [strictjson.Nearest].
func (r Run) Suggest(path string) (string, bool) {
	var places []string
	for _, e := range r.Explain() {
		places = append(places, withoutVariants(e.Field))
	}
	name := strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])
	for _, field := range aliases[name] {
		if field != path && slices.Contains(places, field) {
			return field, true
		}
	}
	for _, place := range places {
		if strings.HasSuffix(place, "."+name) && place != path && place != withoutVariants(path) {
			return place, true
		}
	}
	return "", false
}

// withoutVariants returns the path of a field without the keys of variants, which may be left out.
func withoutVariants(path string) string {
	for _, p := range parts {
		if rest, ok := strings.CutPrefix(path, p.place()+"."); ok {
			_, after, _ := strings.Cut(rest, ".")
			path = p.place() + "." + after
		}
	}
	return path
}

// suggestKey adds the field that is probably meant to the error for an unknown key of a configuration.
func suggestKey(r Run, err error) error {
	var key *strictjson.UnknownKeyError
	if errors.As(err, &key) && key.Nearest == "" {
		key.Nearest, _ = r.Suggest(strings.TrimPrefix(key.Path+"."+key.Key, "."))
	}
	return err
}
