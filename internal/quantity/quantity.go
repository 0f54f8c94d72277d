// Package quantity writes numbers of things, in the singular or the plural.
package quantity

import (
	"strconv"
	"strings"
)

// Of returns a number with the singular or the plural: "1 row", "2 rows", "1 tag occurs".
func Of(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return strconv.Itoa(n) + " " + many
}

// Regular is like Of for a plural that ends in s, which the singular does not have.
func Regular(n int, many string) string { return Of(n, strings.TrimSuffix(many, "s"), many) }
