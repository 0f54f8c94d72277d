package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// noun is an English noun and its German translation, with gender and plural.
type noun struct{ english, german, gender, plural string }

var germanNouns = []noun{
	{"man", "Mann", "m", "Männer"}, {"dog", "Hund", "m", "Hunde"}, {"table", "Tisch", "m", "Tische"}, {"letter", "Brief", "m", "Briefe"},
	{"tree", "Baum", "m", "Bäume"}, {"friend", "Freund", "m", "Freunde"}, {"woman", "Frau", "f", "Frauen"}, {"cat", "Katze", "f", "Katzen"},
	{"town", "Stadt", "f", "Städte"}, {"bottle", "Flasche", "f", "Flaschen"}, {"flower", "Blume", "f", "Blumen"}, {"street", "Straße", "f", "Straßen"},
	{"child", "Kind", "n", "Kinder"}, {"house", "Haus", "n", "Häuser"}, {"book", "Buch", "n", "Bücher"}, {"horse", "Pferd", "n", "Pferde"},
	{"car", "Auto", "n", "Autos"}, {"picture", "Bild", "n", "Bilder"},
}

// verb is an English verb (third person, past participle) and its German translation (third person, participle).
type verb struct{ present, participle, german, germanParticiple string }

var germanVerbs = []verb{
	{"sees", "seen", "sieht", "gesehen"}, {"finds", "found", "findet", "gefunden"}, {"buys", "bought", "kauft", "gekauft"}, {"loves", "loved", "liebt", "geliebt"},
	{"seeks", "sought", "sucht", "gesucht"}, {"paints", "painted", "malt", "gemalt"}, {"shows", "shown", "zeigt", "gezeigt"}, {"knows", "known", "kennt", "gekannt"},
}

var germanAdjectives = [][2]string{{"old", "alt"}, {"small", "klein"}, {"new", "neu"}, {"red", "rot"}, {"beautiful", "schön"}, {"strange", "fremd"}, {"quick", "schnell"}}

// Endings of ein and der by case and gender, and of adjectives behind them.
var (
	articles = map[string]map[string][2]string{ // definite, indefinite
		"nominative": {"m": {"der", "ein"}, "f": {"die", "eine"}, "n": {"das", "ein"}},
		"accusative": {"m": {"den", "einen"}, "f": {"die", "eine"}, "n": {"das", "ein"}},
		"dative":     {"m": {"dem", "einem"}, "f": {"der", "einer"}, "n": {"dem", "einem"}},
	}
	endings = map[string]map[string][2]string{
		"nominative": {"m": {"e", "er"}, "f": {"e", "e"}, "n": {"e", "es"}},
		"accusative": {"m": {"en", "en"}, "f": {"e", "e"}, "n": {"e", "es"}},
		"dative":     {"m": {"en", "en"}, "f": {"en", "en"}, "n": {"en", "en"}},
	}
)

// nounPhrase returns a noun with its article, perhaps with an adjective, in both languages.
func nounPhrase(rng *rand.Rand, kase string) (english, german string) {
	n, kind := pick(rng, germanNouns...), rng.IntN(2)
	english, german = [2]string{"the", "a"}[kind], articles[kase][n.gender][kind]
	if kase == "accusative" && rng.IntN(5) == 0 {
		return "many " + englishPlural(n.english), "viele " + n.plural
	}
	if rng.IntN(2) == 0 {
		a := pick(rng, germanAdjectives...)
		if english == "a" && a[0] == "old" {
			english = "an"
		}
		english, german = english+" "+a[0], german+" "+a[1]+endings[kase][n.gender][kind]
	}
	return english + " " + n.english, german + " " + n.german
}

// englishPlural returns the plural of a noun of the list.
func englishPlural(n string) string {
	switch n {
	case "man", "woman":
		return n[:len(n)-2] + "en"
	case "child":
		return "children"
	}
	return plural(n)
}

// clause returns subject, verb and object. In a German subordinate clause the verb is last.
func clause(rng *rand.Rand, subordinate bool) (english, german string) {
	v := pick(rng, germanVerbs...)
	subject, subjekt := nounPhrase(rng, "nominative")
	object, objekt := nounPhrase(rng, "accusative")
	if rng.IntN(2) == 0 {
		place, ort := nounPhrase(rng, "dative")
		p := pick(rng, [2]string{"with", "mit"}, [2]string{"behind", "hinter"}, [2]string{"near", "bei"})
		object, objekt = object+" "+p[0]+" "+place, objekt+" "+p[1]+" "+ort
	}
	if rng.IntN(2) == 0 {
		english = fmt.Sprintf("%s has %s %s", subject, v.participle, object)
		if subordinate {
			return english, fmt.Sprintf("%s %s %s hat", subjekt, objekt, v.germanParticiple)
		}
		return english, fmt.Sprintf("%s hat %s %s", subjekt, objekt, v.germanParticiple)
	}
	english = fmt.Sprintf("%s %s %s", subject, v.present, object)
	if subordinate {
		return english, fmt.Sprintf("%s %s %s", subjekt, objekt, v.german)
	}
	return english, fmt.Sprintf("%s %s %s", subjekt, v.german, objekt)
}

// saveTranslation writes sentences in English and German.
func saveTranslation(d dataset, dir string) error {
	rng := d.rng()
	for _, part := range []struct {
		name  string
		count int
	}{{"translation", 5000}, {"translation-test", 500}} {
		var source, target strings.Builder
		for range part.count {
			english, german := clause(rng, false)
			if rng.IntN(3) == 0 {
				reason, grund := clause(rng, true)
				english, german = english+" because "+reason, german+", weil "+grund
			}
			fmt.Fprintf(&source, "%s.\n", strings.ToUpper(english[:1])+english[1:])
			fmt.Fprintf(&target, "%s.\n", strings.ToUpper(german[:1])+german[1:])
		}
		if err := save(dir, part.name+".en", source.String()); err != nil {
			return err
		}
		if err := save(dir, part.name+".de", target.String()); err != nil {
			return err
		}
	}
	return nil
}
