package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"universal-transformer/task"
)

// A File is a field of a configuration that names a file or a folder.
type File struct {
	Field string // its path in the JSON: "task.table.path"
	Path  string
}

// IsRun reports whether the field names a run directory instead of data.
func (f File) IsRun() bool { return f.Field == pretrainedField }

// pretrainedField is the field that names a run directory.
const pretrainedField = "training.pretrained"

// Files returns the files that the configuration names. Names inside a folder or an archive that another field names are not included.
func (r Run) Files() (list []File) {
	_ = r.WithFiles(func(f File) string {
		list = append(list, f)
		return f.Path
	})
	return list
}

// WithFiles returns the run with other paths in the fields that [Run.Files] returns.
func (r Run) WithFiles(rename func(File) string) Run {
	r.Task.Value = renamed(r.Task.Value, func(f file) string {
		if f.path == "" || f.inside {
			return f.path
		}
		return rename(File{"task." + r.Task.key() + "." + f.name, f.path})
	})
	if r.Training.Pretrained != "" {
		r.Training.Pretrained = rename(File{pretrainedField, r.Training.Pretrained})
	}
	return r
}

// A MissingFileError means that data of a run's task do not exist.
type MissingFileError struct {
	Field string // the field that names them: "task.table.path"
	List  bool   // the field is a list of parallel files
	Err   error
}

func (e *MissingFileError) Error() string {
	return fmt.Sprintf("%v: set %s to the location of the data", e.Err, e.Field)
}

// Unwrap returns e.Err.
func (e *MissingFileError) Unwrap() error { return e.Err }

// missingFile returns the error for data that do not exist. The field is the one that names the missing file or the folder it should be in.
func (r Run) missingFile(err error) error {
	field, longest, inList := "", -1, false
	var missing *fs.PathError
	if errors.As(err, &missing) {
		for _, f := range r.Files() {
			name, _, of := strings.Cut(f.Field, "[") // assignments do not reach into lists
			if within(f.Path, missing.Path) && len(f.Path) > longest {
				field, longest, inList = name, len(f.Path), of
			}
		}
	}
	if field == "" && len(r.Task.extensions()) > 0 { // it has fields of its own
		return fmt.Errorf("task.%s: %w", r.Task.key(), err)
	}
	if field == "" {
		field = "task." + r.Task.key() + ".path"
	}
	return &MissingFileError{Field: field, List: inList, Err: err}
}

// within reports whether a path is that of a folder or of something in it.
func within(folder, path string) bool {
	relative, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(relative)
}

// file is a field of a definition that names a file.
type file struct {
	name   string // its path in the JSON of the definition: "training[0].source"
	tag    string // how much of the path is part of the identity: "name" or "any"
	path   string
	inside bool // path is a name inside a folder or an archive that another field names
}

// renamed returns a definition with other names in the fields that name files; see [task.Definition].
func renamed(d task.Definition, rename func(file) string) task.Definition {
	if d == nil {
		return nil
	}
	changed := reflect.New(reflect.TypeOf(d)).Elem()
	changed.Set(reflect.ValueOf(d))
	if changed.Kind() == reflect.Struct {
		renameFields(changed, changed, "", rename)
	}
	return changed.Interface().(task.Definition)
}

// renameFields renames the files in a struct, in its structs, and in its lists of structs, which it copies. The definition is root, and
// prefix the path of v in its JSON.
func renameFields(root, v reflect.Value, prefix string, rename func(file) string) {
	for i := range v.NumField() {
		field, of := v.Field(i), v.Type().Field(i)
		name, _, _ := strings.Cut(of.Tag.Get("json"), ",")
		below := prefix
		if name != "" || !of.Anonymous {
			below += name + "."
		}
		switch tag, named := of.Tag.Lookup("file"); {
		case named:
			f := file{name: prefix + name, tag: tag, path: field.String()}
			if folder, ok := of.Tag.Lookup("inside"); ok {
				f.inside = root.FieldByName(folder).String() != ""
			}
			field.SetString(rename(f))
		case field.Kind() == reflect.Struct:
			renameFields(root, field, below, rename)
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct && !field.IsNil():
			list := reflect.MakeSlice(field.Type(), field.Len(), field.Len())
			reflect.Copy(list, field)
			for k := range list.Len() {
				renameFields(root, list.Index(k), fmt.Sprintf("%s%s[%d].", prefix, name, k), rename)
			}
			field.Set(list)
		}
	}
}

// WithMovedFiles returns the run with other places of its files. Assignments are those of [Run.Set]. An assignment that changes anything but
// where a file is, is an error.
func (r Run) WithMovedFiles(assignments ...string) (Run, error) {
	moved, err := r.Set(assignments...)
	if err != nil && !r.setsOther(assignments) {
		return r, err
	}
	same := func(File) string { return "a file" }
	if err == nil && string(moved.WithFiles(same).JSON()) == string(r.WithFiles(same).JSON()) {
		if moved.Digest() == r.Digest() {
			return moved, nil
		}
		return r, fmt.Errorf("%s: another name of the file or folder would be another task: keep its name", strings.Join(assignments, ", "))
	}
	fields := r.fileFields()
	if len(fields) == 0 {
		return r, fmt.Errorf("%s cannot be set: the task reads no files", strings.Join(assignments, ", "))
	}
	return r, fmt.Errorf("%s: only the places of files can be set, %s", strings.Join(assignments, ", "), list(fields))
}

// fileFields returns the fields that name files, or lists of them, each once.
func (r Run) fileFields() (fields []string) {
	for _, f := range r.Files() {
		name, _, _ := strings.Cut(f.Field, "[")
		if !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	return fields
}

// setsOther reports whether an assignment names a field of the run that names no file.
func (r Run) setsOther(assignments []string) bool {
	return slices.ContainsFunc(assignments, func(assignment string) bool {
		path, _, _ := strings.Cut(assignment, "=")
		named := func(field string) bool { return field == path || withoutVariants(field) == path }
		return !slices.ContainsFunc(r.fileFields(), named) && r.HasField(path)
	})
}

// checkReadAgain returns an error if data come from the standard input or another open file, which can be read only once.
func (r Run) checkReadAgain() error {
	for _, f := range r.Files() {
		path := filepath.ToSlash(f.Path)
		if path == "-" || path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/") {
			return fmt.Errorf("%s is %s: the standard input cannot be read, because evaluation and resumed training read the data again; save them in a file", f.Field, f.Path)
		}
	}
	return nil
}
