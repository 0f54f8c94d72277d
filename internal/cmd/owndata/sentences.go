package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// tagged returns a sentence and the word class of each word. Some words belong to two classes, and names are mostly new.
func tagged(rng *rand.Rand) (source, target string) {
	var words, tags []string
	add := func(w, tag string) { words, tags = append(words, w), append(tags, tag) }
	const both = "walk light look watch play show plan dream paint cook"
	phrase := func() {
		switch rng.IntN(6) {
		case 0:
			add(name(rng), "NAME")
			return
		case 1:
			add(word(rng, "he she it they"), "PRON")
			return
		}
		add(word(rng, "the a this her that every"), "DET")
		if rng.IntN(2) == 0 {
			add(word(rng, "old small green light quiet open clean"), "ADJ")
		}
		add(word(rng, "dog house river teacher garden letter "+both), "NOUN")
	}
	verb := func() {
		if rng.IntN(3) == 0 {
			add(word(rng, "never often soon"), "ADV")
		}
		if rng.IntN(3) == 0 {
			add(word(rng, "will can must"), "AUX")
		}
		add(word(rng, "see find open clean "+both), "VERB")
	}
	phrase()
	verb()
	phrase()
	if rng.IntN(2) == 0 {
		add(word(rng, "near behind with by"), "PREP")
		phrase()
	}
	if rng.IntN(4) == 0 {
		add(word(rng, "that because and"), "CONJ")
		phrase()
		verb()
	}
	add(".", "PUNCT")
	return strings.Join(words, " "), strings.Join(tags, " ")
}

// name makes a name of two or three syllables.
func name(rng *rand.Rand) string {
	s := ""
	for range 2 + rng.IntN(2) {
		s += word(rng, "ba do ka li mi no ra se ta vu") + pick(rng, "", "", "n", "r", "l")
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// saveOpinions writes reviews with the classes good, bad and mixed. Negations turn a word into its opposite.
func saveOpinions(d dataset, dir string) error {
	rng, seen := d.rng(), map[string]bool{}
	var rows [][]string
	for len(rows) < 3400 {
		text, label := opinion(rng)
		if !seen[text] {
			seen[text] = true
			rows = append(rows, []string{text, label})
		}
	}
	return saveLabeled(d, dir, rows, 1000)
}

func opinion(rng *rand.Rand) (text, label string) {
	clause := func() (string, bool) {
		good := rng.IntN(2) == 0
		w := word(rng, "good great lovely superb decent funny touching bright clever")
		if !good {
			w = word(rng, "bad awful dull slow weak boring clumsy silly flat")
		}
		what := word(rng, "film book play music story plot acting ending cast staging")
		if rng.IntN(3) == 0 {
			return fmt.Sprintf("the %s %s %s", what, pick(rng, "was not", "was never", "was hardly", "did not seem"), w), !good
		}
		return fmt.Sprintf("the %s %s %s", what, pick(rng, "was", "was very", "seemed"), w), good
	}
	first, one := clause()
	second, two := clause()
	text = fmt.Sprintf("%s%s %s%s", pick(rng, "", "", "Honestly, ", "To me "), first+pick(rng, ", and", ", but", ", while", ";"), second, pick(rng, ".", ".", "!", " in the end."))
	switch {
	case one != two:
		return text, "mixed"
	case one:
		return text, "good"
	}
	return text, "bad"
}
