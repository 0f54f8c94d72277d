package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"

	"universal-transformer/task"
)

// Fingerprint returns a digest of the parts of the configuration that a resumed run must not change because its weights depend on them:
// task, model and seed. It does not depend on where the task's files are.
func (r Run) Fingerprint() string {
	sum := sha256.Sum256(Run{Task: r.Task, SourceEnd: r.SourceEnd, Model: r.Model, Seed: r.Seed}.Identity().JSON())
	return hex.EncodeToString(sum[:])
}

// Digest returns a digest of the whole configuration, including training. It does not depend on where files are.
func (r Run) Digest() string {
	sum := sha256.Sum256(r.Identity().JSON())
	return hex.EncodeToString(sum[:])
}

// Identity returns the run without paths. Base names remain where they distinguish runs (the tag file:"name").
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

// WithoutDirectories returns the run with base names in place of paths, for publication.
func (r Run) WithoutDirectories() Run {
	r.Training.Pretrained = base(r.Training.Pretrained)
	r.Task.Value = renamed(r.Task.Value, func(_, path string) string { return base(path) })
	return r
}

// base returns the last element of a path, which may be empty.
func base(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

// renamed returns a definition with other names in the fields that name files; see [task.Definition].
func renamed(d task.Definition, rename func(tag, path string) string) task.Definition {
	if d == nil {
		return nil
	}
	changed := reflect.New(reflect.TypeOf(d)).Elem()
	changed.Set(reflect.ValueOf(d))
	renameFields(changed, rename)
	return changed.Interface().(task.Definition)
}

// renameFields renames the files in a struct, in its structs, and in its lists of structs, which it copies.
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

// fileField returns the JSON name of the field that names the file of an error, or else "path".
func fileField(d task.Definition, err error) string {
	var missing *fs.PathError
	if !errors.As(err, &missing) {
		return "path"
	}
	if name := fieldOfFile(reflect.ValueOf(d), missing.Path); name != "" {
		return name
	}
	return "path"
}

// fieldOfFile returns the JSON name of the field of a struct that names a file, itself or in a list; empty if there is none.
func fieldOfFile(v reflect.Value, path string) string {
	for i := range v.NumField() {
		field, of := v.Field(i), v.Type().Field(i)
		name, _, _ := strings.Cut(of.Tag.Get("json"), ",")
		switch _, named := of.Tag.Lookup("file"); {
		case named && field.String() == path:
			return name
		case field.Kind() == reflect.Struct:
			if below := fieldOfFile(field, path); below != "" {
				return below
			}
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct:
			for k := range field.Len() {
				if fieldOfFile(field.Index(k), path) != "" {
					return name
				}
			}
		}
	}
	return ""
}
