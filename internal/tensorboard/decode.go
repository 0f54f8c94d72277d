package tensorboard

import "math"

// decode reads an event. Fields that this package does not write are ignored.
func decode(b []byte) (e Event, err error) {
	err = fields(b, func(f field) (err error) {
		switch {
		case f.is(eventTime, fixed64, &err):
			e.Time = math.Float64frombits(f.value)
		case f.is(eventStep, varint, &err):
			e.Step = int64(f.value)
		case f.is(eventVersion, length, &err):
			e.FileVersion = string(f.bytes)
		case f.is(eventSession, length, &err):
			return fields(f.bytes, func(s field) error {
				e.Restart = e.Restart || s.number == sessionStatus && s.value == sessionStart
				return nil
			})
		case f.is(eventSummary, length, &err):
			return fields(f.bytes, func(v field) (err error) {
				if v.is(summaryValue, length, &err) && err == nil {
					err = e.decodeValue(v.bytes)
				}
				return err
			})
		}
		return err
	})
	return e, err
}

// decodeValue reads a value of a summary, a scalar or an image, and adds it to the event.
func (e *Event) decodeValue(b []byte) error {
	tag := ""
	var scalar *float32
	var image *Image
	err := fields(b, func(f field) (err error) {
		switch {
		case f.is(valueTag, length, &err):
			tag = string(f.bytes)
		case f.is(valueScalar, fixed32, &err):
			v := math.Float32frombits(uint32(f.value))
			scalar = &v
		case f.is(valueImage, length, &err):
			image = &Image{}
			return image.decode(f.bytes)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case scalar != nil:
		e.Scalars = append(e.Scalars, Scalar{tag, *scalar})
	case image != nil:
		image.Tag = tag
		e.Images = append(e.Images, *image)
	}
	return nil
}

func (i *Image) decode(b []byte) error {
	return fields(b, func(f field) (err error) {
		switch {
		case f.is(imageHeight, varint, &err):
			i.Height = int(int32(f.value))
		case f.is(imageWidth, varint, &err):
			i.Width = int(int32(f.value))
		case f.is(imageData, length, &err):
			i.PNG = f.bytes
		}
		return err
	})
}
