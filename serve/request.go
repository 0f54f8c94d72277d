package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"universal-transformer/internal/strictjson"
	"universal-transformer/task"
)

// parse reads a body into a request. Unknown fields are ignored, as clients send fields that not every server knows; a field that is given twice, and
// an exit in a request other than that of a trace, are failures.
func parse(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	err := d.Decode(into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return invalid("", "the body is %s: it must be an object", kindOf(wrong.Value))
	case errors.As(err, &wrong):
		return mistyped(wrong.Field, wrong)
	case err == io.EOF:
		return invalid("", "the body is empty: it must be an object")
	case err != nil:
		return invalid("", "the body is not valid JSON: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return invalid("", "the body continues after its JSON value")
	}
	fields, err := topFields(body)
	if err != nil {
		return err
	}
	_, traces := into.(*traceRequest)
	if exit, ok := fields["exit"]; ok && !traces && string(exit.Value) != "null" {
		return invalid(exit.Name, "exit is not supported here: leave it out; /v1/trace takes one")
	}
	return nil
}

// topFields returns the fields of an object of valid JSON by their names in lower case, which are alike for encoding/json. A field that is there
// twice, in this object or in one below it, is a failure, as one of its values would be ignored.
func topFields(body []byte) (map[string]strictjson.Member, error) {
	values := json.NewDecoder(bytes.NewReader(body))
	values.UseNumber() // numbers of any size
	if err := checkTwice(values, nil); err != nil {
		return nil, err
	}
	members, _, err := strictjson.Members(body)
	if err != nil && !errors.Is(err, strictjson.ErrNotObject) { // null is no object
		return nil, err
	}
	fields := map[string]strictjson.Member{}
	for _, m := range members {
		fields[strings.ToLower(m.Name)] = m
	}
	return fields, nil
}

// checkTwice reads the value at a path, such as ".pairs", "[0]", and returns a failure for the first field that an object in it has twice.
func checkTwice(d *json.Decoder, path []string) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, _ := token.(json.Delim)
	seen := map[string]bool{}
	for i := 0; open != 0 && d.More(); i++ {
		at := append(path, fmt.Sprintf("[%d]", i))
		if open == '{' {
			if token, err = d.Token(); err != nil {
				return err
			}
			name := token.(string) // keys of valid JSON are strings
			at[len(path)] = "." + name
			lower := strings.ToLower(name)
			if seen[lower] {
				field := strings.TrimPrefix(strings.Join(at, ""), ".")
				return invalid(field, "%s is given twice: leave one out", shortened(field))
			}
			seen[lower] = true
		}
		if err := checkTwice(d, at); err != nil {
			return err
		}
	}
	if open != 0 {
		_, err = d.Token() // the end
	}
	return err
}

// parseElement reads an element of the list in a field, which is valid JSON.
func parseElement(field string, index int, text json.RawMessage, into any) error {
	err := json.Unmarshal(text, into)
	var wrong *json.UnmarshalTypeError
	if path := fmt.Sprintf("%s[%d]", field, index); errors.As(err, &wrong) {
		if wrong.Field != "" {
			path += "." + wrong.Field
		}
		return mistyped(path, wrong)
	}
	return err
}

// mistyped returns the failure for a field with a value of the wrong type.
func mistyped(field string, wrong *json.UnmarshalTypeError) failure {
	return invalid(field, "%s is %s: it must be %s", field, kindOf(wrong.Value), typeName(wrong.Type))
}

// kindOf describes a JSON value of the wrong type, as encoding/json names it.
func kindOf(value string) string {
	kind, number, ok := strings.Cut(value, " ")
	switch {
	case ok:
		return number
	case kind == "bool":
		return "true or false"
	case kind == "object" || kind == "array":
		return "an " + kind
	}
	return "a " + kind
}

// typeName describes the type of a field.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}

// readTexts reads a field that is a string or an array of strings. If it is missing, there are none.
func readTexts(param string, raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, nil
	}
	var several []*string
	wrong := json.Unmarshal(raw, &several) != nil
	list := make([]string, len(several))
	for i, text := range several {
		if wrong = wrong || text == nil; wrong {
			break
		}
		list[i] = *text
	}
	if wrong {
		return nil, invalid(param, "%s must be a string or an array of strings", param)
	}
	return list, nil
}

// model returns the named model. If there is only one, the name may be missing. The caller must call users.Done.
func (s *Server) model(name *string) (*entry, *loaded, error) {
	if name == nil && len(s.models) == 1 {
		m, err := s.models[0].use()
		return s.models[0], m, err
	}
	if name == nil {
		return nil, nil, invalid("model", "model is missing: choose one of %s", strings.Join(s.Names(), ", "))
	}
	for _, e := range s.models {
		if e.name == *name {
			m, err := e.use()
			return e, m, err
		}
	}
	return nil, nil, failure{
		status: http.StatusNotFound, param: "model", code: "model_not_found",
		message: fmt.Sprintf("model is %q: choose one of %s", shortened(*name), strings.Join(s.Names(), ", ")),
	}
}

// shortened returns at most 100 characters of a text.
func shortened(text string) string {
	if runes := []rune(text); len(runes) > 100 {
		return string(runes[:100]) + "..."
	}
	return text
}

// several checks the number of prompts or texts of a request.
func (s *Server) several(param string, n int) error {
	switch {
	case n == 0:
		return invalid(param, "%s is missing or empty", param)
	case n > s.options.MaxPrompts:
		return invalid(param, "%d texts are more than %d: send them in several requests", n, s.options.MaxPrompts)
	}
	return nil
}

// input reads a text and checks its length.
func (s *Server) input(m *loaded, text string) (task.Input, error) {
	in, err := m.Read(text)
	if err == nil {
		err = s.short(len(in.Labels))
	}
	return in, err
}

// short returns an error for texts that are too long.
func (s *Server) short(tokens int) error {
	if tokens > s.options.MaxSource {
		return fmt.Errorf("%d tokens are more than %d: shorten the text", tokens, s.options.MaxSource)
	}
	return nil
}
