package agreement

import "strings"

// irregular maps irregular verbs from singular to plural. It includes verbs in "ie", whose singular is spelled like that of verbs in
// "y".
var irregular = map[string]string{
	"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go",
	"belies": "belie", "dies": "die", "lies": "lie", "ties": "tie", "underlies": "underlie", "vies": "vie",
}

// pluralOf returns the plural form of a singular verb in the present tense: "is", "are"; "tries", "try"; "passes", "pass"; "keeps", "keep".
// It returns false if the word does not look like one.
func pluralOf(verb string) (string, bool) {
	if form, ok := irregular[verb]; ok {
		return form, true
	}
	if stem, ok := strings.CutSuffix(verb, "ies"); ok && stem != "" {
		return stem + "y", true
	}
	for _, end := range []string{"ss", "sh", "ch", "x", "zz", "o"} {
		if stem, ok := strings.CutSuffix(verb, end+"es"); ok {
			return stem + end, true
		}
	}
	stem, ok := strings.CutSuffix(verb, "s")
	return stem, ok && stem != ""
}

// singularOf returns the singular form of a plural verb in the present tense, by the inverse rule.
func singularOf(verb string) string {
	for singular, plural := range irregular {
		if verb == plural {
			return singular
		}
	}
	if stem, ok := strings.CutSuffix(verb, "y"); ok && stem != "" && !strings.ContainsRune("aeiou", rune(stem[len(stem)-1])) {
		return stem + "ies"
	}
	for _, end := range []string{"ss", "sh", "ch", "x", "zz", "o"} {
		if strings.HasSuffix(verb, end) {
			return verb + "es"
		}
	}
	return verb + "s"
}

// counterpart returns the other form of a verb.
func counterpart(verb string, isPlural bool) (string, bool) {
	if isPlural {
		return singularOf(verb), verb != ""
	}
	return pluralOf(verb)
}
