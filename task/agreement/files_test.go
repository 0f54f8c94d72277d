package agreement

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/task"
)

// write writes a file of a folder.
func write(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// preamble is a made-up one with n attractors, and its tag.
func preamble(rng *rand.Rand, n int) string {
	tag, subject, other := singular, "key", "cabinets"
	if rng.IntN(3) > 0 {
		tag, subject, other = plural, "keys", "cabinet"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\tthe %s number%d", tag, subject, rng.IntN(100_000))
	for range n {
		fmt.Fprintf(&b, " of the %s", other)
	}
	return b.String() + "\n"
}

// numpred is a folder of own-made files: rows to train with, of which some repeat, and tests by attractors. Some rows of the first
// test stand in numpred.val.
func numpred(t testing.TB, rows int) string {
	t.Helper()
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var val, shared strings.Builder
	for i := range rows {
		line := preamble(rng, i%2)
		val.WriteString(line)
		if i%10 == 0 {
			val.WriteString(line)
			shared.WriteString(line)
		}
	}
	write(t, dir, "numpred.val", val.String())
	for k := 1; k <= maxAttractors; k++ {
		var b strings.Builder
		for range rows / k {
			b.WriteString(preamble(rng, k))
		}
		if k == 1 {
			b.WriteString(shared.String())
		}
		write(t, dir, fmt.Sprintf("numpred.test.%d", k), b.String())
	}
	return dir
}

const head = "sentence\torig_sentence\tsubj\tverb\tverb_pos\tverb_index\tn_intervening\tn_diff_intervening\n"

// dependency is a row of the authors' table.
func dependency(sentence, verb, tag string, index, between, attractors int) string {
	return fmt.Sprintf("%s\t%s\tx\t%s\t%s\t%d\t%d\t%d\n", sentence, sentence, verb, tag, index, between, attractors)
}

// verbs is an own-made table.
func verbs(t testing.TB, rows int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString(head)
	for i := range rows {
		k := i % 4
		tag, words, ok := strings.Cut(strings.TrimSpace(preamble(rng, k)), "\t")
		if !ok {
			t.Fatal(words)
		}
		verb := map[string]string{singular: "is", plural: "are"}[tag]
		b.WriteString(dependency(words+" "+verb+" here .", verb, tag, strings.Count(words, " ")+2, k+i/4%2, k))
	}
	return write(t, t.TempDir(), "agr.tsv", b.String())
}

// pairs is an own-made file of pairs and a text to learn.
func pairs(t testing.TB) Pairs {
	t.Helper()
	dir := t.TempDir()
	var text, gold, learn strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "the keys to cabinet %d are lost . <eos>\n", i)
		fmt.Fprintf(&gold, "5\t%s\tis\t%d\n", map[bool]string{true: "Are", false: "are"}[i == 3], i%5)
	}
	for i := range 300 {
		fmt.Fprintf(&learn, "the %s in room number%d %s found .\n", []string{"key", "keys"}[i%2], i, []string{"is", "are"}[i%2])
	}
	learn.WriteString("\nthe keys to cabinet 7 are lost .\n" + strings.Repeat("long ", 51) + "\n")
	write(t, dir, "p.gold", gold.String())
	return Pairs{Path: write(t, dir, "p.text", text.String()), Text: write(t, dir, "learn.txt", learn.String())}
}

func opened(t testing.TB, c task.Definition) *Task {
	t.Helper()
	tk, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	return tk.(*Task)
}
