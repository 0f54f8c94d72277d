package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// date writes a day between 1950 and 2049 in one of six ways; the target is in the form of ISO 8601.
func date(rng *rand.Rand) (source, target string) {
	day := time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rng.IntN(36_500))
	return day.Format(pick(rng, "2 Jan 2006", "January 2, 2006", "02.01.2006", "Mon 2 January 2006", "2006/1/2", "Jan 02 '06")), day.Format(time.DateOnly)
}

// sorting sorts three to six numbers below 100.
func sorting(rng *rand.Rand) (source, target string) {
	list := make([]int, 3+rng.IntN(4))
	for i := range list {
		list[i] = rng.IntN(100)
	}
	source = digits(list)
	slices.Sort(list)
	return source, digits(list)
}

// digits returns numbers separated by blanks.
func digits(list []int) string { return strings.Trim(fmt.Sprint(list), "[]") }

// spelledNumber spells a number below 10,000.
func spelledNumber(rng *rand.Rand) (source, target string) {
	n := rng.IntN(10_000)
	return spell(n), strconv.Itoa(n)
}

// spelledAddition adds two numbers below 100, all in words.
func spelledAddition(rng *rand.Rand) (source, target string) {
	a, b := rng.IntN(100), rng.IntN(100)
	return spell(a) + " plus " + spell(b), spell(a + b)
}

// spell writes a number below 1,000,000 in English words.
func spell(n int) string {
	small := strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tens := strings.Fields("- - twenty thirty forty fifty sixty seventy eighty ninety")
	switch {
	case n < 20:
		return small[n]
	case n < 100:
		return tens[n/10] + rest(n%10)
	case n < 1000:
		return small[n/100] + " hundred" + rest(n%100)
	}
	return spell(n/1000) + " thousand" + rest(n%1000)
}

// rest spells what follows a larger unit: nothing for 0.
func rest(n int) string {
	if n == 0 {
		return ""
	}
	return " " + spell(n)
}
