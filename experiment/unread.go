package experiment

import (
	"fmt"
	"reflect"
)

// unread returns an error that names the first field of an embedded configuration that is set in Go, and is no part of a run: JSON does not
// record it, and the field of the same name that the run has, or what the program knows of task and model, takes its place.
func (r Run) unread() error {
	training := reflect.ValueOf(r.Training)
	if err := unreadPart("Run.Training", "Run.Training", training, training.Type()); err != nil || r.Model.IsZero() {
		return err
	}
	model := reflect.ValueOf(r.Model.Value)
	if model.Kind() != reflect.Struct { // which validate refuses
		return nil
	}
	return unreadPart(model.Type().Name(), model.Type().Name(), model, model.Type())
}

// unreadPart returns the error for a part of a struct, either the struct itself or one embedded in it. Their names in Go are given.
func unreadPart(name, path string, part reflect.Value, whole reflect.Type) error {
	for i := range part.NumField() {
		field := part.Type().Field(i)
		at := path + "." + field.Name
		if field.Anonymous {
			if err := unreadPart(name, at, part.Field(i), whole); err != nil {
				return err
			}
			continue
		}
		if field.Tag.Get("json") != "-" || part.Field(i).IsZero() {
			continue
		}
		if read, found := whole.FieldByName(field.Name); found && read.Tag.Get("json") != "-" {
			return fmt.Errorf("%s is set, but a run does not read it: set %s.%s", at, name, field.Name)
		}
		return fmt.Errorf("%s is set, but a run does not record it: leave it out", at)
	}
	return nil
}
