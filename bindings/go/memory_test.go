package tally_test

import (
	"errors"
	"runtime"
	"testing"

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

// device is a buffer of these elements.
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
	runtime.GC() // The matrix's memory has no other owner than the plan.
	y, r := device(t, w, 0.0, 0.0), make([]float64, 2)
	succeeds(t, tally.Spmv(w, plan, 1, a, device(t, w, 1.0, 10.0), 0, y))
	succeeds(t, y.CopyTo(r))
	equal(t, w, r, []float64{20, 3}, plan.Close())
}

// What nobody closes is freed by the garbage collector, and not before.
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
		if _, err = tally.Pin(w, x[:0]); !errors.Is(err, tally.ErrInvalidArgument) {
			t.Error(err)
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
	for set := tally.SSE4; set <= tally.NEON; set++ {
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
