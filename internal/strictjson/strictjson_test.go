package strictjson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"universal-transformer/internal/strictjson"
)

type model struct {
	Width int     `json:"width"`
	Heads int     `json:"heads"`
	Rate  float64 `json:"rate"`
	//lint:ignore U1000 JSON must not see it
	hidden int
}

type shared struct {
	Seed uint64 `json:"seed"`
}

// upper reads its own JSON.
type upper string

func (u *upper) UnmarshalText(text []byte) error {
	*u = upper(strings.ToUpper(string(text)))
	return nil
}

// free takes any JSON.
type free struct{ text string }

func (f *free) UnmarshalJSON(data []byte) error {
	f.text = string(data)
	return nil
}

type config struct {
	shared
	Model   model             `json:"model"`
	Layers  []model           `json:"layers"`
	Named   map[string]model  `json:"named"`
	Maybe   *int              `json:"maybe"`
	Free    any               `json:"free"`
	Raw     json.RawMessage   `json:"raw"`
	Name    upper             `json:"name"`
	Own     free              `json:"own"`
	Plain   string            // no tag: its key is "Plain"
	Skipped int               `json:"-"`
	Texts   map[string]string `json:"texts"`
}

func TestDecode(t *testing.T) {
	c := config{Plain: "default", Model: model{Heads: 7}}
	data := `{"seed": 18446744073709551615, "model": {"width": 3, "rate": 0.5}, "layers": [{"width": 1}, {"heads": 2}],
		"named": {"any key": {"heads": 4}}, "maybe": null, "free": {"x": [1, null]}, "raw": [1e999], "name": "abc", "own": {"any": null}, "texts": {"k": "v"}}`
	if err := strictjson.Decode([]byte(data), &c); err != nil {
		t.Fatal(err)
	}
	want := config{
		shared: shared{Seed: 1<<64 - 1},
		Model:  model{Width: 3, Heads: 7, Rate: 0.5},
		Layers: []model{{Width: 1}, {Heads: 2}},
		Named:  map[string]model{"any key": {Heads: 4}},
		Free:   map[string]any{"x": []any{1.0, nil}},
		Raw:    json.RawMessage("[1e999]"),
		Own:    free{`{"any": null}`},
		Name:   "ABC", Plain: "default",
		Texts: map[string]string{"k": "v"},
	}
	if c.Model.hidden != 0 || !reflect.DeepEqual(c, want) {
		t.Errorf("decoded\n%+v, want\n%+v", c, want)
	}
}

func TestErrorsAreOneLineThatNamesThePlace(t *testing.T) {
	for data, want := range map[string]string{
		`{"model": {"widht": 3}}`:              `unknown key "widht" in model: did you mean "width"?`,
		`{"modle": 3}`:                         `unknown key "modle": did you mean "model"?`,
		`{"Model": {}}`:                        `unknown key "Model": did you mean "model"?`,
		`{"layers": [{}, {"head": 3}]}`:        `unknown key "head" in layers[1]: did you mean "heads"?`,
		`{"named": {"x": {"wide": 3}}}`:        `unknown key "wide" in named.x: valid keys are width, heads, rate`,
		`{"model": {"hidden": 3}}`:             `unknown key "hidden" in model: valid keys are width, heads, rate`,
		`{"Skipped": 3}`:                       `unknown key "Skipped"`,
		`{"-": 3}`:                             `unknown key "-"`,
		`{"plain": ""}`:                        `unknown key "plain": did you mean "Plain"?`,
		`{"seed": 1, "seed": 2}`:               `key "seed" is given twice`,
		`{"free": {"a": 1, "a": 2}}`:           `key "a" is given twice in free`,
		"{\n  \"model\": {\"width\": null}}":   `line 2, column 25: model.width cannot be null`,
		"{\n  \"model\": {\"width\": \"ö\"}}":  `line 2, column`,
		`{"model": {"width": 1.5}}`:            `model.width cannot be 1.5: it must be a whole number`,
		"{\n  \"seed\": NaN}":                  `line 2, column 11: invalid character 'N'`,
		"{\n\n \"name\": \"öö\" x}":            `line 3, column 15: invalid character 'x'`,
		`{} {}`:                                `line 1, column 4: data follows the value`,
		`{"seed": 1`:                           `ends before the value does`,
		``:                                     `there is no value`,
		"{\"name\": \"\xff\"}":                 `not valid UTF-8`,
		`{"seed": -1}`:                         `seed cannot be -1: it must be a whole number, not negative`,
		`[]`:                                   `cannot be a list: it must be an object`,
		`{"model": {"width": 1, "width": 1},}`: `line 1, column 36`,
	} {
		var c config
		err := strictjson.Decode([]byte(data), &c)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\n got %v\nwant %s", data, err, want)
		}
	}
	if err := strictjson.Decode([]byte("{}"), config{}); err == nil {
		t.Error("Decode into no pointer is accepted")
	}
}

// Without its place, an error of JSON has its problem only; other errors are unchanged. Caught when planted: a place that stays.
func TestWithoutPlace(t *testing.T) {
	for data, want := range map[string]string{
		`{"width": "x"}`: "width cannot be text: it must be a whole number", `{"width": 3`: "ends before the value does", `{"width": 3} 4`: "data follows the value",
		`{"width": 3, "width": 4}`: `key "width" is given twice`, `{"width": null}`: "width cannot be null: leave the key out to get the default", "": "JSON: there is no value",
	} {
		err := strictjson.Decode([]byte(data), new(model))
		if err == nil || strictjson.WithoutPlace(err).Error() != want || want[:4] != "JSON" && !strings.Contains(err.Error(), "JSON: line 1, column ") {
			t.Errorf("%s: %v, without its place %v", data, err, strictjson.WithoutPlace(err))
		}
	}
}

// An array has as many elements as its type. Caught when planted: what encoding/json does, which drops elements and fills up with zeros.
func TestArrays(t *testing.T) {
	type pairs struct {
		List [][2]int `json:"list"`
	}
	for data, want := range map[string]string{
		`{"list": [[1, 2], [3, 4]]}`: "", `{"list": []}`: "", `{"list": [[1, 2], [3, 4, 5]]}`: "line 1, column 26: list[1] must be a list of 2 elements: it has 3",
		`{"list": [[1]]}`: "list[0] must be a list of 2 elements: it has 1", `{"list": [[]]}`: "it has 0", `{"list": [3]}`: "cannot be a number",
	} {
		var p pairs
		if err := strictjson.Decode([]byte(data), &p); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", data, err, want)
		}
	}
}

func TestNearest(t *testing.T) {
	valid := []string{"copy", "reverse", "addition", "reverse_adaptive", "babi"}
	for name, want := range map[string]string{
		"cpoy":       "copy", // one swap
		"copi":       "copy",
		"COPY":       "copy",
		"revers":     "reverse",
		"rverse":     "reverse",
		"adittion":   "addition",
		"add":        "addition", // begins it
		"reverse_ad": "reverse",  // three away from one, six from the other
		"reverse_a":  "reverse",  // two away
		"bab":        "babi",
		"xyz":        "",
		"":           "",
		"translate":  "",
	} {
		if got, ok := strictjson.Nearest(name, valid); got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %v, want %q", name, got, ok, want)
		}
	}
}

// FuzzDecode holds Decode to encoding/json: what it accepts, that accepts with the same result.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"seed": 1, "model": {"width": 3}, "layers": [{"heads": 2}], "free": [1, {"a": null}]}`))
	f.Add([]byte(`{"modle": 3}`))
	f.Add([]byte(`{"named": {"x": {}}, "name": "a"} `))
	f.Fuzz(func(t *testing.T, data []byte) {
		var strict, lax config
		err := strictjson.Decode(data, &strict)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("error of two lines: %q", err)
			}
			return
		}
		if err := json.Unmarshal(data, &lax); err != nil || !reflect.DeepEqual(strict, lax) {
			t.Fatalf("%q: strictly %+v, else %+v, %v", data, strict, lax, err)
		}
	})
}

func FuzzNearest(f *testing.F) {
	f.Add("revers", "reverse")
	f.Fuzz(func(t *testing.T, name, valid string) {
		got, ok := strictjson.Nearest(name, []string{valid})
		if ok && got != valid {
			t.Fatalf("Nearest(%q, %q) = %q", name, valid, got)
		}
		if name == valid && name != "" && len(name) <= 200 && !ok {
			t.Fatalf("Nearest(%q) does not find itself", name)
		}
	})
}

// Half of a surrogate pair is an error at its place; a pair, and a backslash before the letter u, are not.
// Caught when planted: pairs refused, a second half alone accepted, a backslash counted twice.
func TestSurrogates(t *testing.T) {
	for text, want := range map[string]string{
		`"\ud83d\ude00"`: "\U0001F600", `"\\ud800"`: `\ud800`, `"\u0041\n\u00e4"`: "A\nä", `"\\\ud83d\ude00"`: "\\\U0001F600",
	} {
		var got string
		if err := strictjson.Decode([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is %q, %v", text, got, err)
		}
	}
	for text, where := range map[string]string{
		`"\ud800"`: `line 1, column 2: \ud800`, `"a\udc00"`: `column 3: \udc00`, `"\ud83d\u0041"`: `\ud83d`, `"\ud83d\ud83d"`: `\ud83d`, `"\\\ud800x"`: `column 4: \ud800`,
		`"\ude00\ud83d"`: `\ude00`, `"\ud83d"`: "half of a surrogate pair",
	} {
		var got string
		if err := strictjson.Decode([]byte(text), &got); err == nil || !strings.Contains(err.Error(), where) {
			t.Errorf("%s is %q, %v, want %q", text, got, err, where)
		}
	}
	var keys map[string]int
	if err := strictjson.Decode([]byte(`{"\ud800": 1}`), &keys); err == nil {
		t.Errorf("a key is %v", keys)
	}
}

// Decoding nested data allocates memory in proportion to the data. Caught when planted: the path of each value built while walking (124 MB).
func TestNestedDataTakesLinearMemory(t *testing.T) {
	const depth = 5000
	data := []byte(`{"free": ` + strings.Repeat("[", depth) + strings.Repeat("0,", depth) + "0" + strings.Repeat("]", depth) + "}")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var c config
	if err := strictjson.Decode(data, &c); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if total := after.TotalAlloc - before.TotalAlloc; total > 20<<20 {
		t.Errorf("%d bytes of data took %d bytes", len(data), total)
	}
	twice := bytes.Replace(data, []byte("0,0]"), []byte(`{"a":{"b":[[1,{"c":0,"c":0}]]}}]`), 1)
	if err, want := strictjson.Decode(twice, &c), fmt.Sprintf("key \"c\" is given twice in free%s[%d].a.b[0][1]", strings.Repeat("[0]", depth-1), depth-1); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want its end to be %s", err, want)
	}
}

// Of several incomplete members of a map, the first by its name is reported, in whatever order they are read.
// Caught when planted: members in the order of a map.
func TestCompleteMap(t *testing.T) {
	type member struct {
		Size int `json:"size"`
	}
	for range 100 { // a map begins with any of the three, so that the fault is missed with a probability of about 3^-100
		if err := strictjson.Complete([]byte(`{"c": {}, "a": {}, "b": {}}`), map[string]member{}); err == nil || err.Error() != "a.size is missing" {
			t.Fatalf("%v, want a.size is missing", err)
		}
	}
}
