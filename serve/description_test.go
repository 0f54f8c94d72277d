package serve

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"universal-transformer/viewer"
)

// The description names the paths and methods that exist, and the fields that requests and answers have.
// Caught when planted: a path, a field of a request, a field of an answer that is missing on either side.
func TestDescription(t *testing.T) {
	var d struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Schemas map[string]struct{ Properties map[string]json.RawMessage }
		}
	}
	if err := json.Unmarshal(description, &d); err != nil {
		t.Fatal(err)
	}
	s, web := opened(t, Options{})
	for _, e := range s.endpoints() {
		if len(d.Paths[e.path]) != 1 || d.Paths[e.path][strings.ToLower(e.method)] == nil {
			t.Errorf("the description lacks %s %s", e.method, e.path)
		}
	}
	if len(d.Paths) != len(s.endpoints()) {
		t.Errorf("the description has %d paths, the server %d", len(d.Paths), len(s.endpoints()))
	}
	for name, value := range map[string]any{
		"CompletionRequest": completionRequest{}, "Completion": completion{}, "Choice": choice{}, "Usage": usage{}, "ScoreRequest": scoreRequest{},
		"Scores": results[scoreJSON]{}, "Score": scoreJSON{}, "InputRequest": inputRequest{}, "Pair": pairJSON{}, "TraceRequest": traceRequest{}, "Exit": exitJSON{}, "ExitRule": exitRule{}, "Labels": results[labelJSON]{}, "Label": labelJSON{}, "Model": modelJSON{}, "Error": errorJSON{},
		"Trace": viewer.Trace{}, "Stack": viewer.Stack{}, "Readout": viewer.Readout{}, "Candidate": viewer.Candidate{}, "View": viewer.View{},
	} {
		fields := map[string]bool{}
		for i := range reflect.TypeOf(value).NumField() {
			field, _, _ := strings.Cut(reflect.TypeOf(value).Field(i).Tag.Get("json"), ",")
			fields[field] = true
		}
		if name == "CompletionRequest" {
			for _, field := range unsupported {
				fields[field] = true
			}
		}
		for field := range fields {
			if d.Components.Schemas[name].Properties[field] == nil {
				t.Errorf("the description of %s lacks %s", name, field)
			}
		}
		if len(fields) != len(d.Components.Schemas[name].Properties) {
			t.Errorf("%s has %d fields, its description %d", name, len(fields), len(d.Components.Schemas[name].Properties))
		}
	}
	if status, text := send(t, web, http.MethodGet, "/openapi.json", ""); status != 200 || !json.Valid([]byte(text)) {
		t.Errorf("the description: %d %.100s", status, text)
	}
}

// described is a schema of the description, as far as tests compare it.
type described struct {
	Type        any // a name, or a list of them
	OneOf       []described
	Description string
	Deprecated  bool
	Required    []string
	Properties  map[string]described
}

// allowsNull reports whether a field may be null.
func (d described) allowsNull() bool {
	list, _ := d.Type.([]any)
	return d.Type == "null" || slices.Contains(list, any("null")) || slices.ContainsFunc(d.OneOf, described.allowsNull)
}

// schemas are those of the description.
func schemas(t *testing.T) map[string]described {
	t.Helper()
	var d struct {
		Components struct{ Schemas map[string]described }
	}
	if err := json.Unmarshal(description, &d); err != nil {
		t.Fatal(err)
	}
	return d.Components.Schemas
}

// A request may lack the fields that the description does not require, and others may not; a field may be null where the description says
// so. Caught when planted: a field that is required and not described so; one that may be null and is not described so.
func TestRequiredFields(t *testing.T) {
	_, web := opened(t, Options{})
	all := schemas(t)
	for _, c := range []struct {
		path, schema string
		fields       map[string]string // valid values; a field without one is missing
		wrap         string            // the request around the object, in place of %
	}{
		{"/v1/completions", "CompletionRequest", map[string]string{"prompt": `"1"`}, "%"},
		{"/v1/score", "ScoreRequest", map[string]string{"pairs": `[{"source": "1", "target": "1"}]`}, "%"},
		{"/v1/score", "Pair", map[string]string{"source": `"1"`, "target": `"1"`}, `{"pairs": [%]}`},
		{"/v1/trace", "TraceRequest", map[string]string{"input": `"1"`}, "%"},
	} {
		schema := all[c.schema]
		if len(schema.Properties) == 0 {
			t.Fatalf("there is no %s", c.schema)
		}
		for field, property := range schema.Properties {
			required := slices.Contains(schema.Required, field)
			if c.schema == "Pair" && field == "source" { // of this model
				required = strings.Contains(property.Description, "required, unless the model is a language model")
			}
			for value, want := range map[string]bool{"": !required, "null": !required && property.allowsNull()} {
				changed := maps.Clone(c.fields)
				delete(changed, field)
				if value != "" {
					changed[field] = value
				}
				var members []string
				for name, text := range changed {
					members = append(members, strconv.Quote(name)+": "+text)
				}
				body := strings.Replace(c.wrap, "%", "{"+strings.Join(members, ", ")+"}", 1)
				if status, text := send(t, web, http.MethodPost, c.path, body); (status == http.StatusOK) != want {
					t.Errorf("%s %s: %d %.200s, by the description valid: %v", c.path, body, status, text, want)
				}
			}
		}
	}
}

// Fields that are not supported are marked, and only they. Caught when planted: one that is not marked.
func TestUnsupportedFields(t *testing.T) {
	for field, property := range schemas(t)["CompletionRequest"].Properties {
		marked := property.Deprecated && strings.HasPrefix(property.Description, "not supported: status 400 ")
		if want := slices.Contains(unsupported, field); marked != want || property.Deprecated != want {
			t.Errorf("%s is not supported: %v, but marked: %v", field, want, marked)
		}
	}
}

// The description of errors names the statuses that the source code has, and no others. Caught when planted: one that is missing.
func TestStatuses(t *testing.T) {
	numbers := map[string]int{}
	for status := 400; status < 600; status++ {
		numbers[strings.NewReplacer(" ", "", "-", "", "'", "").Replace(http.StatusText(status))] = status
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`http\.Status(\w+)`).FindAllSubmatch(text, -1) {
			if status := numbers[string(found[1])]; status > 0 && !strings.HasSuffix(file, "_test.go") {
				want[status] = true
			}
		}
	}
	var d struct {
		Paths map[string]map[string]struct{ Responses map[string]described }
	}
	if err := json.Unmarshal(description, &d); err != nil {
		t.Fatal(err)
	}
	for path, methods := range d.Paths {
		for _, method := range methods {
			got := map[int]bool{}
			for _, number := range regexp.MustCompile(`\b[45]\d\d\b`).FindAllString(method.Responses["default"].Description, -1) {
				status, _ := strconv.Atoi(number)
				got[status] = true
			}
			if !maps.Equal(got, want) || len(got) < 10 {
				t.Errorf("%s: statuses %v, the code has %v", path, got, want)
			}
		}
	}
}
