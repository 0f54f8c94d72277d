package experiment

import (
	"encoding/json"
	"fmt"
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
