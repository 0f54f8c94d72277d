package recipes

import (
	"universal-transformer/experiment"
	"universal-transformer/subword"
	"universal-transformer/task/lambada"
)

// novelNeeds are the data of the columns on many novels: the passages, and a folder of novels of about 1880 to 1965, some 27 million words.
var novelNeeds = []Need{lambadaNeeds[0], manyNovels("task.prose")}

func manyNovels(field string) Need {
	return Need{Name: "novels", Field: field, Default: novelsFolder, Usage: "a folder of many novels to train on"}
}

// novels returns a task on the folder of novels; one is held out for the control set.
func novels() lambada.Data {
	return lambada.Data{Path: lambadaNeeds[0].Default, Version: lambada.Plain, Prose: novelsFolder, KeptOut: "heyer_the-black-moth_38703.txt"}
}

// novelsLanguage is a language model of subwords, so that it can predict every last word.
func novelsLanguage() experiment.Run {
	r := lambadaLanguage()
	r.Task.Value = lambada.Language{Data: novels(), Length: 128, InSubwords: true, Choice: subword.Choice{TokenizerSize: 4000}}
	r.Training.Steps = 6000
	r.Training.Batch = experiment.Batch{Tokens: 1536, Boundaries: []int{32, 64, 96, 127, 160}}
	return r
}

// novelsWords is a language model of the words that novelsReading knows, which starts from its weights.
func novelsWords() experiment.Run {
	r := lambadaLanguage()
	r.Task.Value = lambada.Language{Data: knownNovels(), Length: 96}
	r.Training.Steps = 4000
	return r
}

// novelsReading is reading comprehension as in the column reading, on passages of the novels.
func novelsReading() experiment.Run {
	r := lambadaReading()
	r.Task.Value = lambada.Reading{Data: knownNovels(), Hidden: 0.8, Withheld: true}
	r.Training.Steps, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 3000, 300, 300
	return r
}

// knownNovels are the novels with about as many known words as the six of books.
func knownNovels() lambada.Data {
	d := novels()
	d.Vocabulary = novelsVocabulary
	return d
}
