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

// otherPairs returns the kernels for AVX-512 on the processors of every vendor.
func otherPairs() map[string]*Gemm {
	if !detect().avx512 || Best().Level != levelAVX512 {
		return nil
	}
	return map[string]*Gemm{"pairs": pairsGemm(false), "widened": pairsGemm(true)}
}

// Only pairs are widened, and only on Intel's processors. Caught when planted: pairs that are widened everywhere, or nowhere.
func TestWidenedProducts(t *testing.T) {
	if tileGemm().rounded.widened != nil {
		t.Error("tiles are widened")
	}
	if !detect().avx512 {
		t.Skip("no AVX512_BF16")
	}
	if got := bestRounded(levelAVX512, true, detect()).rounded.widened != nil; got != (vendor() == intel) {
		t.Errorf("pairs are widened: %t", got)
	}
}
