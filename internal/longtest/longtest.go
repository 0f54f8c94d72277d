// Package longtest says whether tests run in their long form: with more sizes or longer sequences than are needed to notice an error.
package longtest

import "os"

// Variable is the environment variable that selects the long form if it is not empty.
const Variable = "UT_LONG"

// Enabled reports whether tests run in their long form.
func Enabled() bool { return os.Getenv(Variable) != "" }

// Of returns how much a test does: short, or long in its long form.
func Of(short, long int) int {
	if Enabled() {
		return long
	}
	return short
}
