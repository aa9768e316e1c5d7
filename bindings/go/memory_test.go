package tally_test

import (
	"errors"
	"runtime"
	"strconv"
	"testing"
	"time"

	"tally"
)

func TestDeviceBuffers(t *testing.T) {
	all, err := tally.Executors()
	succeeds(t, err)
	for _, w := range all {
		b, err := tally.NewDeviceBuffer[float32](w, 6)
		succeeds(t, err)
		succeeds(t, b.CopyFrom([]float32{1, 2, 3, 4, 5, 6}))
		r, err := tally.Dot[float64](w, b, b)
		if err != nil || r != 91 || b.Len() != 6 {
			t.Error(w, r, err)
		}
		r, err = tally.Sum[float64](w, b.Strided(1, 6, -2))
		if err != nil || r != 2+4+6 {
			t.Error(w, r, err)
		}
		succeeds(t, tally.Scal(w, float32(2), b))
		e, err := tally.Max[float32](w, b)
		if err != nil || e != (tally.Extremum[float32]{Value: 12, Index: 5}) {
			t.Error(w, e, err)
		}
		x := make([]float32, 6)
		succeeds(t, b.CopyTo(x))
		equal(t, w, x, []float32{2, 4, 6, 8, 10, 12}, nil)
		fails(t, tally.ErrSizeMismatch, "tally.DeviceBuffer.CopyTo: the buffer has 6 elements, data has 5", b.CopyTo(x[:5]))

		counts, err := tally.NewDeviceBuffer[int64](w, 2)
		succeeds(t, err)
		outside, err := tally.NewDeviceBuffer[int64](w, 3)
		succeeds(t, err)
		succeeds(t, tally.HistogramEven(w, b, 0, 8, counts, tally.OutsideOnDevice(outside)))
		n := make([]int64, 2)
		succeeds(t, counts.CopyTo(n))
		equal(t, w, n, []int64{1, 3}, nil)

		results := make([]float32, 2)
		succeeds(t, tally.MultiDotList(w, []tally.Vector{b.Strided(0, 2, 1), b.Strided(2, 4, 1)},
			[]tally.Vector{b.Strided(2, 4, 1), b.Strided(4, 6, 1)}, results))
		equal(t, w, results, []float32{44, 156}, nil)

		if _, err := tally.Sum[float32](w, x); w.String() == "cuda" && !errors.Is(err, tally.ErrWrongMemory) {
			t.Error("a slice on a device", err)
		}
		productOnDevice(t, w)
		for i := 0; i < 2; i++ {
			succeeds(t, b.Close())
			succeeds(t, counts.Close())
			succeeds(t, outside.Close())
		}
		if _, err = tally.Sum[float64](w, b); !errors.Is(err, tally.ErrNullPointer) {
			t.Error("of a closed buffer", err)
		}
	}
	_, err = tally.NewDeviceBuffer[float64](tally.Serial(), 1<<48)
	if !errors.Is(err, tally.ErrOutOfMemory) {
		t.Error(err)
	}
	_, err = tally.NewDeviceBuffer[float64](tally.Serial(), -1)
	fails(t, tally.ErrInvalidArgument, "tally.NewDeviceBuffer: n is -1; it can be 0 to 2^48", err)
	_, err = tally.NewDeviceBuffer[float64](nil, 1)
	if !errors.Is(err, tally.ErrInvalidArgument) {
		t.Error(err)
	}
	empty, err := tally.NewDeviceBuffer[float64](tally.Serial(), 0)
	succeeds(t, err)
	if r, err := tally.Sum[float64](tally.Serial(), empty); r != 0 || err != nil {
		t.Error(r, err)
	}
	succeeds(t, empty.Close())
}

func device[T tally.Element](t *testing.T, w *tally.Executor, data ...T) *tally.DeviceBuffer[T] {
	t.Helper()
	b, err := tally.NewDeviceBuffer[T](w, len(data))
	succeeds(t, err)
	succeeds(t, b.CopyFrom(data))
	return b
}

func productOnDevice(t *testing.T, w *tally.Executor) {
	t.Helper()
	a, err := tally.NewCSR(2, 2, device[int32](t, w, 0, 1, 2), device[int32](t, w, 1, 0), device(t, w, 2.0, 3.0))
	succeeds(t, err)
	plan, err := tally.NewPlan(w, a)
	succeeds(t, err)
	runtime.GC() // The plan alone owns the matrix's memory.
	y, r := device(t, w, 0.0, 0.0), make([]float64, 2)
	succeeds(t, tally.Spmv(w, plan, 1, a, device(t, w, 1.0, 10.0), 0, y))
	succeeds(t, y.CopyTo(r))
	equal(t, w, r, []float64{20, 3}, plan.Close())
}

// No call uses a closed buffer's memory, or takes the buffer, or a part made before, for a missing
// operand.
func TestClosedBuffers(t *testing.T) {
	w := tally.Serial()
	closed := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, tally.ErrNullPointer) {
			t.Errorf("%s: %v", what, err)
		}
	}
	b := device(t, w, make([]float64, 100)...)
	before := b.Strided(20, 30, 1)
	weights, v := device(t, w, 1.0, 2.0), device(t, w, 1.0)
	weighted := tally.Weights(weights)
	outside, offsets, ends := device[int64](t, w, 0, 0, 0), device[int32](t, w, 0), device[int32](t, w, 1)
	counted := tally.OutsideOnDevice(outside)
	a, err := tally.NewCSRWithEnds(1, 1, []int32{0}, ends, []int32{0}, []float64{1})
	succeeds(t, err)
	apart, err := tally.NewCSRWithEnds(1, 1, offsets, []int32{1}, []int32{0}, []float64{1})
	succeeds(t, err)
	plan, err := tally.NewPlan(w, apart)
	succeeds(t, err)
	for _, each := range []interface{ Close() error }{b, weights, v, outside, offsets, ends} {
		succeeds(t, each.Close())
	}

	closed("Fill of a part", tally.Fill(w, 3, before))
	closed("Fill of a part made since", tally.Fill(w, 3, b.Strided(10, 20, 1)))
	_, err = tally.AxpyDot[float64](w, 1.0, []float64{1}, []float64{1}, v)
	fails(t, tally.ErrNullPointer, "tally.AxpyDot: v is of a buffer that is closed", err)
	keys, sums := []int32{0, 0}, make([]float64, 1)
	fails(t, tally.ErrNullPointer, "tally.Bincount: weights is of a buffer that is closed",
		tally.Bincount(w, keys, sums, weighted))
	closed("Weights", tally.Bincount(w, keys, sums, tally.Weights(weights)))
	fails(t, tally.ErrNullPointer, "tally.Bincount: outside is of a buffer that is closed",
		tally.Bincount(w, keys, make([]int32, 1), counted))
	x, y := []float64{1}, []float64{1}
	fails(t, tally.ErrNullPointer, "tally.Spmv: rowEnds is of a buffer that is closed", tally.Spmv(w, nil, 1, a, x, 0, y))
	closed("Validate", tally.Validate(w, a))
	_, err = tally.NewPlan(w, a)
	closed("NewPlan", err)
	closed("SpmvApart", tally.SpmvApart(w, nil, 1, a, x, 0, y, y))
	closed("Spmv", tally.Spmv(w, nil, 1, apart, x, 0, y))
	closed("Spmv with a plan", tally.Spmv(w, plan, 1, apart, x, 0, y))
	succeeds(t, plan.Close())
	_, err = tally.NewCSRWithEnds(1, 1, []int32{0}, ends, []int32{0}, []float64{1})
	closed("NewCSRWithEnds", err)
}

func TestCloseThatFails(t *testing.T) {
	w := tally.Serial()
	pinned, err := tally.NewPinnedBuffer[float64](w, 3)
	succeeds(t, err)
	pins, err := tally.Pin(w, make([]float64, 3))
	succeeds(t, err)
	good := *w
	for _, each := range []interface{ Close() error }{device(t, w, 1.0), pinned, pins} {
		*w = tally.Executor{}
		if err := each.Close(); !errors.Is(err, tally.ErrInvalidArgument) {
			t.Errorf("%T: %v", each, err)
		}
		*w = good
		if each == pinned && pinned.Data() == nil {
			t.Error("a Close that failed has let the memory go")
		}
		succeeds(t, each.Close())
		*w = tally.Executor{}
		succeeds(t, each.Close()) // Already closed.
		*w = good
	}
}

func TestMemoryOutlivesItsWorkspace(t *testing.T) {
	all, err := tally.Executors()
	succeeds(t, err)
	for _, w := range all {
		workspace, err := tally.NewWorkspace(w, tally.WorkspaceOptions{})
		succeeds(t, err)
		b := device(t, workspace.Executor(), 1.0, 2.0)
		pinned, err := tally.NewPinnedBuffer[float64](workspace.Executor(), 2)
		succeeds(t, err)
		x := make([]float64, 2)
		pins, err := tally.Pin(workspace.Executor(), x)
		succeeds(t, err)
		succeeds(t, workspace.Close())
		succeeds(t, b.CopyTo(x))
		equal(t, w, x, []float64{1, 2}, nil)
		r, err := tally.Sum[float64](w, b)
		equal(t, w, r, 3.0, err)
		succeeds(t, pins.Close())
		succeeds(t, pinned.Close())
		succeeds(t, b.Close())
	}
}

// C memory, which Go does not manage.
func TestListsOfMemoryOfC(t *testing.T) {
	w := tally.Serial()
	p, err := tally.NewPinnedBuffer[float64](w, 2)
	succeeds(t, err)
	copy(p.Data(), []float64{3, 4})
	r := make([]float64, 1)
	err = tally.MultiDotList(w, [][]float64{p.Data()}, [][]float64{p.Data()}, r)
	equal(t, w, r, []float64{25}, err)
	offsets, err := tally.NewPinnedBuffer[int32](w, 2)
	succeeds(t, err)
	copy(offsets.Data(), []int32{0, 1})
	a, err := tally.NewCSR(1, 1, offsets.Data(), []int32{0}, []float64{2})
	succeeds(t, err)
	plan, err := tally.NewPlan(w, a)
	succeeds(t, err)
	err = tally.Spmv(w, plan, 1, a, []float64{3}, 0, r)
	equal(t, w, r, []float64{6}, err)
	succeeds(t, plan.Close())
	pins, err := tally.Pin(w, p.Data())
	succeeds(t, err)
	succeeds(t, pins.Close())
	succeeds(t, offsets.Close())
	succeeds(t, p.Close())
}

// Freed by the garbage collector, and not before.
func TestForgottenMemory(t *testing.T) {
	w := tally.Serial()
	for i := 0; i < 100; i++ {
		b := device(t, w, make([]float64, 1000)...)
		part := b.Strided(10, 20, 1)
		b = nil
		workspace, err := tally.NewWorkspace(w, tally.WorkspaceOptions{})
		succeeds(t, err)
		through := workspace.Executor()
		workspace = nil
		runtime.GC()
		if r, err := tally.Sum[float64](through, part); r != 0 || err != nil {
			t.Fatal(r, err)
		}
	}
}

func TestOutsideOfForgottenBuffer(t *testing.T) {
	w := tally.Serial()
	freed := make(chan bool, 1)
	option := func() tally.HistogramOption {
		b := device[int64](t, w, 0, 0, 0)
		runtime.SetFinalizer(b, nil)
		runtime.SetFinalizer(b, func(*tally.DeviceBuffer[int64]) { freed <- true })
		return tally.OutsideOnDevice(b)
	}()
	for i := 0; i < 3; i++ {
		runtime.GC()
		select {
		case <-freed:
			t.Fatal("the buffer of an option is gone")
		case <-time.After(10 * time.Millisecond):
		}
	}
	succeeds(t, tally.Bincount(w, []int32{0, 1, 7}, make([]int32, 2), option))
}

// A slice stays pinned until Close, even without references.
func TestForgottenPinning(t *testing.T) {
	freed := make(chan bool, 1)
	func() {
		x := new([1000]float64)
		runtime.SetFinalizer(x, func(*[1000]float64) { freed <- true })
		_, err := tally.Pin(tally.Serial(), x[:])
		succeeds(t, err)
	}()
	for i := 0; i < 3; i++ {
		runtime.GC()
		select {
		case <-freed:
			t.Fatal("what was pinned is free")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestPinnedMemory(t *testing.T) {
	all, err := tally.Executors()
	succeeds(t, err)
	for _, w := range all {
		b, err := tally.NewPinnedBuffer[float64](w, 3)
		succeeds(t, err)
		copy(b.Data(), []float64{1, 2, 4})
		if r, err := tally.Sum[float64](w, b.Data()); r != 7 || err != nil {
			t.Error(w, r, err)
		}
		succeeds(t, b.Close())
		succeeds(t, b.Close())
		if b.Data() != nil {
			t.Error("a closed buffer has data")
		}
		x := []float64{1, 2, 4}
		p, err := tally.Pin(w, x)
		succeeds(t, err)
		if r, err := tally.Sum[float64](w, x); r != 7 || err != nil {
			t.Error(w, r, err)
		}
		succeeds(t, p.Close())
		succeeds(t, p.Close())
		for _, empty := range [][]float64{x[:0], nil} {
			if _, err = tally.Pin(w, empty); !errors.Is(err, tally.ErrInvalidArgument) {
				t.Error(err)
			}
		}
	}
	_, err = tally.NewPinnedBuffer[float64](nil, 1)
	if !errors.Is(err, tally.ErrInvalidArgument) {
		t.Error(err)
	}
}

func TestWorkspaces(t *testing.T) {
	all, err := tally.Executors()
	succeeds(t, err)
	x, mask := floats(100003, 5), make([]bool, 100003)
	for i := range mask {
		mask[i] = i%3 != 0
	}
	expected, err := tally.Dot[float32](nil, x, mask)
	succeeds(t, err)
	for _, w := range all {
		workspace, err := tally.NewWorkspace(w, tally.WorkspaceOptions{StageBytes: 1 << 15, Threads: 2})
		succeeds(t, err)
		through := workspace.Executor()
		for i := 0; i < 3; i++ {
			if r, err := tally.Dot[float32](through, x, mask); r != expected || err != nil {
				t.Error(w, r, expected, err)
			}
		}
		succeeds(t, workspace.Close())
		succeeds(t, workspace.Close())
		_, err = tally.Dot[float32](through, x, mask)
		fails(t, tally.ErrInvalidArgument, "tally: where is an executor that no function of Tally has made", err)
	}
	_, err = tally.NewWorkspace(nil, tally.WorkspaceOptions{})
	fails(t, tally.ErrInvalidArgument, "tally::workspace: the executor is automatic, which has no memory of its own", err)
	_, err = tally.NewWorkspace(tally.Serial(), tally.WorkspaceOptions{StageBytes: 100})
	fails(t, tally.ErrInvalidArgument, "tally::workspace: stage_bytes is 100; it can be 32768 to 1073741824, or 0", err)
}

func TestNumbersBeyondInt(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("an int is C's")
	}
	beyond := 1 << (strconv.IntSize / 2) // 2^32, which is 0 in C
	number := strconv.Itoa(beyond + 1)
	_, err := tally.OpenMP(beyond + 1)
	fails(t, tally.ErrInvalidArgument, "tally.OpenMP: threads is "+number+", which C's int does not hold", err)
	_, err = tally.SIMD(tally.InstructionSet(beyond + 1))
	fails(t, tally.ErrInvalidArgument, "tally.SIMD: instructions is "+number+", which C's int does not hold", err)
	_, err = tally.CUDA(beyond+1, nil)
	fails(t, tally.ErrInvalidArgument, "tally.CUDA: device is "+number+", which C's int does not hold", err)
	_, err = tally.NewWorkspace(tally.Serial(), tally.WorkspaceOptions{Threads: beyond + 1})
	fails(t, tally.ErrInvalidArgument, "tally.NewWorkspace: Threads is "+number+", which C's int does not hold", err)
	a, err := tally.NewCSR(1, 1, []int32{0, 1}, []int32{0}, []float64{1})
	succeeds(t, err)
	a.Operation = tally.Operation(beyond + 1)
	x, y := []float64{1}, []float64{1}
	fails(t, tally.ErrInvalidArgument, "tally.Spmv: Operation is "+number+", which C's int does not hold",
		tally.Spmv(nil, nil, 1, a, x, 0, y))
	fails(t, tally.ErrInvalidArgument, "tally.Validate: Operation is "+number+", which C's int does not hold",
		tally.Validate(nil, a))
	if _, err := tally.NewPlan(nil, a); !errors.Is(err, tally.ErrInvalidArgument) {
		t.Error(err)
	}
	a.Operation = -1
	if err := tally.Validate(nil, a); !errors.Is(err, tally.ErrInvalidArgument) {
		t.Error(err)
	}
}

func TestExecutors(t *testing.T) {
	all, err := tally.Executors()
	succeeds(t, err)
	if len(all) < 2 || all[0].String() != "serial" || all[1].String() != "simd" {
		t.Error(all)
	}
	for _, w := range all {
		named, err := tally.Named(w.String())
		if err != nil || named.String() != w.String() {
			t.Error(named, err)
		}
	}
	var none *tally.Executor
	if none.String() != "automatic" || tally.Automatic().String() != "automatic" {
		t.Error("nil is not Automatic")
	}
	if new(tally.Executor).String() != "no executor" {
		t.Error("the zero of an executor has a name")
	}
	if w, err := tally.Kokkos(); err == nil && w.String() != "kokkos" {
		t.Error(w)
	}
	if w, err := tally.CUDA(-1, nil); err == nil && w.String() != "cuda" {
		t.Error(w)
	} else if err != nil && !errors.Is(err, tally.ErrMissingBackend) && !errors.Is(err, tally.ErrNoDevice) {
		t.Error(err)
	}
	missing := 0
	for set := tally.SSE4; set <= tally.RVV; set++ {
		if _, err := tally.SIMD(set); errors.Is(err, tally.ErrNoDevice) {
			t.Log(err)
			missing++
		} else if err != nil {
			t.Error(err)
		}
	}
	if missing == 0 {
		t.Error("a processor of two kinds")
	}
	if tally.Version() < 100 || tally.OrderVersion() != 1 {
		t.Error(tally.Version(), tally.OrderVersion())
	}
}
