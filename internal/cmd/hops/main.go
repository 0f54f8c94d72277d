// Command hops writes the examples of the task hops to standard output, a line each, for the recipe own-labels:
//
//	go run ./internal/cmd/hops > hops.tsv
//
// "f f d c f b 4 d", a tab and "d": six letters tell what follows a to f. Starting at d, the answer is found by 4 look-ups: c, d, c, d.
// Examples need 1 to 5 look-ups, so positions can use different numbers of steps.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
)

const (
	lines   = 40_000
	letters = "abcdef"
	lookups = 5 // maximum
)

func main() {
	if err := write(os.Stdout, lines); err != nil {
		log.Fatal(err)
	}
}

// write writes n examples, the same on every machine.
func write(to io.Writer, n int) error {
	random := rand.New(rand.NewPCG(53, 0))
	w := bufio.NewWriter(to)
	for range n {
		var next [len(letters)]int
		for i := range next {
			next[i] = random.IntN(len(letters))
			fmt.Fprintf(w, "%c ", letters[next[i]])
		}
		hops, at := 1+random.IntN(lookups), random.IntN(len(letters))
		fmt.Fprintf(w, "%d %c\t", hops, letters[at])
		for range hops {
			at = next[at]
		}
		fmt.Fprintf(w, "%c\n", letters[at])
	}
	return w.Flush() // it returns the first error of all writes
}
