package tensorboard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A record of a TFRecord file (tensorflow/core/lib/io/record_writer.h):
//
//	uint64 length, uint32 masked CRC of the length, the data, uint32 masked CRC of the data
//
// All numbers are little-endian.
const (
	headerSize = 12
	footerSize = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked returns the CRC-32C of data, rotated by 15 bits to the right and with a constant added, so that the CRC of data that contain CRCs stays
// meaningful.
func masked(data []byte) uint32 {
	sum := crc32.Checksum(data, castagnoli)
	return (sum>>15 | sum<<17) + 0xa282ead8
}

// Record returns an event as it is appended to a file.
func (e Event) Record() []byte {
	data := e.encode()
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, headerSize+len(data)+footerSize), uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, masked(b))
	b = append(b, data...)
	return binary.LittleEndian.AppendUint32(b, masked(data))
}

var errDamaged = errors.New("damaged: its content does not match its checksum")

// Parse returns the events at the start of a file's content, and the offset of the end of each. An incomplete last record, of a writer that was
// killed or is still writing, is ignored. Another damaged record is an error; the events before it are returned as well.
func Parse(content []byte) (events []Event, ends []int64, err error) {
	for at := 0; len(content)-at >= headerSize+footerSize; {
		rest := content[at:]
		if binary.LittleEndian.Uint32(rest[8:]) != masked(rest[:8]) {
			return events, ends, fmt.Errorf("record %d: %w", len(events)+1, errDamaged)
		}
		size := binary.LittleEndian.Uint64(rest)
		if size > uint64(len(rest)-headerSize-footerSize) {
			break
		}
		data := rest[headerSize : headerSize+size]
		if binary.LittleEndian.Uint32(rest[headerSize+size:]) != masked(data) {
			return events, ends, fmt.Errorf("record %d: %w", len(events)+1, errDamaged)
		}
		e, err := decode(data)
		if err != nil {
			return events, ends, fmt.Errorf("record %d: %w", len(events)+1, err)
		}
		at += headerSize + len(data) + footerSize
		events, ends = append(events, e), append(ends, int64(at))
	}
	return events, ends, nil
}
