package serve

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// A model has a path of its own with what the list says of it. Caught when planted: the first model for every name.
func TestOneModel(t *testing.T) {
	_, web := opened(t, Options{}, copier, "../models/reverse")
	var list struct{ Data []json.RawMessage }
	_, text := send(t, web, http.MethodGet, "/v1/models", "")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"copier", "reverse"} {
		if status, one := send(t, web, http.MethodGet, "/v1/models/"+name, ""); status != http.StatusOK || strings.TrimSpace(one) != string(list.Data[i]) {
			t.Errorf("%s: %d %s, the list has %s", name, status, one, list.Data[i])
		}
	}
}
