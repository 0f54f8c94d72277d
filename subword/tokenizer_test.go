package subword_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
)

var paths = []string{"testdata/tokenizer.json", "testdata/t2t.subwords"}

// What every Tokenizer does. Caught when planted: special tokens in a text; no check of ids, or of text; words that callers share
// and change.
func TestTokenizers(t *testing.T) {
	for _, path := range paths {
		tokenizer := open(t, path)
		for _, text := range []string{"", " ", "A dog.", "<pad> <end><EOS>_ </s>", "a\nb\r\n", "\ufffd"} {
			checkRoundTrip(t, tokenizer, text)
		}
		if _, err := tokenizer.Encode("aö\xffb"); err == nil || !strings.Contains(err.Error(), "byte 4") {
			t.Errorf("%s: Encode of invalid UTF-8: %v", path, err)
		}
		for _, id := range []vocab.ID{-1, vocab.ID(tokenizer.Size())} {
			if _, err := tokenizer.Decode([]vocab.ID{5, id}); err == nil || !strings.Contains(err.Error(), "position 2") {
				t.Errorf("%s: Decode of id %d: %v", path, id, err)
			}
			if got := tokenizer.Token(id); !strings.HasPrefix(got, "<id ") {
				t.Errorf("%s: Token(%d) = %q", path, id, got)
			}
		}
		for id := range vocab.ID(tokenizer.Size()) {
			if strings.Contains(tokenizer.Token(id), " ") {
				t.Errorf("%s: Token(%d) = %q has a blank", path, id, tokenizer.Token(id))
			}
		}
		ids, _ := tokenizer.Encode("dog dog")
		text, err := tokenizer.Decode(slices.Concat([]vocab.ID{vocab.Padding}, ids, []vocab.ID{vocab.End, vocab.Padding}))
		if err != nil || text != "dog dog" {
			t.Errorf("%s: special tokens decode to %q, %v", path, text, err)
		}
		if err := tokenizer.ModelIDs(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, text := range []string{"dog dog", "dog"} {
			ids, _ = tokenizer.Encode(text)
			clear(ids)
			checkRoundTrip(t, tokenizer, text)
		}
	}
}

func checkRoundTrip(t *testing.T, tokenizer subword.Tokenizer, text string) {
	t.Helper()
	ids, err := tokenizer.Encode(text)
	if err != nil {
		t.Fatalf("Encode(%q): %v", text, err)
	}
	for _, id := range ids {
		if id <= vocab.End || int(id) >= tokenizer.Size() {
			t.Fatalf("Encode(%q) gives id %d", text, id)
		}
	}
	if back, err := tokenizer.Decode(ids); err != nil || back != text {
		t.Fatalf("%q comes back as %q, %v", text, back, err)
	}
}

// Any valid text comes back, and a text that comes again has the same ids.
func FuzzRoundTrip(f *testing.F) {
	for _, path := range []string{"testdata/golden.json", "testdata/t2t.json"} {
		for _, c := range readGolden(f, path).Encoded[60:] {
			f.Add(c.Text)
		}
	}
	f.Add("\xff")
	bpe, t2t := open(f, paths[0]), open(f, paths[1])
	f.Fuzz(func(t *testing.T, text string) {
		if valid := strings.ToValidUTF8(text, ""); valid != text {
			if _, err := bpe.Encode(text); err == nil {
				t.Fatalf("%q is not valid UTF-8 and is encoded", text)
			}
			text = valid
		}
		for _, tokenizer := range []subword.Tokenizer{bpe, t2t} {
			checkRoundTrip(t, tokenizer, text)
			first, _ := tokenizer.Encode(text)
			if second, _ := tokenizer.Encode(text); !slices.Equal(first, second) {
				t.Fatalf("%q is %v, then %v", text, first, second)
			}
		}
	})
}

// A word as long as a line may be takes no longer than as much text of short ones: merging that looks at all pairs again after
// every merge would take hours here.
func TestLongWords(t *testing.T) {
	b := open(t, paths[0])
	random := rand.New(rand.NewPCG(1, 2))
	word := make([]byte, 1<<20)
	for i := range word {
		word[i] = "ab"[random.IntN(2)]
	}
	checkRoundTrip(t, b, string(word))
	checkRoundTrip(t, b, strings.Repeat("a", 1<<20))
}

// Encoding many texts at once gives what one after the other does. Worth most under the race detector.
func TestConcurrent(t *testing.T) {
	for _, path := range paths {
		tokenizer, alone := open(t, path), open(t, path)
		text, err := os.ReadFile("testdata/corpus.txt")
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for _, line := range lines {
					got, err := tokenizer.Encode(line)
					want, _ := alone.Encode(line)
					if err != nil || !slices.Equal(got, want) {
						t.Errorf("%s: %q is %v, %v, want %v", path, line, got, err, want)
					}
				}
			})
		}
		group.Wait()
	}
}

func BenchmarkEncode(b *testing.B) {
	text, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		b.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for _, path := range paths {
		b.Run(path[len("testdata/"):], func(b *testing.B) {
			tokenizer, tokens := open(b, path), 0
			for b.Loop() {
				for _, line := range lines {
					ids, err := tokenizer.Encode(line)
					if err != nil {
						b.Fatal(err)
					}
					tokens += len(ids)
				}
			}
			b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

// Words that were never seen before.
func BenchmarkEncodeNewWords(b *testing.B) {
	tokenizer, tokens, random := open(b, paths[0]), 0, rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		word := " " + strconv.FormatUint(random.Uint64(), 36)
		ids, err := tokenizer.Encode(word)
		if err != nil {
			b.Fatal(err)
		}
		tokens += len(ids)
	}
	b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
}

func BenchmarkTrain(b *testing.B) {
	for b.Loop() {
		trained(b, 700)
	}
}
