package algorithmic

import (
	"math/rand/v2"

	"universal-transformer/internal/vocab"
)

// number draws n digits. The last and most significant one is not 0 unless n is 1.
func number(rng *rand.Rand, base, n int) []vocab.ID {
	ids := randomDigits(rng, base, n)
	if n > 1 {
		ids[n-1] = digit0 + vocab.ID(1+rng.IntN(base-1))
	}
	return ids
}

// sum adds two numbers digit by digit, least significant first.
func sum(x, y []vocab.ID, base int) []vocab.ID {
	total, carry := []vocab.ID{}, vocab.ID(0)
	for i := 0; i < max(len(x), len(y)) || carry > 0; i++ {
		if i < len(x) {
			carry += x[i] - digit0
		}
		if i < len(y) {
			carry += y[i] - digit0
		}
		total = append(total, digit0+carry%vocab.ID(base))
		carry /= vocab.ID(base)
	}
	return total
}
