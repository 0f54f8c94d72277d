package experiment

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/universal"
)

// trainingOnly matches the fields of a model that outputs of a trained model do not depend on.
var trainingOnly = regexp.MustCompile(`^(Config\.|Model\.)?Dropout|Positions\.|\.(Bias|GlorotWeight|MinSteps)$`)

// Whatever changes the outputs of a model changes the description of its exported weights: every variant of every part, and every field.
// Caught when planted: the pool of classifiers, evidence, alternate coordinates, widths, separators, scale_steps or source_end left out.
func TestPortableDescribesEveryField(t *testing.T) {
	var all strings.Builder
	reported := map[string]bool{} // fields, each of which fails once
	for _, r := range (arrangements{}).rows() {
		u := ownModel(64, 4, tenth)
		u.PreNorm, u.Arrangement.Value = false, r.defaults
		all.WriteString(describePortable(t, Tagger{u}))
	}
	for _, model := range (models{}).rows() {
		for _, kind := range withVariants(model.defaults) {
			base := describePortable(t, kind)
			all.WriteString(base)
			vary(reflect.ValueOf(kind), "", func(path string, changed reflect.Value) {
				switch same := describePortable(t, changed.Interface().(ModelKind)) == base; {
				case same == trainingOnly.MatchString(path) || reported[path]:
					return
				case same:
					t.Errorf("%s of %s is not described: add it to PortableStep, or to the description of its part, and to docs/weights.md; "+
						"if it concerns training only, add it to trainingOnly of this test", path, model.key)
				default:
					t.Errorf("%s of %s is described, but trainingOnly of this test says that it concerns training only", path, model.key)
				}
				reported[path] = true
			})
		}
	}
	for _, key := range describedKeys() {
		if !strings.Contains(all.String(), `"`+key+`"`) {
			t.Errorf("no description names %s", key)
		}
	}
	copies := Run{Task: Task{algorithmic.Copy{}}, Model: Model{EncoderDecoder{ownModel(64, 4, tenth)}}}
	ends := copies
	ends.SourceEnd = true
	if reflect.DeepEqual(portableOf(t, copies), portableOf(t, ends)) {
		t.Error("source_end is not described")
	}
}

// Every name in a description is explained in docs/weights.md, with every variant.
// Caught when planted: a key of a halting policy, or a field, missing from the document.
func TestPortableIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/weights.md")
	if err != nil {
		t.Fatal(err)
	}
	names := describedKeys()
	for _, of := range []any{Portable{}, PortableStep{}} {
		for i := range reflect.TypeOf(of).NumField() {
			if name, _, _ := strings.Cut(reflect.TypeOf(of).Field(i).Tag.Get("json"), ","); name != "" {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		if !regexp.MustCompile("`" + name + "[`.]").Match(text) {
			t.Errorf("docs/weights.md does not explain %s", name)
		}
	}
}

// describedKeys returns the keys of all variants that outputs of a trained model depend on.
func describedKeys() []string {
	return slices.DeleteFunc(VariantKeys("model"), func(key string) bool { return slices.Contains(Positions{}.keys(), key) })
}

// foreignPolicy and foreignTransition are variants of another module.
type foreignPolicy struct{ halting.Fixed }
type foreignTransition struct{ universal.FeedForward }

// Parts of another module are refused by name.
func TestPortableRefusesForeignParts(t *testing.T) {
	for want, change := range map[string]func(*Universal){
		"model.halting.go:foreignPolicy":        func(u *Universal) { u.Halting.Value = foreignPolicy{halting.Fixed{Steps: 2}} },
		"model.transition.go:foreignTransition": func(u *Universal) { u.Transition.Value = foreignTransition{} },
	} {
		u := ownModel(64, 4, tenth)
		change(&u)
		run := Run{Task: Task{algorithmic.Copy{}}, Model: Model{EncoderDecoder{u}}}
		if _, err := run.Portable(portableVocabularies(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// withVariants returns the kind with every variant of every part.
func withVariants(kind ModelKind) []ModelKind {
	stepped, ok := kind.(UniversalKind)
	if !ok {
		return []ModelKind{kind}
	}
	var kinds []ModelKind
	add := func(change func(u *Universal)) {
		u := stepped.Step()
		change(&u)
		kinds = append(kinds, stepped.WithStep(u))
	}
	for _, r := range (transitions{}).rows() {
		add(func(u *Universal) { u.Transition.Value = r.defaults })
	}
	add(func(u *Universal) {
		u.Transition.Value = universal.SeparableConvolution{Filter: 8, Widths: [2]int{3, 5}} // the default has none
	})
	for _, r := range (policies{}).rows() {
		add(func(u *Universal) { u.Halting.Value = r.defaults })
	}
	for _, r := range (coordinates{}).rows() {
		add(func(u *Universal) { u.Coordinates.Value = r.defaults })
	}
	for _, r := range (countings{}).rows() {
		add(func(u *Universal) { u.Counting.Value = r.defaults })
	}
	for _, r := range (positionings{}).rows() {
		add(func(u *Universal) { u.Positions.Value = r.defaults })
	}
	return kinds
}

// vary calls f with copies of a struct in which one field, at a path of names, has another value.
func vary(v reflect.Value, path string, f func(path string, changed reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() || field.Tag.Get("json") == "-" {
				continue
			}
			name := strings.TrimPrefix(path+"."+field.Name, ".")
			if field.Anonymous {
				name = path
			}
			vary(v.Field(i), name, func(at string, part reflect.Value) {
				changed := reflect.New(v.Type()).Elem()
				changed.Set(v)
				changed.Field(i).Set(part)
				f(at, changed)
			})
		}
	case reflect.Interface:
		if !v.IsNil() {
			vary(v.Elem(), path, f)
		}
	case reflect.Array:
		for i := range v.Len() {
			changed := reflect.New(v.Type()).Elem()
			changed.Set(v)
			changed.Index(i).SetInt(v.Index(i).Int() + 1)
			f(path, changed)
		}
	case reflect.Slice:
		f(path, reflect.ValueOf([]string{"-"}))
	case reflect.Bool:
		f(path, reflect.ValueOf(!v.Bool()))
	case reflect.Int:
		f(path, reflect.ValueOf(int(v.Int())+8))
	case reflect.Float64:
		f(path, reflect.ValueOf(v.Float()+0.25))
	case reflect.String:
		f(path, reflect.ValueOf(map[Pool]Pool{MeanPool: LastPool, LastPool: MeanPool}[Pool(v.String())]))
	default:
		panic("no other value for " + path)
	}
}

func portableVocabularies(t *testing.T) task.Vocabularies {
	t.Helper()
	v, err := vocab.New([]string{"+", "-", task.Question})
	if err != nil {
		t.Fatal(err)
	}
	return task.Vocabularies{Source: v, Target: v}
}

func describePortable(t *testing.T, kind ModelKind) string {
	t.Helper()
	data, err := json.Marshal(portableOf(t, Run{Task: Task{algorithmic.Copy{}}, Model: Model{kind}}))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func portableOf(t *testing.T, r Run) Portable {
	t.Helper()
	p, err := r.Portable(portableVocabularies(t))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The place of the norms of branched attention is described, as that of other models is.
func TestPortableBranched(t *testing.T) {
	for preNorm, want := range map[bool]string{false: `"arrangement":"branched"`, true: `"arrangement":"branched_pre_norm"`} {
		u := ownModel(64, 4, tenth)
		u.PreNorm, u.Arrangement.Value = false, universal.Branched{PreNorm: preNorm}
		if text := describePortable(t, Tagger{u}); !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}
