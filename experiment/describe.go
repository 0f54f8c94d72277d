package experiment

import (
	"bytes"
	"encoding/json"
	"strings"
)

// DescribeStep says what [Universal.Describe] leaves out, in the names of the configuration: "transition feedforward (filter 256), norms after
// the sub-layers, coordinates sinusoidal, positions from_one".
func (u Universal) DescribeStep() string {
	norms := "norms after the sub-layers"
	if u.PreNorm {
		norms = "norms before the sub-layers"
	}
	if !u.Arrangement.IsZero() {
		norms = "arrangement " + named(u.Arrangement)
	}
	coordinates := "sinusoidal"
	if !u.Coordinates.IsZero() {
		coordinates = named(u.Coordinates)
	}
	return strings.Join([]string{"transition " + named(u.Transition), norms, "coordinates " + coordinates, "positions " + named(u.Positions)}, ", ")
}

// named returns the key of a variant, with its fields in parentheses: "random_offset (max 512)".
func named(v variantPart) string {
	key, value := v.choice()
	fields, err := json.Marshal(value)
	if fields = bytes.Trim(fields, "{}"); err != nil || len(fields) == 0 {
		return key
	}
	return key + " (" + strings.NewReplacer(`"`, "", ":", " ", ",", ", ").Replace(string(fields)) + ")"
}
