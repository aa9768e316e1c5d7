package tally_test

import (
	"errors"
	"fmt"
	"math/cmplx"
	"testing"

	"tally"
)

func dot(w *tally.Executor, k kind, double bool, x, y tally.Vector, options ...tally.Option) (complex128, error) {
	switch {
	case k == complexed && double:
		return tally.Dot[complex128](w, x, y, options...)
	case k == complexed:
		r, err := tally.Dot[complex64](w, x, y, options...)
		return complex128(r), err
	case k == floating && double:
		r, err := tally.Dot[float64](w, x, y, options...)
		return complex(r, 0), err
	case k == floating:
		r, err := tally.Dot[float32](w, x, y, options...)
		return complex(float64(r), 0), err
	}
	r, err := tally.Dot[int64](w, x, y, options...)
	return complex(float64(r), 0), err
}

func reduce(what string, w *tally.Executor, k kind, double bool, x tally.Vector, options ...tally.Option) (complex128, error) {
	switch {
	case k == complexed && double:
		return reduceAs[complex128](what, w, x, options...)
	case k == complexed:
		return reduceAs[complex64](what, w, x, options...)
	case k == floating && double:
		return reduceAs[float64](what, w, x, options...)
	case k == floating:
		return reduceAs[float32](what, w, x, options...)
	}
	return reduceAs[int](what, w, x, options...)
}

func reduceAs[R tally.Number](what string, w *tally.Executor, x tally.Vector, options ...tally.Option) (complex128, error) {
	var r R
	var err error
	switch what {
	case "sum":
		r, err = tally.Sum[R](w, x, options...)
	case "asum":
		r, err = tally.Asum[R](w, x, options...)
	case "nrm2":
		r, err = tally.Nrm2[R](w, x, options...)
	}
	switch r := any(r).(type) {
	case int:
		return complex(float64(r), 0), err
	case float32:
		return complex(float64(r), 0), err
	case float64:
		return complex(r, 0), err
	case complex64:
		return complex128(r), err
	case complex128:
		return r, err
	}
	panic("no result")
}

func wider(a, b kind) kind {
	if a > b {
		return a
	}
	return b
}

var increments = [][2]int{{1, 1}, {2, 1}, {-1, 3}, {-2, -1}}

func TestDotOfEveryPair(t *testing.T) {
	const n = 37
	for _, w := range executors(t) {
		for _, xt := range types {
			for _, yt := range types {
				for _, inc := range increments {
					x, y := xt.make(some(n, 1), inc[0]), yt.make(some(n, 2), inc[1])
					k, double := wider(xt.kind, yt.kind), xt.double || yt.double
					var plain, conjugateX, conjugateY complex128
					for i, a := range x.get() {
						b := y.get()[i]
						plain += a * b
						conjugateX += cmplx.Conj(a) * b
						conjugateY += a * cmplx.Conj(b)
					}
					for _, c := range []struct {
						expected complex128
						options  []tally.Option
					}{
						{plain, nil},
						{plain, []tally.Option{tally.Exact}},
						{conjugateX, []tally.Option{tally.ConjugateX}},
						{conjugateY, []tally.Option{tally.ConjugateY, tally.Exact}},
					} {
						r, err := dot(w, k, double, x.Vector, y.Vector, c.options...)
						if err != nil || r != c.expected {
							t.Fatalf("%v: %s, %s %v: %v, %v, not %v", w, xt.name, yt.name, c.options, r, err, c.expected)
						}
					}
				}
			}
		}
	}
}

func TestReductionsOfEveryType(t *testing.T) {
	const n = 30
	for _, w := range executors(t) {
		for _, xt := range types {
			for _, inc := range []int{1, 2, -3} {
				x := xt.make(some(n, 3), inc)
				var sum, asum complex128
				for _, a := range x.get() {
					sum += a
					asum += complex(abs(real(a))+abs(imag(a)), 0)
				}
				part := xt.kind
				if part == complexed {
					part = floating
				}
				for _, options := range [][]tally.Option{nil, {tally.Exact}} {
					r, err := reduce("sum", w, xt.kind, xt.double, x.Vector, options...)
					if err != nil || r != sum {
						t.Errorf("%v: sum of %s: %v, %v, not %v", w, xt.name, r, err, sum)
					}
					r, err = reduce("asum", w, part, xt.double, x.Vector, options...)
					if err != nil || r != asum {
						t.Errorf("%v: asum of %s: %v, %v, not %v", w, xt.name, r, err, asum)
					}
				}
				three := xt.make([]complex128{1, 0, 1, 0, 1, 1}, inc) // its norm is 2
				r, err := reduce("nrm2", w, floating, xt.double || xt.kind == integer, three.Vector)
				if err != nil || r != 2 {
					t.Errorf("%v: nrm2 of %s: %v, %v", w, xt.name, r, err)
				}
			}
		}
	}
}

func abs(x float64) float64 {
	if x < 0 {
		return -x
	}
	return x
}

// Slices take another path than vectors.
func TestSlicesOfEveryType(t *testing.T) {
	check := func(r float64, err error) {
		t.Helper()
		if err != nil || r != 2 {
			t.Errorf("%v, %v", r, err)
		}
	}
	checkComplex := func(r complex128, err error) {
		t.Helper()
		if err != nil || r != 1+1i {
			t.Errorf("%v, %v", r, err)
		}
	}
	one, two := tally.NewFloat16(1), tally.NewBFloat16(2)
	check(tally.Sum[float64](nil, []bool{true, false, true}))
	check(tally.Sum[float64](nil, []int8{3, -1}))
	check(tally.Sum[float64](nil, []uint8{1, 1}))
	check(tally.Sum[float64](nil, []int32{3, -1}))
	check(tally.Sum[float64](nil, []int64{3, -1}))
	check(tally.Sum[float64](nil, []int{3, -1}))
	check(tally.Sum[float64](nil, []tally.Float16{one, one}))
	check(tally.Sum[float64](nil, []tally.BFloat16{two}))
	check(tally.Sum[float64](nil, []float32{0.5, 1.5}))
	check(tally.Sum[float64](nil, []float64{0.5, 1.5}))
	checkComplex(tally.Sum[complex128](nil, []complex64{1, 1i}))
	checkComplex(tally.Sum[complex128](nil, []complex128{1, 1i}))
	type named []float32
	check(tally.Sum[float64](nil, named{0.5, 1.5}))
	check(norm([]float64{2, 0}))
	if r, err := tally.Dot[float64](nil, named(nil), []float64{}); err != nil || r != 0 {
		t.Errorf("of nothing %v, %v", r, err)
	}
}

// norm is generic itself.
func norm[T float32 | float64](x []T) (T, error) { return tally.Nrm2[T](nil, tally.VectorOf(x)) }

func TestSeveralSums(t *testing.T) {
	const k, n, ldx, ldy = 3, 5, 7, 6
	x, y := make([]float32, (k-1)*ldx+n), make([]int32, (k-1)*ldy+n)
	for i := range x {
		x[i] = float32(i%5) - 2
	}
	for i := range y {
		y[i] = int32(i%7) - 3
	}
	var multi, batched [k]float32
	for j := 0; j < k; j++ {
		for i := 0; i < n; i++ {
			multi[j] += x[j*ldx+i] * float32(y[2*i])
			batched[j] += x[j*ldx+i] * float32(y[j*ldy+i])
		}
	}
	var ends []int // pairs of vectors of 1, 2 and 3 elements
	for j := 0; j < k; j++ {
		ends = append(ends, j+1)
	}
	for _, w := range executors(t) {
		for _, options := range [][]tally.Option{nil, {tally.Exact}} {
			var r [k]float32
			succeeds(t, tally.MultiDot(w, x, ldx, tally.Strided(y[:2*n-1], 2), r[:], options...))
			if r != multi {
				t.Errorf("%v: MultiDot %v, not %v", w, r, multi)
			}
			succeeds(t, tally.BatchedDot(w, n, x, ldx, y, ldy, r[:], options...))
			if r != batched {
				t.Errorf("%v: BatchedDot %v, not %v", w, r, batched)
			}
			xs, ys := make([][]float32, k), make([]tally.Vector, k)
			expected := [k]float32{}
			for j, end := range ends {
				xs[j], ys[j] = x[j:j+end], tally.Strided(y[j:j+end], -1)
				for i := 0; i < end; i++ {
					expected[j] += x[j+i] * float32(y[j+end-1-i])
				}
			}
			succeeds(t, tally.MultiDotList(w, xs, ys, r[:], options...))
			if r != expected {
				t.Errorf("%v: MultiDotList %v, not %v", w, r, expected)
			}
		}
		succeeds(t, tally.MultiDotList(w, [][]float32{}, [][]float32{}, []float32{}))
		succeeds(t, tally.MultiDot(w, x, 1, y[:0], []float32{}))
	}
	c := []complex64{1 + 2i, 3 + 4i}
	var rc [1]complex64
	succeeds(t, tally.MultiDot(nil, c, 0, c, rc[:], tally.ConjugateX))
	if rc[0] != 30 {
		t.Error(rc)
	}
}

func TestLayouts(t *testing.T) {
	x := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} // 2 blocks of 3 rows and 2 columns
	columns := tally.Layout{Rows: 2, Columns: 3, Ld: 1, Inc: 2, Blocks: 2, BlockStride: 6}
	for _, w := range executors(t) {
		for _, options := range [][]tally.Option{nil, {tally.Exact}} {
			var r [4]float32
			succeeds(t, tally.Sums(w, x, columns, r[:], options...))
			if r != [4]float32{9, 12, 27, 30} {
				t.Errorf("%v: Sums %v", w, r)
			}
			succeeds(t, tally.MultiDotStrided(w, x, columns, []int32{1, 10, 100}, r[:], options...))
			if r != [4]float32{531, 642, 1197, 1308} {
				t.Errorf("%v: MultiDotStrided %v", w, r)
			}
			y := []float32{1, 1}
			matrix := tally.Layout{Rows: 3, Columns: 2, Ld: 2}
			succeeds(t, tally.Gemv(w, 2, tally.Transpose, x, matrix, []int32{1, 10, 100}, 3, y, options...))
			if y[0] != 2*531+3 || y[1] != 2*642+3 {
				t.Errorf("%v: Gemv %v", w, y)
			}
		}
		words := make(tally.Words[float32], 4*tally.WordsPerSum[float32]())
		succeeds(t, tally.AddSums(w, words, x, columns))
	}
	var r [4]float32
	columns.Inc = 4
	if err := tally.Sums(nil, x, columns, r[:]); !errors.Is(err, tally.ErrSizeMismatch) {
		t.Error(err)
	}
	columns.Ld = -1
	if err := tally.Sums(nil, x, columns, r[:]); !errors.Is(err, tally.ErrInvalidArgument) {
		t.Error(err)
	}
}

func TestWords(t *testing.T) {
	x := []float64{1e300, 1, -1e300, 0x1p-1070, 3}
	ones := []float32{1, 1, 1, 1, 1}
	for _, w := range executors(t) {
		expected, err := tally.Dot[float64](w, x, ones, tally.Exact)
		succeeds(t, err)
		a, b := tally.NewWords[float64](1), tally.NewWords[float64](1)
		succeeds(t, tally.AddDot(w, a, x[:2], ones[:2]))
		succeeds(t, tally.AddDot(w, b, x[2:], ones[2:]))
		succeeds(t, a.Merge(b))
		var r [1]float64
		succeeds(t, tally.RoundWords(w, a, r[:]))
		if r[0] != expected || expected != 4 {
			t.Errorf("%v: %v, not %v", w, r[0], expected)
		}
		again := tally.NewWords[float64](1)
		succeeds(t, tally.AddSum(w, again, x))
		succeeds(t, again.Merge(nil))
		if fmt.Sprint(again) != fmt.Sprint(a) {
			t.Errorf("%v: the words depend on the parts", w)
		}
		short := tally.NewWords[float32](1)
		succeeds(t, tally.AddNrm2(w, short, []float32{3, 4}))
		succeeds(t, tally.RoundRootWords(w, short, r[:]))
		if r[0] != 5 || len(short) != 23 {
			t.Errorf("%v: %v", w, r[0])
		}
		short = tally.NewWords[float32](1)
		succeeds(t, tally.AddAsum(w, short, []int8{-3, 4}))
		var r32 [3]float32
		succeeds(t, tally.RoundWords(w, short, r32[:1]))
		if r32[0] != 7 {
			t.Errorf("%v: %v", w, r32[0])
		}
		three := tally.NewWords[float32](3)
		succeeds(t, tally.AddMultiDot(w, three, []int8{1, 2, 3}, 1, []float32{2}))
		succeeds(t, tally.AddBatchedDot(w, three, 1, []int8{1, 2, 3}, 1, []float32{2, 2, 2}, 1))
		succeeds(t, tally.AddMultiDotList(w, three, [][]int8{{1}, {2}, {3}}, [][]float32{{1}, {1}, {1}}))
		succeeds(t, tally.RoundWords(w, three, r32[:]))
		if r32 != [3]float32{5, 10, 15} {
			t.Errorf("%v: %v", w, r32)
		}
		c := tally.NewWords[complex64](1)
		succeeds(t, tally.AddDot(w, c, []complex64{1 + 2i, 3}, []complex64{1 + 2i, 1i}, tally.ConjugateX))
		var rc [1]complex128
		succeeds(t, tally.RoundWords(w, c, rc[:]))
		if rc[0] != 5+3i {
			t.Errorf("%v: %v", w, rc[0])
		}
	}
	if tally.WordsPerSum[complex128]() != 274 {
		t.Error("complex sums have two parts")
	}
}
