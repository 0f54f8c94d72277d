package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Complete returns the configuration as JSON with all fields, including those that [Run.JSON] omits because they are zero.
func (r Run) Complete() []byte {
	var compact, indented bytes.Buffer
	writeComplete(&compact, reflect.ValueOf(r))
	if err := json.Indent(&indented, compact.Bytes(), "", "  "); err != nil {
		panic(fmt.Sprintf("experiment: %v", err)) // writeComplete writes JSON
	}
	indented.WriteByte('\n')
	return indented.Bytes()
}

// writeComplete writes a value as encoding/json does, but ignores omitempty and omitzero.
func writeComplete(b *bytes.Buffer, v reflect.Value) {
	if part, ok := v.Interface().(variantPart); ok {
		b.WriteByte('{')
		if key, value := part.choice(); key != "" {
			fmt.Fprintf(b, "%q:", key)
			writeComplete(b, reflect.ValueOf(value))
		}
		b.WriteByte('}')
		return
	}
	if v.Kind() == reflect.Slice && v.Len() > 0 {
		separator := byte('[')
		for _, element := range v.Seq2() {
			b.WriteByte(separator)
			separator = ','
			writeComplete(b, element)
		}
		b.WriteByte(']')
		return
	}
	_, own := v.Interface().(json.Marshaler)
	if v.Kind() != reflect.Struct || own {
		data, err := json.Marshal(v.Interface())
		if err != nil {
			panic(fmt.Sprintf("experiment: %v", err)) // plain numbers and strings marshal
		}
		b.Write(data)
		return
	}
	b.WriteByte('{')
	separator := ""
	for _, field := range reflect.VisibleFields(v.Type()) {
		tag := field.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		if !field.IsExported() || field.Anonymous && name == "" || tag == "-" {
			continue
		}
		if name == "" {
			name = field.Name
		}
		fmt.Fprintf(b, "%s%q:", separator, name)
		separator = ","
		writeComplete(b, v.FieldByIndex(field.Index))
	}
	b.WriteByte('}')
}
