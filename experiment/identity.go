package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"reflect"

	"universal-transformer/task"
)

// Fingerprint stands for what weights depend on and a resumed run may not change: task, model, seed. Where a task's files lie
// does not matter; what is in them shows in the vocabulary.
func (r Run) Fingerprint() string {
	sum := sha256.Sum256(Run{Task: r.Task, SourceEnd: r.SourceEnd, Model: r.Model, Seed: r.Seed}.Identity().JSON())
	return hex.EncodeToString(sum[:])
}

// Digest stands for all of the run, training included, but for where its files lie.
func (r Run) Digest() string {
	sum := sha256.Sum256(r.Identity().JSON())
	return hex.EncodeToString(sum[:])
}

// Identity is the run without the names of its files, but for those that tell one run from another (the tag file:"name").
func (r Run) Identity() Run {
	r.Training.Pretrained = base(r.Training.Pretrained)
	r.Task.Value = renamed(r.Task.Value, func(tag, path string) string {
		if tag == "any" {
			return ""
		}
		return base(path)
	})
	return r
}

// WithoutDirectories is the run with the bare names of its files: where they lie is of no interest to others.
func (r Run) WithoutDirectories() Run {
	r.Training.Pretrained = base(r.Training.Pretrained)
	r.Task.Value = renamed(r.Task.Value, func(_, path string) string { return base(path) })
	return r
}

// base is the last element of a path, which may be empty.
func base(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

// renamed changes the fields of a definition that name files; see [task.Definition].
func renamed(d task.Definition, rename func(tag, path string) string) task.Definition {
	if d == nil {
		return nil
	}
	changed := reflect.New(reflect.TypeOf(d)).Elem()
	changed.Set(reflect.ValueOf(d))
	renameFields(changed, rename)
	return changed.Interface().(task.Definition)
}

// renameFields changes the fields of a struct that name files, and those of structs in it and in its lists, which are copied.
func renameFields(v reflect.Value, rename func(tag, path string) string) {
	for i := range v.NumField() {
		field := v.Field(i)
		tag, named := v.Type().Field(i).Tag.Lookup("file")
		switch {
		case named:
			field.SetString(rename(tag, field.String()))
		case field.Kind() == reflect.Struct:
			renameFields(field, rename)
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct:
			list := reflect.MakeSlice(field.Type(), field.Len(), field.Len())
			reflect.Copy(list, field)
			for k := range list.Len() {
				renameFields(list.Index(k), rename)
			}
			if !field.IsNil() {
				field.Set(list)
			}
		}
	}
}
