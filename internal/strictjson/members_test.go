package strictjson

import (
	"errors"
	"testing"
)

// The members of an object are in order, with those given twice, and offsets that cut them out of the data. Caught when planted: offsets of the
// comma before a name; the first of two members alone; data after the object as an error.
func TestMembers(t *testing.T) {
	const data = " { \"a\" : [1, {\"b\": 2}] ,\n\"\\u00e9\":null,\"a\":\"}\" } rest"
	list, end, err := Members([]byte(data))
	if err != nil || data[end:] != " rest" {
		t.Fatalf("%q after the object, %v", data[end:], err)
	}
	want := []struct{ name, value, text string }{{"a", `[1, {"b": 2}]`, `"a" : [1, {"b": 2}]`}, {"é", "null", `"\u00e9":null`}, {"a", `"}"`, `"a":"}"`}}
	if len(list) != len(want) {
		t.Fatalf("%d members", len(list))
	}
	for i, m := range list {
		if m.Name != want[i].name || string(m.Value) != want[i].value || data[m.Begin:m.End] != want[i].text {
			t.Errorf("%q: %s in %q", m.Name, m.Value, data[m.Begin:m.End])
		}
	}
	for _, other := range []string{"", "[1]", "null", "1 {}"} {
		if _, _, err := Members([]byte(other)); !errors.Is(err, ErrNotObject) {
			t.Errorf("%q: %v", other, err)
		}
	}
	for _, cut := range []string{`{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{1:2}`, `{"a" 1}`, `{"a":1 "b":2}`} {
		if list, _, err := Members([]byte(cut)); err == nil || list != nil {
			t.Errorf("%q: %v, %v", cut, list, err)
		}
	}
}

func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a": 1, "a": {"b": [null]}} x`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, end, err := Members(data)
		if err != nil {
			return
		}
		for _, m := range list {
			if m.Begin < 0 || m.End <= m.Begin || m.End > end || data[m.Begin] != '"' {
				t.Errorf("%q: member %d to %d of %d", data, m.Begin, m.End, end)
			}
		}
	})
}
