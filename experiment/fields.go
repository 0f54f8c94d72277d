package experiment

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Fields returns the values of all fields by their paths, such as "training.steps", as JSON decodes them. Lists are text, and so are
// objects without fields, as those of variants that have none.
func (r Run) Fields() map[string]any {
	var run any
	if err := json.Unmarshal(r.JSON(), &run); err != nil {
		panic(err) // JSON of our own
	}
	fields := map[string]any{}
	collectFields(fields, "", run)
	return fields
}

// Differing lists the fields that the JSON of another run has with other values than r, sorted. It leaves out those that only one of them has, the name,
// and where files are, so that it also compares JSON that [Decode] refuses because of unknown keys.
func (r Run) Differing(data []byte) (list []string) {
	var other any
	if json.Unmarshal(data, &other) != nil {
		return nil
	}
	fields, own, named := map[string]any{}, r.Identity().Fields(), r.WithoutDirectories().Fields()
	collectFields(fields, "", other)
	for path, value := range fields {
		mine, both := own[path]
		if name, file := mine.(string); file && value != mine {
			text, _ := value.(string)
			both = both && named[path] == name && base(text) != name
		}
		if both && path != "name" && value != mine {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}

func collectFields(fields map[string]any, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			fields[path] = "{}"
		}
		for key, value := range v {
			collectFields(fields, strings.TrimPrefix(path+"."+key, "."), value)
		}
	case []any:
		fields[path] = fmt.Sprint(v)
	default:
		fields[path] = v
	}
}
