package tally

// #include "calls.h"
import "C"

import (
	"runtime"
	"sync"
	"unsafe"
)

// Data are nil once closed.
type memory struct {
	where *Executor
	data  *C.uchar
}

// A workspace's executor allocates device memory, which outlives the workspace.
func allocated(f C.tally_go_allocation, where *Executor, bytes C.size_t) (memory, error) {
	m := memory{where: where.ofMemory()}
	err := failed(C.tally_go_allocate(f, m.where.where(), bytes, &m.data))
	return m, err
}

// Frees once. A failure changes nothing.
func (m *memory) close(end C.tally_go_end) error {
	if m.data == nil {
		return nil
	}
	err := failed(C.tally_go_release(end, m.where.where(), m.data))
	if err == nil {
		m.data = nil
	}
	return err
}

// DeviceBuffer is uninitialised memory for n elements, an operand for its executor: on CUDA device
// memory, otherwise host memory. Go does not manage it: Close frees it.
type DeviceBuffer[T Element] struct {
	memory
	n C.size_t
}

// NewDeviceBuffer allocates memory for n elements. ErrInvalidArgument for the executor of
// Automatic.
func NewDeviceBuffer[T Element](where *Executor, n int) (*DeviceBuffer[T], error) {
	bytes, err := bytesOf[T]("NewDeviceBuffer", n)
	if err != nil {
		return nil, err
	}
	m, err := allocated(C.tally_go_allocation(C.tally_device_alloc), where, bytes)
	if err != nil {
		return nil, err
	}
	b := &DeviceBuffer[T]{m, C.size_t(n)}
	runtime.SetFinalizer(b, func(b *DeviceBuffer[T]) { b.Close() }) // the last resort
	return b, nil
}

// Close frees the memory. Work that uses it must be done; on CUDA the call waits for the device.
// Closing again does nothing; calls with the buffer, or a part of it, fail then: ErrNullPointer.
func (b *DeviceBuffer[T]) Close() error {
	err := b.close(C.tally_go_end(C.tally_device_free))
	if err == nil {
		runtime.SetFinalizer(b, nil)
	}
	return err
}

// Len is the number of elements.
func (b *DeviceBuffer[T]) Len() int { return int(b.n) }

// CopyFrom copies as many elements from the host, and waits.
func (b *DeviceBuffer[T]) CopyFrom(data []T) error { return b.copy("CopyFrom", data, false) }

// CopyTo copies all elements to the host, after all work queued on the executor's stream, and
// waits.
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

// Strided is every inc-th element in [from, to), as Strided for a slice. Bounds outside the buffer
// panic, as a slice's do.
func (b *DeviceBuffer[T]) Strided(from, to, inc int) Vector {
	_ = make([]struct{}, b.n)[from:to]
	v := b.vector()
	if v.data != nil {
		v.data = (*C.uchar)(unsafe.Add(unsafe.Pointer(v.data), from*int(unsafe.Sizeof(*new(T)))))
	}
	v.n = C.size_t(strided(to-from, inc))
	v.inc = C.ptrdiff_t(inc)
	return Vector{v}
}

func (b *DeviceBuffer[T]) vector() C.tally_go_vector {
	return C.tally_go_vector{data: b.data, owner: (*C.uchar)(unsafe.Pointer(&b.memory)), n: b.n, inc: 1, _type: cType[T]()}
}

// No address if its buffer is closed.
func current(v C.tally_go_vector) C.tally_go_vector {
	if v.owner != nil && (*memory)(unsafe.Pointer(v.owner)).data == nil {
		v.data = nil
	}
	return v
}

// PinnedBuffer is pinned host memory, for the bus's full speed.
type PinnedBuffer[T Element] struct {
	memory
	n int
}

// NewPinnedBuffer allocates memory for n elements, until Close: Go does not manage it.
func NewPinnedBuffer[T Element](where *Executor, n int) (*PinnedBuffer[T], error) {
	bytes, err := bytesOf[T]("NewPinnedBuffer", n)
	if err != nil {
		return nil, err
	}
	m, err := allocated(C.tally_go_allocation(C.tally_pinned_alloc), where, bytes)
	if err != nil {
		return nil, err
	}
	return &PinnedBuffer[T]{m, n}, nil
}

// Data is the memory as a slice, valid until Close.
func (b *PinnedBuffer[T]) Data() []T {
	if b.data == nil {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(b.data)), b.n)
}

// Close frees the memory. Work that uses it must be done.
func (b *PinnedBuffer[T]) Close() error { return b.close(C.tally_go_end(C.tally_pinned_free)) }

// Pinning is a pinned slice.
type Pinning struct {
	memory
	pins pinner
}

// Keeps every *Pinning, and so its slice, alive until closed.
var pinnings sync.Map

// Pin pins a slice until Close, for the bus's full speed. Pinning takes at least as long as reading
// the slice once, so it pays for repeated use. The slice stays alive too: the garbage collector
// never closes a Pinning. ErrInvalidArgument for an empty or already pinned slice.
func Pin[T Element](where *Executor, data []T) (*Pinning, error) {
	v := sliceOf(data, 0)
	if err := addressed("Pin", "data", &v); err != nil {
		return nil, err
	}
	p := &Pinning{memory: memory{where.ofMemory(), v.data}}
	pinVector(&p.pins, v)
	if err := failed(C.tally_go_pin(p.where.where(), v.data, v.n*C.size_t(unsafe.Sizeof(*new(T))))); err != nil {
		p.pins.Unpin()
		return nil, err
	}
	pinnings.Store(p, nil)
	return p, nil
}

// Close unpins the slice. Work that uses it must be done.
func (p *Pinning) Close() error {
	err := p.close(C.tally_go_end(C.tally_unpin))
	if err == nil {
		p.pins.Unpin()
		pinnings.Delete(p)
	}
	return err
}

func bytesOf[T Element](function string, n int) (C.size_t, error) {
	const maxElements = 1 << 48
	if n < 0 || n > maxElements {
		return 0, failure(ErrInvalidArgument, function, "n is %d; it can be 0 to 2^48", n)
	}
	return C.size_t(n) * C.size_t(unsafe.Sizeof(*new(T))), nil
}

// Workspace is host and device memory and threads through which operations on slices run on the
// device. It keeps a few MiB: after the first call of a kind none allocates device memory.
type Workspace struct {
	executor Executor // Its address keeps the workspace alive.
	c        *C.tally_workspace
}

// WorkspaceOptions are options of a workspace; zeros are the defaults.
type WorkspaceOptions struct {
	StageBytes int // bytes of all operands in flight to the device, 2^15 to 2^30
	Threads    int // threads that copy unpinned memory, the caller included
}

// NewWorkspace makes one for a device and stream, or for a host executor, which copies nothing.
func NewWorkspace(where *Executor, options WorkspaceOptions) (*Workspace, error) {
	threads, err := intOf("NewWorkspace", "Threads", options.Threads)
	if err != nil {
		return nil, err
	}
	w := &Workspace{executor: Executor{memory: where.ofMemory()}}
	r := C.tally_go_workspace_create(where.where(), C.size_t(options.StageBytes), threads, &w.c, &w.executor.c)
	if err := failed(r); err != nil {
		C.tally_workspace_destroy(w.c)
		return nil, err
	}
	runtime.SetFinalizer(w, func(w *Workspace) { w.Close() }) // the last resort
	return w, nil
}

// Executor is an executor for slices; its operations wait for completion: sums, dot products,
// extrema, element-wise functions and histograms. Others are ErrInvalidArgument on a device. Pinned
// memory is used in place. Calls from several goroutines are serialised.
func (w *Workspace) Executor() *Executor { return &w.executor }

// Close ends the workspace. No call on its executor may be running; later ones fail.
func (w *Workspace) Close() error {
	runtime.SetFinalizer(w, nil)
	w.executor = Executor{}
	C.tally_workspace_destroy(w.c)
	w.c = nil
	return nil
}
