package cpu

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/kernel"
)

// A buffer is a tensor in the memory of this process.
//
// Slices returned by Data stay valid as long as they are referenced: arenas never leave an executable, and memory that Data returned is
// not reused. Those of NewSharedBuffer are valid until the buffer is finalized, as the tensors of GoMLX that hold them expect.
type buffer struct {
	backend *Backend
	shape   shapes.Shape
	flat    any            // a slice of the Go type of shape.DType; nil when finalized or donated
	data    unsafe.Pointer // the first element of flat
	seen    atomic.Bool    // callers may hold the memory
	readers atomic.Int32   // number of executions that read the memory, or closed

	frozen   atomic.Bool
	mu       sync.Mutex
	packings map[packingKey][]byte // of a frozen buffer
}

// packingKey is how an operand is packed from a buffer.
type packingKey struct {
	offset int
	layout kernel.Matmul
}

// closed is the number of readers of a buffer whose memory another buffer may use.
const closed = -1

var _ compute.Buffer = (*buffer)(nil)

// poison, in tests, fills the memory of new buffers, so that an element that nobody writes is noticed.
var poison func(flat any)

// newBuffer returns a buffer with any content.
func (b *Backend) newBuffer(shape shapes.Shape) *buffer {
	flat := b.spare.take(shape.DType, shape.Size())
	if flat == nil {
		flat = makeFlat(shape.DType, shape.Size())
	}
	if poison != nil {
		poison(flat)
	}
	return b.bufferOf(flat, shape)
}

// newZeros returns a zeroed buffer.
func (b *Backend) newZeros(shape shapes.Shape) *buffer {
	flat := b.spare.take(shape.DType, shape.Size())
	if flat == nil {
		return b.bufferOf(makeFlat(shape.DType, shape.Size()), shape)
	}
	clear(dtypes.UnsafeByteSliceFromAny(flat))
	return b.bufferOf(flat, shape)
}

// bufferOf returns a buffer with the given memory.
func (b *Backend) bufferOf(flat any, shape shapes.Shape) *buffer {
	return &buffer{backend: b, shape: shape.Clone(), flat: flat, data: flatPointer(flat)}
}

// makeFlat allocates n elements; packed types hold several in a byte.
func makeFlat(dtype dtypes.DType, n int) any {
	if dtype.IsPacked() {
		return make([]byte, dtype.SizeForDimensions(n))
	}
	return dtypes.MakeAnySlice(dtype, n)
}

// flatPointer returns the address of the first element of a slice of any type.
func flatPointer(flat any) unsafe.Pointer {
	return reflect.ValueOf(flat).UnsafePointer()
}

// copyFlat copies between slices of the same type. It returns false if they differ in type or length.
func copyFlat(dst, src any) bool {
	d, s := reflect.ValueOf(dst), reflect.ValueOf(src)
	if d.Kind() != reflect.Slice || s.Kind() != reflect.Slice || d.Type() != s.Type() || d.Len() != s.Len() {
		return false
	}
	reflect.Copy(d, s)
	return true
}

// Backend returns the backend that owns the buffer.
func (buf *buffer) Backend() compute.Backend { return buf.backend }

// Finalize releases the memory, to be reused unless callers or executions may hold it. A second call does nothing.
func (buf *buffer) Finalize() error {
	if flat := buf.flat; flat != nil && buf.readers.CompareAndSwap(0, closed) && !buf.seen.Load() {
		buf.backend.spare.keep(buf.shape.DType, buf.shape.Size(), flat)
	}
	buf.flat, buf.data = nil, nil
	return nil
}

// successor returns a buffer with the memory of buf, which loses it. It returns nil if the content must stay, because another execution than the
// caller's reads it or because it is frozen.
func (buf *buffer) successor(shape shapes.Shape) *buffer {
	if buf.frozen.Load() || !buf.readers.CompareAndSwap(1, closed) {
		return nil
	}
	next := &buffer{backend: buf.backend, shape: shape, flat: buf.flat, data: buf.data}
	next.seen.Store(buf.seen.Load())
	buf.flat, buf.data = nil, nil
	return next
}

// open counts an execution that reads the memory. It returns false if the buffer was finalized.
func (buf *buffer) open() bool {
	for {
		n := buf.readers.Load()
		if n == closed || buf.flat == nil {
			return false
		}
		if buf.readers.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Freeze promises that the content does not change any more: executions may keep what they make of it.
func (buf *buffer) Freeze() { buf.frozen.Store(true) }

// packed returns the content as an operand of a product, which is packed once.
func (buf *buffer) packed(key packingKey) unsafe.Pointer {
	buf.mu.Lock()
	defer buf.mu.Unlock()
	memory, ok := buf.packings[key]
	if !ok {
		memory = make([]byte, key.layout.PackedBytes()+2*exec.CacheLine)
		at := aligned(memory)
		key.layout.Pack(at, unsafe.Add(buf.data, key.offset), 0, key.layout.Panels())
		if buf.packings == nil {
			buf.packings = make(map[packingKey][]byte)
		}
		buf.packings[key] = memory
	}
	return aligned(memory)
}

// aligned returns the first address that is a multiple of a cache line.
func aligned(memory []byte) unsafe.Pointer {
	p := unsafe.Pointer(unsafe.SliceData(memory))
	return unsafe.Add(p, -uintptr(p)%exec.CacheLine)
}

// Shape returns the shape of the tensor.
func (buf *buffer) Shape() (shapes.Shape, error) { return buf.shape, nil }

// DeviceNum returns 0.
func (buf *buffer) DeviceNum() (compute.DeviceNum, error) { return 0, nil }

// ToFlatData copies the tensor to a slice of its Go type and size.
func (buf *buffer) ToFlatData(flat any) error {
	if buf.flat == nil {
		return fmt.Errorf("buffer %s was finalized", buf.shape)
	}
	if !copyFlat(flat, buf.flat) {
		return fmt.Errorf("buffer %s holds %T with %d elements, cannot copy it to %T",
			buf.shape, buf.flat, buf.shape.Size(), flat)
	}
	return nil
}

// Data returns the memory of the tensor itself.
func (buf *buffer) Data() (any, error) {
	if buf.flat == nil {
		return nil, fmt.Errorf("buffer %s was finalized", buf.shape)
	}
	buf.seen.Store(true)
	return buf.flat, nil
}

// Borrow returns the memory of the tensor itself, which is valid until the buffer is finalized or donated: unlike memory from Data, it is then
// used again.
func (buf *buffer) Borrow() (flat any, err error) {
	if buf.flat == nil {
		return nil, fmt.Errorf("buffer %s was finalized", buf.shape)
	}
	return buf.flat, nil
}

// CopyToDevice copies the tensor. The only device is 0.
func (buf *buffer) CopyToDevice(device compute.DeviceNum) (compute.Buffer, error) {
	if device != 0 {
		return nil, fmt.Errorf("backend %q has only device 0, got %d", BackendName, device)
	}
	if buf.flat == nil {
		return nil, fmt.Errorf("buffer %s was finalized", buf.shape)
	}
	return buf.backend.BufferFromFlatData(0, buf.flat, buf.shape)
}

// BufferFromFlatData copies a slice into a new buffer.
func (b *Backend) BufferFromFlatData(device compute.DeviceNum, flat any, shape shapes.Shape) (compute.Buffer, error) {
	if err := b.checkUsable(device); err != nil {
		return nil, err
	}
	if err := b.fitsTensor("a tensor", shape); err != nil {
		return nil, err
	}
	buf := b.newBuffer(shape)
	if !copyFlat(buf.flat, flat) {
		return nil, fmt.Errorf("backend %q: %T does not hold the elements of shape %s", BackendName, flat, shape)
	}
	return buf, nil
}

// HasSharedBuffers returns true: tensors are plain memory.
func (b *Backend) HasSharedBuffers() bool { return true }

// NewSharedBuffer returns a zeroed buffer and its memory, which is valid until the buffer is finalized.
func (b *Backend) NewSharedBuffer(device compute.DeviceNum, shape shapes.Shape) (compute.Buffer, any, error) {
	if err := b.checkUsable(device); err != nil {
		return nil, nil, err
	}
	if err := b.fitsTensor("a tensor", shape); err != nil {
		return nil, nil, err
	}
	buf := b.newZeros(shape)
	return buf, buf.flat, nil
}

func (b *Backend) checkUsable(device compute.DeviceNum) error {
	if b.finalized.Load() {
		return fmt.Errorf("backend %q was finalized", BackendName)
	}
	if device != 0 {
		return fmt.Errorf("backend %q has only device 0, got %d", BackendName, device)
	}
	return nil
}
