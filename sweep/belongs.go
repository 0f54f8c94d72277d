package sweep

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/internal/quantity"
	"universal-transformer/internal/strictjson"
)

// This file determines whether a result is that of a cell, and whether results were measured alike: by the same protocol, on the same data.

// Mismatch returns an error that says why an existing result, as [Cell.Done] returns it, is not that of the cell: it has another configuration, or
// was measured by another protocol. A measurement of the caller's own is not compared.
func (c Cell) Mismatch(r Result, m Measured) error {
	if c.Changed(r) {
		return errors.New("has a result of another configuration")
	}
	if found, ok := m.(*Metrics); ok && c.Measure == nil {
		return c.Protocol.mismatch(found)
	}
	return nil
}

// Changed reports whether a result has another configuration than the cell, apart from the location of the data. Of a configuration with fields that
// this version does not know, it compares the others; a result that differs in nothing else is an error of [Cell.Done].
func (c Cell) Changed(r Result) bool {
	run, err := c.configuration(r)
	if err != nil {
		return len(c.Run.Differing(r.Config)) > 0
	}
	return !same(c.Run, run)
}

// comparable returns an error if a result's configuration cannot be read and has no known field with another value than the cell's.
func (c Cell) comparable(r Result) error {
	_, err := c.configuration(r)
	if err == nil || c.Changed(r) {
		return nil
	}
	by := cmp.Or(r.TrainedBy.Build(), r.MeasuredBy.Build(), "another version")
	return fmt.Errorf("%s: its configuration was written by %s and cannot be compared with that of the cell: %s: use that version, or remove the file and %s to repeat the run",
		c.File(), by, strictjson.WithoutPlace(err), c.Dir())
}

// configuration returns the run of a result. Its types of other modules are those of the cell's run, unless the result lacks a field that the cell's
// value would fill.
func (c Cell) configuration(r Result) (experiment.Run, error) {
	recorded, err := experiment.Decode(r.Config)
	if err != nil {
		return recorded, err
	}
	run, err := recorded.Extend(c.Run.Extensions())
	if err == nil && len(run.Fields()) != len(recorded.Fields()) {
		return recorded, nil
	}
	return run, err
}

// same reports whether runs are equal apart from their names, which earlier versions chose differently.
func same(a, b experiment.Run) bool {
	a.Name = b.Name
	return slices.Equal(a.Identity().JSON(), b.Identity().JSON())
}

// mismatch returns an error if figures were measured by another protocol, as far as they tell: those of earlier versions only have the lengths and
// the number of examples.
func (p Protocol) mismatch(m *Metrics) error {
	switch {
	case m.Measure != nil && *m.Measure != p:
		return fmt.Errorf("was measured with %s, but measure is %s", m.Measure.json(), p.json())
	case m.Measure == nil && (m.Lengths != p.lengths() || p.Count > 0 && m.Examples > p.Count || p.generated() && m.Examples != p.Count):
		return fmt.Errorf("was measured on %s, %s, but measure is %s", quantity.Regular(m.Examples, "examples"), m.Lengths, p.json())
	}
	return nil
}

// lengths describes the examples as results of earlier versions do.
func (p Protocol) lengths() string {
	if p.File != "" {
		return "of " + p.File
	}
	return p.Selection.String()
}

// generated reports whether there are as many examples as Count, because they are drawn.
func (p Protocol) generated() bool { return p.Count > 0 && (p.Length > 0 || p.Mix > 0 || p.Hard) }

// json returns the protocol as in the file of a sweep.
func (p Protocol) json() string {
	data, err := json.Marshal(p)
	if err != nil {
		panic(err) // it has texts, numbers and truth values only
	}
	return string(data)
}

// filePart names the digest of the examples of measure.file among those of the data.
const filePart = "measure.file"

// withFile returns the digests of data together with that of a file of examples, unless it is empty.
func withFile(data map[string]string, file string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, data)
	if file != "" {
		all[filePart] = file
	}
	return all
}

// digestsOf returns the digests of the data of a result by part; none if an earlier version wrote it, or if its task reads nothing.
func digestsOf(r Result, m Measured) map[string]string {
	if found, ok := m.(*Metrics); ok {
		return withFile(r.DataDigests, found.FileDigest)
	}
	return r.DataDigests
}

// differing names the parts of data whose digests differ. It returns "" if none does. If one side has no digests of its data, as results of versions
// that did not record them, only those of a file of examples are compared, where both have one.
func differing(a, b map[string]string) string {
	if !hasData(a) || !hasData(b) {
		if one, other := a[filePart], b[filePart]; one != "" && other != "" && one != other {
			return filePart
		}
		return ""
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	parts := slices.Sorted(maps.Keys(all))
	parts = slices.DeleteFunc(parts, func(part string) bool { return a[part] == b[part] })
	if len(parts) > 1 { // the digest of the file depends on the vocabulary, and so on the training data
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == filePart })
	}
	return strings.Join(parts, ", ")
}

// hasData reports whether digests are of more than a file of examples.
func hasData(digests map[string]string) bool {
	for part := range digests {
		if part != filePart {
			return true
		}
	}
	return false
}

// dataGroups finds results of one task with different data.
type dataGroups map[string]member

type member struct {
	file    string
	digests map[string]string
}

// add returns an error if the data of a result differ from those of another one whose task has the same configuration.
func (g dataGroups) add(c Cell, r Result, m Measured) error {
	own, group := member{c.File(), digestsOf(r, m)}, dataOf(c.Run)
	first := g[group]
	if parts := differing(first.digests, own.digests); parts != "" {
		return fmt.Errorf("%s and %s are of different data (%s) and cannot be compared: remove one of them and its run", first.file, own.file, parts)
	}
	if len(first.digests) == 0 || !hasData(first.digests) && hasData(own.digests) {
		g[group] = own
	}
	return nil
}
