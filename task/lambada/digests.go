package lambada

import "universal-transformer/task"

// Digests returns the digests of the training text and of the passages. Without a development set the training text has the validation
// part, too.
func (t *Task) Digests() task.Digests {
	training := task.NewDigest()
	training.IDs(t.corpus.ids)
	training.Texts(t.corpus.rare...)
	addPassages(training, t.learned)
	digests := task.Digests{Training: training.String()}
	if len(t.sets.development) > 0 {
		validation := task.NewDigest()
		addPassages(validation, t.sets.development)
		digests.Validation = validation.String()
	}
	test := task.NewDigest()
	addPassages(test, t.sets.test)
	digests.Test = test.String()
	return digests
}

func addPassages(d *task.Digest, passages []passage) {
	for _, p := range passages {
		d.Texts(p.words...)
	}
}
