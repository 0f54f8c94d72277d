// Package tensorboard writes and reads the event files of TensorBoard: a sequence of records, each of which is an Event protocol buffer
// (tensorflow/core/util/event.proto) in the framing of TFRecord files.
package tensorboard

import (
	"encoding/binary"
	"math"
)

// FileVersion is the content of the first event of a file. TensorBoard discards what an earlier process wrote after a restart only in files
// of this version.
const FileVersion = "brain.Event:2"

// An Event holds the values of one step.
type Event struct {
	Time        float64 // seconds since 1970
	Step        int64
	FileVersion string // of the first event of a file, otherwise ""
	Restart     bool   // a process starts to write: values of this step and of later ones, of earlier files, do not count
	Scalars     []Scalar
	Images      []Image
}

// HasValues reports whether the event has scalars or images.
func (e Event) HasValues() bool { return len(e.Scalars)+len(e.Images) > 0 }

// A Scalar is a named number. TensorBoard groups names by the part before their first slash.
type Scalar struct {
	Tag   string
	Value float32
}

// An Image is a named picture.
type Image struct {
	Tag           string
	Width, Height int    // in pixels
	PNG           []byte // the encoded picture
}

// Numbers of the fields, as in event.proto and summary.proto of TensorFlow.
const (
	eventTime, eventStep, eventVersion, eventSummary, eventSession = 1, 2, 3, 5, 7

	sessionStatus, sessionStart = 1, 1 // a field, and the value START

	summaryValue = 1

	valueTag, valueScalar, valueImage = 1, 2, 4

	imageHeight, imageWidth, imageColours, imageData = 1, 2, 3, 4

	rgb = 3 // value of imageColours
)

// encode returns the protocol buffer of an event.
func (e Event) encode() []byte {
	b := appendTag(nil, eventTime, fixed64)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(e.Time))
	if e.Step != 0 {
		b = appendNumber(b, eventStep, uint64(e.Step))
	}
	if e.FileVersion != "" {
		b = appendBytes(b, eventVersion, []byte(e.FileVersion))
	}
	if e.Restart {
		b = appendBytes(b, eventSession, appendNumber(nil, sessionStatus, sessionStart))
	}
	var values []byte
	for _, s := range e.Scalars {
		value := appendBytes(nil, valueTag, []byte(s.Tag))
		value = appendTag(value, valueScalar, fixed32)
		value = binary.LittleEndian.AppendUint32(value, math.Float32bits(s.Value))
		values = appendBytes(values, summaryValue, value)
	}
	for _, i := range e.Images {
		picture := appendNumber(nil, imageHeight, uint64(i.Height))
		picture = appendNumber(picture, imageWidth, uint64(i.Width))
		picture = appendNumber(picture, imageColours, rgb)
		picture = appendBytes(picture, imageData, i.PNG)
		values = appendBytes(values, summaryValue, appendBytes(appendBytes(nil, valueTag, []byte(i.Tag)), valueImage, picture))
	}
	if len(values) > 0 {
		b = appendBytes(b, eventSummary, values)
	}
	return b
}
