package runlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"universal-transformer/internal/safetensors"
)

// Whatever metrics.jsonl holds, it is read or refused in one line; what is read is read again when it is cut where a row ends, when
// its last line is cut short, and when its rows are written anew.
func FuzzMetrics(f *testing.F) {
	lines := "{\"version\":\"1\"}\n{\"step\":1}\n{\"step\":2,\"lo"
	f.Add([]byte(lines))
	f.Add([]byte("{\"step\":1e300}\n"))
	f.Add(append(checked([]byte(`{"version":"1"}`)), checked([]byte(`{"step":3,"crc":"x"}`))...))
	f.Add(append(checked([]byte(`{"step":3}`)), "{\"step\":4}\n"...))
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := parseMetrics(data, preceding{})
		if intact, damage := parseMetrics(data[:found.size], preceding{}); damage != nil || !reflect.DeepEqual(intact, found) {
			t.Fatalf("%q: its intact lines are %v, then %v, %v", data, found, intact, damage)
		}
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of more than one line: %q", err)
			}
			return
		}
		var anew []byte
		for i, row := range found.rows {
			before, err := parseMetrics(data[:found.ends[i]], preceding{})
			if err != nil || !reflect.DeepEqual(before.rows, found.rows[:i+1]) {
				t.Fatalf("%q: cut after row %d it is %v, %v", data, i+1, before, err)
			}
			object, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			anew = append(anew, checked(object)...)
		}
		again, err := parseMetrics(append(anew, `{"step":`...), preceding{})
		if err != nil || len(again.rows) != len(found.rows) || len(found.rows) > 0 && !reflect.DeepEqual(again.rows, found.rows) {
			t.Fatalf("%q: written anew it is %v, %v", data, again, err)
		}
	})
}

// Whatever a checkpoint's file holds, it is read or refused in one line; what is read is the same when it is written and read again.
func FuzzCheckpoint(f *testing.F) {
	whole, err := seal(7, &Checkpoint{Meta: map[string]string{"a": "b"}, Tensors: []safetensors.Tensor{
		{Name: "x", DType: "U8", Shape: []int{2}, Data: []byte("12")},
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(bytes.Replace(whole, []byte(`"step":"7"`), []byte(`"step":"x"`), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, resealed(data)} {
			c, err := unseal(data)
			if err != nil {
				if strings.Contains(err.Error(), "\n") {
					t.Fatalf("an error of more than one line: %q", err)
				}
				continue
			}
			written, err := seal(c.Step, c)
			if err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
			if back, err := unseal(written); err != nil || back.Step != c.Step || len(back.Meta) != len(c.Meta) || len(back.Tensors) != len(c.Tensors) {
				t.Fatalf("what was written is read as %+v, %v", back, err)
			}
		}
	})
}

// resealed has the digest of its content, if it has a place for one: most changes would end there otherwise.
func resealed(data []byte) []byte {
	key := []byte(`"` + sha256Key + `":"`)
	at := bytes.Index(data, key) + len(key)
	if at < len(key) || at+len(noDigest) > len(data) {
		return nil
	}
	data = bytes.Clone(data)
	copy(data[at:], noDigest)
	sum := sha256.Sum256(data)
	hex.Encode(data[at:], sum[:])
	return data
}
