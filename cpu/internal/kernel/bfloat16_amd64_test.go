package kernel

import "testing"

// TestBestRounded: which kernel is chosen depends on what the processor has, and on whether AVX-512 was asked for by name.
// Caught when planted: tiles where AVX-512 was named.
func TestBestRounded(t *testing.T) {
	for _, c := range []struct {
		level Level
		named bool
		has   features
		want  string
	}{
		{levelAVX512, false, features{avx512: true, tiles: true}, "bf16 amx"}, {levelAVX512, true, features{avx512: true, tiles: true}, "bf16 avx512"},
		{levelAVX512, false, features{avx512: true}, "bf16 avx512"}, {levelAVX512, false, features{tiles: true}, ""}, {levelAVX512, false, features{}, ""},
		{levelAVX2, false, features{avx512: true, tiles: true}, ""}, {LevelScalar, false, features{avx512: true, tiles: true}, ""},
	} {
		got := ""
		if g := bestRounded(c.level, c.named, c.has); g != nil {
			got = g.Name
		}
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// Pairs are slow on Intel's processors, tiles nowhere. Caught when planted: pairs that are fast everywhere; slow tiles.
func TestSlowBFloat16(t *testing.T) {
	if tileGemm().Slow || pairsGemm().Slow != (vendor() == intel) {
		t.Errorf("tiles %v, pairs %v", tileGemm().Slow, pairsGemm().Slow)
	}
}
