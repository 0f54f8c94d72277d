package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
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
	data, err := json.Marshal(value)
	if err != nil {
		return key
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil || len(fields) == 0 {
		return key
	}
	return key + " " + described(fields)
}

// described returns a value of JSON: the fields of an object by their names, "(max 512)", a list in brackets, a text in quotation marks.
func described(value any) string {
	switch value := value.(type) {
	case map[string]any:
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(value)) {
			fields = append(fields, name+" "+described(value[name]))
		}
		return "(" + strings.Join(fields, ", ") + ")"
	case []any:
		elements := make([]string, len(value))
		for i, element := range value {
			elements[i] = described(element)
		}
		return "[" + strings.Join(elements, ", ") + "]"
	case string:
		return strconv.Quote(value)
	case nil:
		return "null"
	}
	return fmt.Sprint(value)
}
