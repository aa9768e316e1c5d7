package tally_test

import (
	"errors"
	"math"
	"testing"

	"tally"
)

// Results are of the operands' widest kind.
type kind int

const (
	integer kind = iota
	floating
	complexed
)

type elementType struct {
	name   string
	kind   kind
	double bool // of 64-bit floating-point numbers
	make   func(values []complex128, inc int) vector
}

type vector struct {
	tally.Vector
	get func() []complex128
}

func typed[T tally.Element](name string, k kind, double bool) elementType {
	return elementType{name, k, double, func(values []complex128, inc int) vector {
		step := inc
		if inc < 0 {
			step = -inc
		}
		data := make([]T, (len(values)-1)*step+1)
		for i := range data {
			data[i] = element[T](99)
		}
		at := func(i int) int {
			if inc < 0 {
				i = len(values) - 1 - i
			}
			return i * step
		}
		for i, v := range values {
			data[at(i)] = element[T](v)
		}
		return vector{tally.Strided(data, inc), func() []complex128 {
			all := make([]complex128, len(values))
			for i := range all {
				all[i] = number(data[at(i)])
			}
			for i, e := range data {
				if i%step != 0 && number(e) != number(element[T](99)) {
					panic("an element between those of the vector has changed")
				}
			}
			return all
		}}
	}}
}

var types = []elementType{
	typed[bool]("bool", integer, false),
	typed[int8]("int8", integer, false),
	typed[uint8]("uint8", integer, false),
	typed[int32]("int32", integer, false),
	typed[int64]("int64", integer, false),
	typed[int]("int", integer, false),
	typed[tally.Float16]("float16", floating, false),
	typed[tally.BFloat16]("bfloat16", floating, false),
	typed[float32]("float32", floating, false),
	typed[float64]("float64", floating, true),
	typed[complex64]("complex64", complexed, false),
	typed[complex128]("complex128", complexed, true),
}

// Drops the imaginary part for real types.
func element[T tally.Element](v complex128) T {
	re := real(v)
	var e any
	switch any(*new(T)).(type) {
	case bool:
		e = re != 0
	case int8:
		e = int8(re)
	case uint8:
		e = uint8(int(re))
	case int32:
		e = int32(re)
	case int64:
		e = int64(re)
	case int:
		e = int(re)
	case tally.Float16:
		e = tally.NewFloat16(float32(re))
	case tally.BFloat16:
		e = tally.NewBFloat16(float32(re))
	case float32:
		e = float32(re)
	case float64:
		e = re
	case complex64:
		e = complex64(v)
	case complex128:
		e = v
	}
	return e.(T)
}

func number[T tally.Element](e T) complex128 {
	switch e := any(e).(type) {
	case bool:
		if e {
			return 1
		}
		return 0
	case int8:
		return complex(float64(e), 0)
	case uint8:
		return complex(float64(e), 0)
	case int32:
		return complex(float64(e), 0)
	case int64:
		return complex(float64(e), 0)
	case int:
		return complex(float64(e), 0)
	case tally.Float16:
		return complex(float64(e.Float32()), 0)
	case tally.BFloat16:
		return complex(float64(e.Float32()), 0)
	case float32:
		return complex(float64(e), 0)
	case float64:
		return complex(e, 0)
	case complex64:
		return complex128(e)
	case complex128:
		return e
	}
	panic("no element")
}

// Small enough for every type except bool and uint8, and so are sums of products.
func some(n, seed int) []complex128 {
	all := make([]complex128, n)
	for i := range all {
		k := (i*7 + seed*5) % 11
		all[i] = complex(float64(k-4), float64(k%3-1))
	}
	return all
}

// Executors of the build that take slices, with several numbers of threads and instruction sets.
func executors(t testing.TB) []*tally.Executor {
	t.Helper()
	all, err := tally.Executors()
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{1, 2, 3, 7} {
		if w, err := tally.OpenMP(threads); err == nil {
			all = append(all, w)
		} else if !errors.Is(err, tally.ErrMissingBackend) {
			t.Fatal(err)
		}
	}
	for set := tally.BaselineInstructions; set <= tally.RVV; set++ {
		if w, err := tally.SIMD(set); err == nil {
			all = append(all, w)
		} else if !errors.Is(err, tally.ErrNoDevice) {
			t.Fatal(err)
		}
	}
	all = append(all, nil, tally.Automatic())
	n := 0
	for _, w := range all {
		_, err := tally.Sum[float64](w, []float64{1})
		if errors.Is(err, tally.ErrWrongMemory) { // of a device
			w = through(t, w)
			_, err = tally.Sum[float64](w, []float64{1})
		}
		if err != nil {
			t.Fatal(err)
		}
		all[n] = w
		n++
	}
	return all[:n]
}

// The test closes the workspace.
func through(t testing.TB, where *tally.Executor) *tally.Executor {
	t.Helper()
	workspace, err := tally.NewWorkspace(where, tally.WorkspaceOptions{StageBytes: 1 << 15, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { workspace.Close() })
	return workspace.Executor()
}

func succeeds(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fails(t testing.TB, status tally.Status, text string, err error) {
	t.Helper()
	var e *tally.Error
	if !errors.As(err, &e) || !errors.Is(err, status) || e.Status != status || e.Text != text || err.Error() != text {
		t.Errorf("%v\nis no %q\n%s", err, status, text)
	}
}

func TestHalfPrecision(t *testing.T) {
	numbers := []float32{0, 1, -1, 0.1, 65504, 65519.996, 65520, 1e6, 5.9604645e-8, 2.9802322e-8, 2.9802326e-8,
		6.1e-5, 6.104e-5, 1.0009766, 1.0004883, 1.0014648, -3.14159, float32(math.Inf(1)), float32(math.Inf(-1)),
		3.4e38, 1.00390625, 1.01171875, 1e-40, 3.3895314e38}
	for bits := uint32(0); bits < 1<<16; bits += 77 { // covers every exponent
		numbers = append(numbers, math.Float32frombits(bits<<16|bits*40503&0xffff))
	}
	h, b := make([]tally.Float16, len(numbers)), make([]tally.BFloat16, len(numbers))
	succeeds(t, tally.Copy(nil, numbers, h))
	succeeds(t, tally.Copy(nil, numbers, b))
	hf, bf := make([]float32, len(numbers)), make([]float32, len(numbers))
	succeeds(t, tally.Copy(nil, h, hf))
	succeeds(t, tally.Copy(nil, b, bf))
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }
	for i, x := range numbers {
		if x == x && (tally.NewFloat16(x) != h[i] || tally.NewBFloat16(x) != b[i]) {
			t.Errorf("%g: %#x, %#x, in C %#x, %#x", x, tally.NewFloat16(x), tally.NewBFloat16(x), h[i], b[i])
		}
		if nh, nb := tally.NewFloat16(x).Float32(), tally.NewBFloat16(x).Float32(); x != x && (nh == nh || nb == nb) {
			t.Errorf("of a NaN %g and %g", nh, nb)
		}
		if !same(h[i].Float32(), hf[i]) || !same(b[i].Float32(), bf[i]) {
			t.Errorf("%#x, %#x: %g, %g, in C %g, %g", h[i], b[i], h[i].Float32(), b[i].Float32(), hf[i], bf[i])
		}
	}
}
