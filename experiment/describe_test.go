package experiment_test

import (
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/universal"
)

// Layered are positions of another module whose fields are objects, lists and texts with the characters of JSON.
type Layered struct {
	universal.FromOne
	Inner struct {
		Text  string    `json:"text"`
		Rates []float64 `json:"rates"`
	} `json:"inner"`
	Empty []struct{} `json:"empty"`
	Large int64      `json:"large"`
}

// The fields of types of another module are listed as they are, whatever their texts hold, and nested ones in parentheses of their own.
// Caught when planted: texts without quotation marks; numbers as float64.
func TestDescribeNestedFields(t *testing.T) {
	v := Layered{Large: 9007199254740993}
	v.Inner.Text, v.Inner.Rates = `a":{b},"`, []float64{0.5, 2}
	u := experiment.Universal{
		Transition: experiment.Transition{Value: universal.SeparableConvolution{Filter: 9, Widths: [2]int{3, 1}}},
		Positions:  experiment.Positions{Value: v},
	}
	const want = `transition separable_convolution (filter 9, widths [3, 1]), norms after the sub-layers, coordinates sinusoidal, ` +
		`positions go:Layered (empty null, inner (rates [0.5, 2], text "a\":{b},\""), large 9007199254740993)`
	if got := u.DescribeStep(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
