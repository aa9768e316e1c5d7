package tally

// #include "calls.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// DeviceBuffer is memory that an executor's kernels reach, an operand for that executor: on CUDA
// memory of the device, otherwise of the host. It is of n elements, which nobody has written yet.
// Close frees it, for it is no memory that Go looks after.
type DeviceBuffer[T Element] struct {
	where *Executor
	data  *C.uchar
	n     C.size_t
}

// NewDeviceBuffer allocates memory for n elements. ErrInvalidArgument for the executor of Automatic.
func NewDeviceBuffer[T Element](where *Executor, n int) (*DeviceBuffer[T], error) {
	bytes, err := bytesOf[T]("NewDeviceBuffer", n)
	if err != nil {
		return nil, err
	}
	b := &DeviceBuffer[T]{where: where, n: C.size_t(n)}
	r := C.tally_go_allocate(C.tally_go_allocation(C.tally_device_alloc), where.where(), bytes, &b.data)
	if err := failed(r); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(b, func(b *DeviceBuffer[T]) { b.Close() }) // the last resort
	return b, nil
}

// Close frees the memory. Work that uses it must be done; on CUDA the call waits for the device. A
// buffer that is closed has nothing more to close.
func (b *DeviceBuffer[T]) Close() error {
	data := b.data
	b.data = nil
	runtime.SetFinalizer(b, nil)
	if data == nil {
		return nil
	}
	return failed(C.tally_go_release(C.tally_go_end(C.tally_device_free), b.where.where(), data))
}

// Len is the number of elements.
func (b *DeviceBuffer[T]) Len() int { return int(b.n) }

// CopyFrom copies as many elements from the host, and waits until they are there.
func (b *DeviceBuffer[T]) CopyFrom(data []T) error { return b.copy("CopyFrom", data, false) }

// CopyTo copies all elements to the host, after all work that is queued on the executor's stream,
// and waits until they are there.
func (b *DeviceBuffer[T]) CopyTo(data []T) error { return b.copy("CopyTo", data, true) }

func (b *DeviceBuffer[T]) copy(function string, data []T, toHost bool) error {
	host := sliceOf(data, 0)
	if err := sameLength("DeviceBuffer."+function, length{"the buffer", b.n}, length{"data", host.n}); err != nil {
		return err
	}
	to, from := b.data, host.data
	if toHost {
		to, from = from, to
	}
	bytes := b.n * C.size_t(unsafe.Sizeof(*new(T)))
	r := C.tally_go_device_copy(b.where.where(), to, from, bytes)
	runtime.KeepAlive(b)
	return failed(r)
}

// Strided is every inc-th of the elements from `from` to before `to`, as the function Strided has it
// of a slice. Bounds outside the buffer panic, as those of a slice do.
func (b *DeviceBuffer[T]) Strided(from, to, inc int) Vector {
	_ = make([]struct{}, b.n)[from:to]
	v := b.vector()
	v.data = (*C.uchar)(unsafe.Add(unsafe.Pointer(v.data), from*int(unsafe.Sizeof(*new(T)))))
	v.n = C.size_t(strided(to-from, inc))
	v.inc = C.ptrdiff_t(inc)
	return Vector{v}
}

func (b *DeviceBuffer[T]) vector() C.tally_go_vector {
	return C.tally_go_vector{data: b.data, owner: (*C.uchar)(unsafe.Pointer(&b.n)), n: b.n, inc: 1, _type: cType[T]()}
}

// PinnedBuffer is memory of the host that stays in its place, so that a device reads and writes it
// at the full speed of its bus.
type PinnedBuffer[T Element] struct {
	where *Executor
	data  *C.uchar
	n     int
}

// NewPinnedBuffer allocates memory for n elements. It stays until Close: Go does not look after it.
func NewPinnedBuffer[T Element](where *Executor, n int) (*PinnedBuffer[T], error) {
	bytes, err := bytesOf[T]("NewPinnedBuffer", n)
	if err != nil {
		return nil, err
	}
	b := &PinnedBuffer[T]{where: where, n: n}
	r := C.tally_go_allocate(C.tally_go_allocation(C.tally_pinned_alloc), where.where(), bytes, &b.data)
	if err := failed(r); err != nil {
		return nil, err
	}
	return b, nil
}

// Data is the memory as a slice, which must not be used after Close.
func (b *PinnedBuffer[T]) Data() []T {
	if b.data == nil {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(b.data)), b.n)
}

// Close frees the memory. Work that uses it must be done.
func (b *PinnedBuffer[T]) Close() error {
	data := b.data
	b.data = nil
	if data == nil {
		return nil
	}
	return failed(C.tally_go_release(C.tally_go_end(C.tally_pinned_free), b.where.where(), data))
}

// Pinning keeps a slice in its place.
type Pinning struct {
	where *Executor
	data  *C.uchar
	pins  pinner
}

// Pin keeps a slice in its place until Close, so that a device reads and writes it at the full speed
// of its bus. It takes as long as reading the slice once, or longer, so it pays for a slice that is
// used again. ErrInvalidArgument for an empty slice and one that is pinned already.
func Pin[T Element](where *Executor, data []T) (*Pinning, error) {
	v := sliceOf(data, 0)
	p := &Pinning{where: where, data: v.data}
	if v.data != nil {
		p.pins.Pin(unsafe.Pointer(v.data))
	}
	if err := failed(C.tally_go_pin(where.where(), v.data, v.n*C.size_t(unsafe.Sizeof(*new(T))))); err != nil {
		p.pins.Unpin()
		return nil, err
	}
	runtime.SetFinalizer(p, func(p *Pinning) { p.Close() })
	return p, nil
}

// Close lets the slice go. Work that uses it must be done.
func (p *Pinning) Close() error {
	data := p.data
	p.data = nil
	runtime.SetFinalizer(p, nil)
	if data == nil {
		return nil
	}
	defer p.pins.Unpin()
	return failed(C.tally_go_release(C.tally_go_end(C.tally_unpin), p.where.where(), data))
}

// bytesOf is the size of n elements.
func bytesOf[T Element](function string, n int) (C.size_t, error) {
	const most = 1 << 48
	if n < 0 || n > most {
		return 0, failure(ErrInvalidArgument, function, "n is %d; it can be 0 to 2^48", n)
	}
	return C.size_t(n) * C.size_t(unsafe.Sizeof(*new(T))), nil
}

// Workspace is memory of the host and of a device, and threads, through which operations on slices
// run on the device. It has a few MiB, which stay: after the first call of a kind none allocates
// memory of the device.
type Workspace struct {
	executor Executor // While somebody has its address, the workspace stays.
	where    *Executor
	c        *C.tally_workspace
}

// WorkspaceOptions are what a workspace may be asked for; zeros are the defaults.
type WorkspaceOptions struct {
	StageBytes int // bytes of all operands that go to the device at once, 2^15 to 2^30
	Threads    int // how many copy what is not pinned, the calling one among them
}

// NewWorkspace makes one for a device and a stream, or for an executor of the host, which copies
// nothing.
func NewWorkspace(where *Executor, options WorkspaceOptions) (*Workspace, error) {
	w := &Workspace{where: where}
	r := C.tally_go_workspace_create(where.where(), C.size_t(options.StageBytes), C.int(options.Threads), &w.c,
		&w.executor.c)
	if err := failed(r); err != nil {
		C.tally_workspace_destroy(w.c)
		return nil, err
	}
	runtime.SetFinalizer(w, func(w *Workspace) { w.Close() }) // the last resort
	return w, nil
}

// Executor is where operations take slices, and wait until all is written: sums, dot products,
// extrema, element-wise functions and histograms. Others are ErrInvalidArgument on a device. Pinned
// memory is used from where it is. Calls from several goroutines come one after the other.
func (w *Workspace) Executor() *Executor { return &w.executor }

// Close ends the workspace. No call on its executor may be under way; one that comes later fails.
func (w *Workspace) Close() error {
	runtime.SetFinalizer(w, nil)
	w.executor = Executor{}
	C.tally_workspace_destroy(w.c)
	w.c = nil
	return nil
}
