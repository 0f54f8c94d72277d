package lambada

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/task"
)

// write writes a file below a folder.
func write(t testing.TB, folder, name, content string) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// story is sentences about people of a few names, who come again.
func story(rng *rand.Rand, sentences int, names ...string) string {
	var b strings.Builder
	things := strings.Fields("lantern garden letter harbour kettle window bridge orchard")
	for i := range sentences {
		name, thing := names[rng.IntN(len(names))], things[rng.IntN(len(things))]
		fmt.Fprintf(&b, "Then %s took the old %s%s,", name, thing, map[bool]string{true: fmt.Sprintf(" number%d-%d", i, sentences), false: ""}[i%7 == 3])
		fmt.Fprintf(&b, " and went on to the %s of %s.%s", things[rng.IntN(len(things))], names[rng.IntN(len(names))], map[bool]string{true: "\n\n", false: "\n"}[i%11 == 10])
	}
	return b.String()
}

// line is a passage in plain text whose last word stands in its context.
func line(rng *rand.Rand, name string) string {
	var b strings.Builder
	for range 5 {
		fmt.Fprintf(&b, "`` %s has the lantern , '' she said to the man of the harbour . ", name)
	}
	return b.String() + fmt.Sprintf("at %d he saw %s", rng.IntN(1_000_000), name)
}

// passages is lines; every third name is one that no book has.
func passages(rng *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(rng, []string{"anna", "boris", "xantippe"}[i%3]) + "\n")
	}
	return b.String()
}

// data is folders of passages and books: two to learn, one kept out.
func data(t testing.TB) Data {
	t.Helper()
	path, prose, rng := t.TempDir(), t.TempDir(), rand.New(rand.NewPCG(1, 2))
	write(t, path, Development, passages(rng, 40))
	write(t, path, Test, passages(rng, 60))
	var lines strings.Builder
	for i := range 30 {
		fmt.Fprintf(&lines, "{\"text\": \"\\u201cAnna has the lantern,\\u201d she said.\\n\\nAt %d he didn't see Boris\"}\n", i)
	}
	write(t, path, OpenAITest, lines.String())
	write(t, prose, "one.txt", story(rng, 400, "Anna", "Boris", "Carla"))
	write(t, prose, "more/two.txt", story(rng, 300, "Dora", "Emil"))
	write(t, prose, "kept.txt", story(rng, 200, "Falk", "Gudrun"))
	return Data{Path: path, Version: Plain, Prose: prose, KeptOut: "kept.txt", MinCount: 2}
}

func opened(t testing.TB, c task.Definition) *Task {
	t.Helper()
	tk, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	return tk.(*Task)
}

func read(t testing.TB, folder, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The books of a folder are those of its subfolders too, without hidden files. The folder may be a link.
// Caught when planted: a link that is not followed.
func TestBooks(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"b.txt", "a/c.txt", ".d.txt", "e.md"} {
		write(t, folder, name, "text")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{folder, link} {
		files, err := books(at)
		if want := []string{filepath.Join(at, "a", "c.txt"), filepath.Join(at, "b.txt")}; err != nil || !slices.Equal(files, want) {
			t.Errorf("%q, %v, want %q", files, err, want)
		}
	}
}
