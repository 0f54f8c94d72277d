package experiment

import (
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
)

// Numbers end in every symbol of a program that is no digit, and in nothing else. Caught when planted: a symbol left out.
func TestNumbersEnd(t *testing.T) {
	opened, err := ExecuteProgram().Task.Value.Open()
	if err != nil {
		t.Fatal(err)
	}
	v := opened.Vocabularies().Source
	var want []string
	for id := range v.Size() {
		if token := v.Token(vocab.ID(id)); !vocab.Reserved(token) && !strings.Contains("0123456789", token) {
			want = append(want, token)
		}
	}
	have := slices.Sorted(slices.Values(numbersEnd))
	slices.Sort(want)
	if len(want) < 10 || !slices.Equal(have, want) {
		t.Errorf("numbers end in %q, want %q", have, want)
	}
}
