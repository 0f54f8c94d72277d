package agreement

import "strings"

// irregular verbs, from singular to plural, and those in "ie", whose singular is spelled like that of verbs in "y".
var irregular = map[string]string{
	"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go",
	"belies": "belie", "dies": "die", "lies": "lie", "ties": "tie", "underlies": "underlie", "vies": "vie",
}

// Plural is the plural form of a singular verb of the present tense: "is", "are"; "tries", "try"; "passes", "pass"; "keeps", "keep".
// False if the word does not end like one.
func Plural(verb string) (string, bool) {
	if form, is := irregular[verb]; is {
		return form, true
	}
	if stem, is := strings.CutSuffix(verb, "ies"); is && stem != "" {
		return stem + "y", true
	}
	for _, end := range []string{"ss", "sh", "ch", "x", "zz", "o"} {
		if stem, is := strings.CutSuffix(verb, end+"es"); is {
			return stem + end, true
		}
	}
	stem, is := strings.CutSuffix(verb, "s")
	return stem, is && stem != ""
}

// Singular is the singular form of a plural verb of the present tense, by the same rule read backwards.
func Singular(verb string) string {
	for singular, plural := range irregular {
		if verb == plural {
			return singular
		}
	}
	if stem, is := strings.CutSuffix(verb, "y"); is && stem != "" && !strings.ContainsRune("aeiou", rune(stem[len(stem)-1])) {
		return stem + "ies"
	}
	for _, end := range []string{"ss", "sh", "ch", "x", "zz", "o"} {
		if strings.HasSuffix(verb, end) {
			return verb + "es"
		}
	}
	return verb + "s"
}

// counterpart is the other form of a verb.
func counterpart(verb string, isPlural bool) (string, bool) {
	if isPlural {
		return Singular(verb), verb != ""
	}
	return Plural(verb)
}
