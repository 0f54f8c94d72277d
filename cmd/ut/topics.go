package main

import "strings"

// A topic is a text of ut help that belongs to no command.
type topic struct{ name, short, text string }

// topics are the texts of ut help TOPIC.
var topics = []topic{
	{"configuration", "recipes, fields and --set", `A run is described by a configuration: a task, a model, training and a seed. A recipe is a
configuration with a name; ut list prints the recipes, and ut show RECIPE all fields of one.

  ut train own-pairs --set task.path=pairs.tsv --set model.width=128
  ut train --config mine.json
  ut show model.halting                 explains fields: meaning, default, the meaning of 0

--set PATH=VALUE changes a field, and may be repeated. The value is JSON, or else text. A part that
comes in variants is an object with one key, the variant's name:

  --set 'model.halting={"frozen": {"max_steps": 6}}'
  --set model.halting.frozen.max_steps=6            the same, with the variant's other defaults

The name of the variant in use may be left out: model.width is model.encoder_decoder.width. A file
for --config has the form that ut show prints; missing fields are as in the recipe own-... of the task.
A run keeps its configuration in config.json. ut train --resume RUN --set ... may change the number
of updates, the schedule, intervals, checkpoints to keep, events, stopping criteria and where the
data are.`},
	{"halting", "how many steps a position runs", `model.halting decides how often the step is applied at each position.

  frozen    adaptive: a position halts when its halting probabilities sum to more than
            1 - epsilon; its state is then copied, as in section 2.2 of the paper
  graves    adaptive: halted states are still updated, but the output no longer changes
            (Graves, 2016)
  listing   adaptive, as printed in the paper's appendix B: the weights do not sum to 1
  fixed     every position runs the same number of steps
  random    a number of steps that is drawn for each example in training
  length    as many steps as the source has positions

Adaptive policies have max_steps, epsilon and bias, the initial bias of the halting unit: 1 starts
with about two steps, -3 with many. training.ponder.weight is the weight of the ponder cost, and
training.ponder.warmup the number of updates in which it grows. With untied_layers and fixed the
model is a Transformer. ut show model.halting explains all fields; ut help exits is about stopping
earlier than trained.`},
	{"positions", "positions, counting and coordinates", `Three fields say how a model knows where a token is.

  model.coordinates   what is added to the states in every step: sinusoidal, as in the paper, or
                      tensor2tensor, as in the authors' code
  model.counting      where the positions of a source are counted from: from_start, as in the
                      paper; from_end; both_ends, with half of the channels each, which
                      generalizes to longer sources; restarting, after each separator
  model.positions     which positions training uses: from_one, or random positions up to a
                      maximum, so that none is unknown later: random_offset (one offset for a
                      sequence), random_subset (an increasing subset), random_runs

  ut train algorithmic/copy --set 'model.positions={"random_offset": {"max": 512}}'
  ut show model.counting`},
	{"exits", "stopping earlier than trained", exitText() + `

The flags belong to ut decode, eval, classify, tag, answer, translate, score and trace; ut depth
measures what they save.

  ut decode runs/pairs --exit-confidence 0.9
  ut eval runs/pairs --exit-unchanged 2
  ut depth runs/pairs                              quality against depth

--exit-threshold is for models of adaptive depth, and below their trained threshold. --fixed-steps
overrides what the model learned. docs/depth.md has more.`},
}

// topicNamed returns the topic with a name.
func topicNamed(name string) (topic, bool) {
	for _, t := range topics {
		if t.name == name {
			return t, true
		}
	}
	return topic{}, false
}

// topicNames returns the names of all topics.
func topicNames() (names []string) {
	for _, t := range topics {
		names = append(names, t.name)
	}
	return names
}

// completeTopics offers the topics for the first argument of ut help.
func completeTopics(args []string, typed string) (list []string) {
	for _, t := range topics {
		if len(args) == 0 && strings.HasPrefix(t.name, typed) {
			list = append(list, t.name+"\t"+t.short)
		}
	}
	return list
}
