package bleu

import (
	"strings"
	"testing"
)

// Lines of a second, of the length that captions have.
const (
	benchHypothesis = "Ein Mann mit einem roten Helm fährt auf 1,5 Rädern durch die „Altstadt“, ganz ohne Eile."
	benchReference  = "Ein Mann mit rotem Helm fährt auf zwei Rädern durch die Altstadt, und das ganz ohne Eile!"
)

func BenchmarkBLEU(b *testing.B) {
	for i, name := range tokenizerNames {
		c := Config{Tokenizer: Tokenizer(i)}
		b.Run(name, func(b *testing.B) {
			linesPerSecond(b, func() { c.Statistics(benchHypothesis, benchReference) })
		})
	}
	long := strings.Repeat(benchHypothesis+" ", 1000)
	b.Run("line of 1000 lines", func(b *testing.B) { linesPerSecond(b, func() { Config{}.Statistics(long, long) }) })
}

func BenchmarkChrF(b *testing.B) {
	for name, c := range map[string]ChrF{"chrF2": {}, "chrF2++": {WordOrder: 2}} {
		b.Run(name, func(b *testing.B) {
			linesPerSecond(b, func() { c.Statistics(benchHypothesis, benchReference) })
		})
	}
}

func linesPerSecond(b *testing.B, score func()) {
	b.ReportAllocs()
	for b.Loop() {
		score()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
