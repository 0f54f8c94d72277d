//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"universal-transformer/viewer"
)

// forged runs the program on forged checkpoints, traces and settings.
func forged(w *world) part {
	var p part
	for _, f := range forgeries {
		p.trials = append(p.trials, trial{"forged checkpoint: " + f.name, func(s *scene) { s.forged(f) }})
	}
	for name, content := range traces {
		p.trials = append(p.trials, trial{"forged trace: " + name, func(s *scene) { s.draws(content) }})
	}
	n := 0
	for _, path := range []string{
		"training.steps", "training.batch.tokens", "training.batch.rows", "training.batch.boundaries", "training.validation", "training.accumulate", "training.keep",
		"training.log_every", "training.schedule.cosine.peak", "training.schedule.cosine.warmup", "training.label_smoothing", "training.clip_norm", "model.width", "model.heads",
		"model.transition.feedforward.filter", "model.halting.frozen.max_steps", "model.halting.frozen.epsilon", "model.dropout.attention", "model.positions.random_offset.max",
		"task.reverse.max_length", "task.reverse.base", "task.reverse.examples", "seed",
	} {
		for _, value := range []string{
			"9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e308", "1e400", "-1e308", "1e-320", "2147483648", "[9223372036854775807]", "[[[]]]", "[null]", "NaN", `"\u0000"`,
		} {
			if n++; w.quick && n%10 != 0 {
				continue
			}
			set := path + "=" + value
			p.trials = append(p.trials, trial{"huge number: " + set, func(s *scene) { s.feed(call{args: small("run", "training.steps=2", set)}) }})
		}
	}
	return p
}

// A forgery is a change to the header of a checkpoint, whose digest is computed anew.
type forgery struct {
	name   string
	change func(header string) string
}

var (
	anyShape   = regexp.MustCompile(`"shape":\[\d+(,\d+)*\]`)
	anyOffsets = regexp.MustCompile(`"data_offsets":\[\d+,\d+\]`)
	anyType    = regexp.MustCompile(`"dtype":"F32"`)
	anyMeta    = regexp.MustCompile(`"__metadata__":\{`)
	anyState   = regexp.MustCompile(`"training":"(\\.|[^"\\])*"`)
)

func once(pattern *regexp.Regexp, with string) func(string) string {
	return func(header string) string {
		at := pattern.FindStringIndex(header)
		return header[:at[0]] + with + header[at[1]:]
	}
}

var forgeries = []forgery{
	{"shape of null", once(anyShape, `"shape":null`)}, {"shape with null", once(anyShape, `"shape":[null]`)}, {"negative shape", once(anyShape, `"shape":[-1,-8]`)},
	{"huge shape", once(anyShape, `"shape":[4294967296,4294967296]`)}, {"overflowing shape", once(anyShape, `"shape":[9223372036854775807,2]`)},
	{"shape without bound", once(anyShape, `"shape":[`+strings.Repeat("1,", 100_000)+`1]`)}, {"shape of text", once(anyShape, `"shape":"8"`)},
	{"shape twice", once(anyShape, `"shape":[1],"shape":[8,8]`)}, {"offsets beyond the file", once(anyOffsets, `"data_offsets":[0,99999999999]`)},
	{"overlapping offsets", once(anyOffsets, `"data_offsets":[4,36]`)}, {"offsets that go back", once(anyOffsets, `"data_offsets":[32,0]`)},
	{"negative offsets", once(anyOffsets, `"data_offsets":[-32,0]`)}, {"offsets of null", once(anyOffsets, `"data_offsets":null`)},
	{"unknown type", once(anyType, `"dtype":"F7"`)}, {"other type", once(anyType, `"dtype":"BF16"`)}, {"type of null", once(anyType, `"dtype":null`)},
	{"metadata of null", once(anyMeta, `"x":null,"__metadata__":{`)}, {"metadata twice", once(anyMeta, `"__metadata__":{},"__metadata__":{`)},
	{"state of null", once(anyState, `"training":"null"`)}, {"no state", once(anyState, `"training":""`)}, {"a number for the state", once(anyState, `"training":7`)},
	{"null in the plan", once(anyState, `"training":"{\"capacity_plan\":{\"shapes\":[null]}}"`)},
	{"a plan without bound", once(anyState, `"training":"{\"capacity_plan\":{\"shapes\":[{\"encoder\":{\"peaks\":[{}],\"units\":[[9223372036854775807,1,1]]}}]}}"`)},
	{"a batch without bound", once(anyState, `"training":"{\"data\":{\"window\":9223372036854775807,\"batch\":9223372036854775807}}"`)},
	{"no header", func(string) string { return "" }}, {"a list for a header", func(string) string { return "[]" }}, {"nested header", func(string) string { return strings.Repeat("[", 1<<20) }},
}

// forged forges the newest checkpoint, removes the others, and runs all commands on the run.
func (s *scene) forged(f forgery) {
	run := s.copyOf(s.base, "run")
	newest := read(run).newest()
	for _, name := range read(run).files() {
		if strings.HasPrefix(name, "checkpoints/") && name != newest {
			must(os.Remove(filepath.Join(run, name)))
		}
	}
	must(os.Remove(filepath.Join(run, "best.json")))
	data := read(run)[newest]
	length := 8 + int(binary.LittleEndian.Uint64(data))
	must(os.WriteFile(filepath.Join(run, newest), resealed(f.change(string(data[8:length])), data[length:]), 0o644))
	before := read(run)
	for _, a := range append(append([]query{}, queries...), resuming) {
		r := s.run(call{args: a.args, stdin: strings.NewReader(a.stdin)})
		c := r.refusalWithoutLoss(before, read(run))
		if r.code == 0 && r.fault() == "" {
			c = answered // this command does not read the forged part
			if a.name == resuming.name {
				c = silent
			}
		}
		s.note(a.name, c, r.says())
	}
}

// resealed returns a checkpoint with a header and data, and the matching digest.
func resealed(header string, data []byte) []byte {
	digest := regexp.MustCompile(`"sha256":"[0-9a-f]{64}"`)
	zeros := strings.Repeat("0", 64)
	header = digest.ReplaceAllString(header, `"sha256":"`+zeros+`"`)
	file := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	sum := sha256.Sum256(append(file, data...))
	return append([]byte(strings.Replace(string(file), zeros, hex.EncodeToString(sum[:]), 1)), data...)
}

// traces lists forged traces. Only the library reads traces.
var traces = map[string]string{
	"no weights": `"weights": []`, "weights of null": `"weights": null`, "weights without bound": `"weights": [[[1e308]]]`, "weights of text": `"weights": "much"`,
	"huge updates": `"updates": [9223372036854775807]`, "negative updates": `"updates": [-1]`, "attention of null": `"attention": [null]`,
}

// draws reads a trace in which one field is replaced, and draws it in every way. It must be rejected or drawn.
func (s *scene) draws(field string) {
	s.copyOf(s.base, "run")
	r := s.run(call{args: queries[3].args}).ok()
	key, value, _ := strings.Cut(field, ": ")
	var all, encoder map[string]json.RawMessage
	must(json.Unmarshal([]byte(r.stdout), &all))
	must(json.Unmarshal(all["encoder"], &encoder))
	encoder[strings.Trim(key, `"`)] = json.RawMessage(value)
	all["encoder"], _ = json.Marshal(encoder)
	changed, _ := json.Marshal(all)
	defer func() {
		if problem := recover(); problem != nil {
			s.note("", stack, fmt.Sprint(problem))
		}
	}()
	t, err := viewer.ReadJSON(strings.NewReader(string(changed)))
	if err != nil {
		s.note("", refused, err.Error())
		return
	}
	for _, width := range []int{1, 80, math.MaxInt16} {
		_ = viewer.WriteText(new(bounded), t, width, true)
	}
	_ = viewer.WriteHTML(new(bounded), t)
	_ = viewer.WriteJSON(new(bounded), t)
	_ = viewer.WriteAttentionSVG(new(bounded), t)
	_ = viewer.WritePonderSVG(new(bounded), t)
	s.note("", answered, "")
}
