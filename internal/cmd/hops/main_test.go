package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// The file is the same everywhere, each line has the answer that its look-ups give, and one to five of them are about as frequent.
func TestWrite(t *testing.T) {
	var b bytes.Buffer
	if err := write(&b, lines); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(b.Bytes())); got != "87df8fa31b17c4ba5585768e0ac92dda3a8adc05a35de94b1d615f81e46d0bcc" {
		t.Errorf("SHA-256 %s", got)
	}
	counts := map[string]int{}
	for line := range strings.Lines(b.String()) {
		text, answer, _ := strings.Cut(strings.TrimSpace(line), "\t")
		words := strings.Fields(text)
		if len(words) != 8 {
			t.Fatalf("%q has %d words", line, len(words))
		}
		counts[words[6]]++
		letter := words[7]
		for left := int(words[6][0] - '0'); left > 0; left-- {
			letter = words[strings.Index("abcdef", letter)]
		}
		if letter != answer {
			t.Fatalf("%q: the answer is %s", line, letter)
		}
	}
	for _, n := range []string{"1", "2", "3", "4", "5"} {
		if counts[n] < 7800 || counts[n] > 8200 {
			t.Errorf("%d lines with %s look-ups", counts[n], n)
		}
	}
}

// An error of writing is returned.
func TestWriteFails(t *testing.T) {
	if err := write(full{}, 10); err == nil {
		t.Error("no error")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("no space") }
