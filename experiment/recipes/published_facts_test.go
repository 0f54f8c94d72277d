package recipes_test

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/paper"
	"universal-transformer/sweep"
)

// facts holds values that results on the same data have in common.
type facts map[string]sample

// A sample is a value of a result.
type sample struct{ of, text string }

// key names a value of the results on the same data: the first word of their family, their column and data.
func key(r sweep.Result, what string) string {
	word, _, _ := strings.Cut(r.Family(), "-")
	return strings.Join([]string{word, r.Column(), r.Data, what}, "|")
}

// same returns an error if an earlier result has another value of what is named.
func (f facts) same(r sweep.Result, what string, value any) error {
	k, text := key(r, what), fmt.Sprint(value)
	if _, ok := f[k]; !ok {
		f[k] = sample{of: r.Name(), text: text}
	}
	if first := f[k]; first.text != text {
		return fmt.Errorf("%s: %s, but %s in %s", what, text, first.text, first.of)
	}
	return nil
}

// A set is the name of a test set and the number of its examples.
type set struct {
	name     string
	examples int
}

// dataSets are the test sets of tables 2, 3 and 7, by column, with their numbers of examples.
var dataSets = func() map[string][]set {
	lambada := func(control, development int) []set {
		return []set{{"control", control}, {"development", development}, {"test", 5153}}
	}
	withCache := lambada(5000, 4869)
	for _, s := range lambada(5000, 4869) {
		withCache = append(withCache, set{s.name + paper.WithCache, s.examples})
	}
	multi30k := []set{{"val", 1014}, {"test_2016_flickr", 1000}, {"test_2017_flickr", 1000}, {"test_2017_mscoco", 461}}
	return map[string][]set{
		"natural-text": {{"test", 64252}}, "natural-classes": {{"test", 64252}}, "enriched-text": {{"test", 17389}}, "enriched-classes": {{"test", 17389}},
		"forms": {{"test", 7001}}, "forms-text": {{"test", 7001}}, "forms-pretrained": {{"test", 6991}}, "pairs-novels": {{"test", 7485}}, "pairs": {{"test", 7485}},
		"language": lambada(3685, 4869), "reading": lambada(3685, 4869), "annotated": lambada(3685, 487), "novels": withCache, "novels-words": withCache,
		"novels-reading": lambada(5000, 4869), "novels-pretrained": lambada(5000, 4869),
		"multi30k": multi30k, "multi30k-raw": multi30k, "news": {{"newstest2013", 3000}, {"newstest2014", 3003}},
	}
}()

func sameSets(have, want []set) error {
	if !slices.Equal(have, want) {
		return fmt.Errorf("measured.sets are %v, want %v", have, want)
	}
	return nil
}
