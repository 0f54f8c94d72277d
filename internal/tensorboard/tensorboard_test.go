package tensorboard

import (
	"bytes"
	"encoding/hex"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"
)

// python is the file that TensorBoard 2.21.0 writes for the same events (tensorboard.summary.writer.record_writer.RecordWriter with
// tensorboard.compat.proto.event_pb2.Event(...).SerializeToString()).
const python = "1800000000000000a37f4b220900001040fc54d9411a0d627261696e2e4576656e743a32338d2fe9100000000000000095fbfe180900006040fc54d9" +
	"4110ac023a020801312d1a8d36000000000000004f578cef0900008040fc54d9411087ad4b2a270a140a0d747261696e696e672f6c6f737315000020" +
	"400a0f0a0873706565642fc3bc156f1283bab05e151ce700000000000000b99505c1090000c040fc54d9411088ad4b2ad7010ad4010a11617474656e" +
	"74696f6e2f656e636f64657222be01080310c801180322b401fafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfe" +
	"fffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfe" +
	"fffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfe" +
	"fffafbfcfdfefffafbfcfdfefffafbfcfdfefffafbfcfdfeff037eefbf"

// events are those of python.
func events() []Event {
	return []Event{
		{Time: 1700000000.25, FileVersion: FileVersion},
		{Time: 1700000001.5, Step: 300, Restart: true},
		{Time: 1700000002, Step: 1234567, Scalars: []Scalar{{"training/loss", 2.5}, {"speed/ü", -1e-3}}},
		{Time: 1700000003, Step: 1234568, Images: []Image{{"attention/encoder", 200, 3, bytes.Repeat([]byte{250, 251, 252, 253, 254, 255}, 30)}}},
	}
}

func fromPython(t testing.TB) []byte {
	t.Helper()
	content, err := hex.DecodeString(python)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// The bytes are those of TensorBoard's own writer.
// Caught when planted: width and height exchanged, an unmasked checksum, a checksum of the length that leaves out its upper half.
func TestRecordsAreThoseOfTensorBoard(t *testing.T) {
	var got []byte
	for _, e := range events() {
		got = append(got, e.Record()...)
	}
	if !bytes.Equal(got, fromPython(t)) {
		t.Errorf("%x\nwant\n%s", got, python)
	}
}

// What TensorBoard writes is read.
func TestParse(t *testing.T) {
	got, ends, err := Parse(fromPython(t))
	if err != nil || !reflect.DeepEqual(got, events()) {
		t.Errorf("%+v, %v", got, err)
	}
	if want := len(fromPython(t)); len(ends) != 4 || ends[3] != int64(want) {
		t.Errorf("the records end at %v, want 4, the last at %d", ends, want)
	}
}

// A file that ends anywhere gives the complete records, without an error. A changed byte gives the records before it; it is an error unless the
// length of the rest is unknown.
// Caught when planted: a checksum of the data that is not checked, one of the length.
func TestParseDamaged(t *testing.T) {
	whole := fromPython(t)
	all, ends, err := Parse(whole)
	if err != nil {
		t.Fatal(err)
	}
	complete := func(size int) (n int) {
		for n < len(ends) && ends[n] <= int64(size) {
			n++
		}
		return n
	}
	for i := range whole {
		if got, _, err := Parse(whole[:i]); err != nil || len(got) != complete(i) {
			t.Errorf("cut at %d: %d events, %v, want %d", i, len(got), err, complete(i))
		}
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x20
		n := complete(i)
		if got, _, err := Parse(damaged); err == nil || !strings.Contains(err.Error(), "damaged") || !reflect.DeepEqual(got, append([]Event(nil), all[:n]...)) {
			t.Errorf("byte %d changed: %d events, %v, want %d", i, len(got), err, n)
		}
	}
}

// Published checksums: the check value of CRC-32C is that of "123456789", 32 zeros are in RFC 3720 B.4; the masked value is that of TensorBoard's
// masked_crc32c.
func TestChecksum(t *testing.T) {
	if got := crc32.Checksum([]byte("123456789"), castagnoli); got != 0xe3069283 {
		t.Errorf("CRC-32C is %#x", got)
	}
	if got := crc32.Checksum(make([]byte, 32), castagnoli); got != 0x8a9136aa {
		t.Errorf("CRC-32C of zeros is %#x", got)
	}
	if got := masked([]byte("123456789")); got != 0xc78ab0e5 {
		t.Errorf("masked CRC is %#x", got)
	}
}

// Events of other programs have fields that are not known here, and known ones may have another type.
func TestForeignFields(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want Event
		bad  bool
	}{
		"graph":          {[]byte{0x22, 2, 'x', 'y', 0x10, 7}, Event{Step: 7}, false}, // field 4
		"histogram":      {[]byte{0x2a, 4, 0x0a, 2, 0x2a, 0}, Event{}, false},         // a value of another kind
		"step as text":   {[]byte{0x12, 1, '7'}, Event{}, true},                       // field 2
		"scalar as text": {[]byte{0x2a, 5, 0x0a, 3, 0x12, 1, '7'}, Event{}, true},     // field 2 of a value
		"cut":            {[]byte{0x2a, 5, 0x0a, 3}, Event{}, true},                   // shorter than it says
		"no tag":         {[]byte{0x2a, 7, 0x0a, 5, 0x15, 0, 0, 0x80, 0x3f}, Event{Scalars: []Scalar{{"", 1}}}, false},
	} {
		got, err := decode(c.data)
		if (err != nil) != c.bad || !c.bad && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// Whatever a file holds, what was read is written again as the same events.
func FuzzParse(f *testing.F) {
	f.Add(fromPython(f))
	f.Add(fromPython(f)[:100])
	f.Fuzz(func(t *testing.T, content []byte) {
		got, ends, _ := Parse(content)
		if len(got) != len(ends) || len(ends) > 0 && ends[len(ends)-1] > int64(len(content)) {
			t.Fatalf("%d events end at %v of %d", len(got), ends, len(content))
		}
		checkData(t, content) // records with valid checksums are rare
	})
}

// checkData reads data as an event, and the same event again from its record.
func checkData(t *testing.T, data []byte) {
	e, err := decode(data)
	if err != nil || e.Time != e.Time {
		return
	}
	again, _, err := Parse(e.Record())
	if err != nil || len(again) != 1 || !bytes.Equal(again[0].encode(), e.encode()) {
		t.Fatalf("%+v, %v, want %+v", again, err, e)
	}
}
