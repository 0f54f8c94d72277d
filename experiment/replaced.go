package experiment

import (
	"fmt"
	"strings"
)

// kinds returns the keys that name the task and the model, by part: {"task": "copy", "model": "encoder_decoder"}.
func kinds(tree map[string]any) map[string]string {
	found := map[string]string{}
	for _, part := range []string{"task", "model"} {
		fields, _ := tree[part].(map[string]any)
		for key := range fields {
			if len(fields) == 1 {
				found[part] = key
			}
		}
	}
	return found
}

// replaced adds to an error about a task or model that an assignment has put in the place of another one.
func replaced(err error, before, after map[string]string) error {
	for part, was := range before {
		is := part + "." + after[part]
		if err != nil && was != after[part] && strings.HasPrefix(err.Error(), is+".") {
			return fmt.Errorf("%w; %s replaces %s.%s: to keep that, leave out the fields of %s", err, is, part, was, is)
		}
	}
	return err
}
