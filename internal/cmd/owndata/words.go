package main

import (
	"math/rand/v2"
	"strings"
)

// root asks for the root of an English word form: "running" -> "run".
func root(rng *rand.Rand) (source, target string) {
	switch rng.IntN(8) {
	case 0:
		list := strings.Fields(irregular)
		forms := strings.Split(list[rng.IntN(len(list))], "/")
		return forms[1+rng.IntN(len(forms)-1)], forms[0]
	case 1:
		noun := word(rng, nouns)
		return plural(noun), noun
	case 2:
		adjective := word(rng, adjectives)
		return pick(rng, joined(adjective, "er"), joined(adjective, "est"), adverb(adjective), beforeConsonant(adjective)+"ness"), adjective
	}
	verb := word(rng, verbs)
	return pick(rng, plural(verb), joined(verb, "ed"), joined(verb, "ing"), joined(verb, "er")), verb
}

const vowels = "aeiou"

// plural adds s or es, to verbs as well: "cry" -> "cries".
func plural(w string) string {
	for _, end := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(w, end) {
			return w + "es"
		}
	}
	if stem, ok := consonantY(w); ok {
		return stem + "ies"
	}
	return w + "s"
}

// joined adds an ending that begins with a vowel: "bake" -> "baking", "stop" -> "stopped", "cry" -> "cried", but "crying".
func joined(w, ending string) string {
	stem, ok := consonantY(w)
	switch {
	case ok && ending != "ing":
		return stem + "i" + ending
	case strings.HasSuffix(w, "ee") && ending == "ing":
		return w + ending
	case strings.HasSuffix(w, "e"):
		return w[:len(w)-1] + ending
	case doubles(w):
		return w + w[len(w)-1:] + ending
	}
	return w + ending
}

// doubles reports whether a word of one syllable ends in one vowel and one consonant that is doubled.
func doubles(w string) bool {
	n := len(w)
	if n < 3 || strings.ContainsRune(vowels+"wxy", rune(w[n-1])) || !strings.ContainsRune(vowels, rune(w[n-2])) {
		return false
	}
	for _, letter := range w[:n-2] {
		if strings.ContainsRune(vowels, letter) {
			return false
		}
	}
	return true
}

// adverb adds ly: "happy" -> "happily", "gentle" -> "gently".
func adverb(w string) string {
	if strings.HasSuffix(w, "le") {
		return w[:len(w)-1] + "y"
	}
	return beforeConsonant(w) + "ly"
}

// beforeConsonant returns the stem before an ending that begins with a consonant: "happy" -> "happi".
func beforeConsonant(w string) string {
	if stem, ok := consonantY(w); ok {
		return stem + "i"
	}
	return w
}

// consonantY cuts off a y after a consonant.
func consonantY(w string) (stem string, ok bool) {
	n := len(w)
	if n > 2 && w[n-1] == 'y' && !strings.ContainsRune(vowels, rune(w[n-2])) {
		return w[:n-1], true
	}
	return w, false
}

const verbs = `accept add admire admit advise agree aim allow amuse answer appear apply argue arrange arrive ask attack attend avoid bake balance ban bang
	bare bathe battle beam beg behave blame bless blink boil bolt bomb book borrow bounce bow box brake branch breathe brush bury buzz call camp care carry carve cause
	change charge chase cheat check cheer chew choke chop claim clap clean clear close coach coil collect color comb command compare compete complain complete confess
	confuse connect consider contain continue copy correct cough count cover crack crash crawl cross crush cry cure curl cycle dam damage dance dare decay deceive decide
	decorate delay deliver depend describe deserve destroy detect develop disagree divide double doubt drag drain dream dress drip drop drown drum dry dust earn educate
	employ empty enjoy enter escape examine excite excuse exercise exist expand expect explain explode extend face fade fail fancy fasten fax fear fetch file fill film fire
	fit fix flap flash float flood flow fold follow fool force form frame fry gather gaze glow glue grab grate grease greet grin grip groan guard guess guide hammer hand
	handle hang harm hate haunt head heal heap heat help hook hop hope hover hug hum hunt hurry identify ignore imagine impress improve include increase inform inject
	invent invite itch jam jog join joke judge jump kick kill kiss kneel knit knock knot label land last laugh launch learn level license lick lie lighten like list listen
	live load lock long look love manage march mark marry match mate matter measure melt mend milk mine miss mix moan move muddle mug multiply murder nail name need nest nod
	note notice number obey object observe obtain occur offer open order owe own pack paddle paint park part pass paste pat pause peck pedal peel peep perform phone pick pinch pine
	place plan plant play please plug point poke polish pop possess post pour practice pray preach prefer prepare present press pretend print produce promise protect provide pull
	pump punch punish push question queue race rain raise reach realize receive record reduce reflect refuse regret reign reject relax release rely remain remember remind remove
	repair repeat replace reply report rescue retire return rhyme rinse risk rob rock roll rot rub ruin rule rush sail satisfy save scare scold scorch scrape scratch scream screw`

const nouns = `apple army baby bag bell berry bird boat body bottle box branch bridge brush bus bush camera candle car cat chair church city class coat country cow cup daisy desk dish
	doctor dog door dress duck echo engine eye face family farm fence field finger fish flag flower fly fork fox frog garden glass glove goat grape hand hat hill horse house island
	jar jelly key kettle kitten lady lamp lake leg lemon letter library lily lunch map match melody mirror month mountain nail nest nose nurse ocean onion orange party peach pen
	penny pencil piano picture plane plate pony poppy puppy queen rabbit ring river road roof room rose school ship shirt shoe sky snake sock spoon spy star stone storm story street table
	tax team tent tiger tower town toy train tray tree truck valley village vase watch wheel window wing wish witch`

const adjectives = `big bright brave busy calm cheap clean clear clever cold cool crazy damp dark deep dim dirty dry dull easy empty fair fast fat fine firm flat fresh fit funny gentle
	glad grand grave great green grim happy hard heavy high hot humble kind large late lazy light lively lonely long loose loud lovely low lucky mad mild narrow neat nice noble noisy odd pale plain
	poor pretty proud pure quick quiet rare rich ripe rough rude sad safe sharp short silly simple slim slow small smart smooth soft sour steady steep strange strict strong subtle sweet tall tame tender thick
	thin tidy tight tiny tough ugly vague warm weak wet wide wild wise`

// irregular lists roots with their irregular forms.
const irregular = `arise/arose/arisen bear/bore/borne beat/beaten become/became begin/began/begun bend/bent bind/bound bite/bit/bitten blow/blew/blown break/broke/broken bring/brought build/built
	buy/bought catch/caught choose/chose/chosen come/came creep/crept deal/dealt dig/dug do/did/done draw/drew/drawn drink/drank/drunk drive/drove/driven eat/ate/eaten fall/fell/fallen feed/fed feel/felt
	fight/fought find/found fly/flew/flown forget/forgot/forgotten freeze/froze/frozen get/got give/gave/given go/went/gone grow/grew/grown have/had hear/heard hide/hid/hidden hold/held keep/kept know/knew/known
	lead/led leave/left lend/lent lose/lost make/made mean/meant meet/met pay/paid ride/rode/ridden ring/rang/rung rise/rose/risen run/ran say/said see/saw/seen sell/sold send/sent shake/shook/shaken
	shine/shone shoot/shot sing/sang/sung sink/sank/sunk sit/sat sleep/slept slide/slid speak/spoke/spoken spend/spent spin/spun stand/stood steal/stole/stolen stick/stuck sting/stung strike/struck
	swear/swore/sworn sweep/swept swim/swam/swum swing/swung take/took/taken teach/taught tear/tore/torn tell/told think/thought throw/threw/thrown wake/woke/woken wear/wore/worn weave/wove/woven win/won
	wind/wound write/wrote/written child/children foot/feet goose/geese man/men mouse/mice ox/oxen person/people tooth/teeth woman/women good/better/best bad/worse/worst little/less/least many/more/most`
