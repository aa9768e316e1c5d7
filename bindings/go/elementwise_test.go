package tally_test

import (
	"testing"

	"tally"
)

// Whether elements of a type represent results from vectors of other types.
func holds(y elementType, xs ...elementType) bool {
	for _, x := range xs {
		if x.kind > y.kind {
			return false
		}
	}
	return y.name != "bool"
}

func elementOf(t elementType, v complex128) complex128 { return t.make([]complex128{v}, 1).get()[0] }

// Passed as the narrowest type of a kind.
type factors struct{ alpha, beta, gamma float64 }

func scal(w *tally.Executor, k kind, f factors, x tally.Vector) error {
	switch k {
	case complexed:
		return tally.Scal(w, complex64(complex(f.alpha, 0)), x)
	case floating:
		return tally.Scal(w, float32(f.alpha), x)
	}
	return tally.Scal(w, int32(f.alpha), x)
}

func axpy(w *tally.Executor, k kind, f factors, x, y tally.Vector) error {
	switch k {
	case complexed:
		return tally.Axpy(w, complex64(complex(f.alpha, 0)), x, y)
	case floating:
		return tally.Axpy(w, float32(f.alpha), x, y)
	}
	return tally.Axpy(w, int32(f.alpha), x, y)
}

func axpby(w *tally.Executor, k kind, f factors, x, y tally.Vector) error {
	switch k {
	case complexed:
		return tally.Axpby(w, complex64(complex(f.alpha, 0)), x, int8(f.beta), y)
	case floating:
		return tally.Axpby(w, float32(f.alpha), x, int64(f.beta), y)
	}
	return tally.Axpby(w, int32(f.alpha), x, int(f.beta), y)
}

func waxpby(w *tally.Executor, k kind, f factors, x, y, z tally.Vector) error {
	if k == integer {
		return tally.Waxpby(w, int64(f.alpha), x, int8(f.beta), y, z)
	}
	return tally.Waxpby(w, float32(f.alpha), x, float32(f.beta), y, z)
}

func axpbypcz(w *tally.Executor, k kind, f factors, x, y, z tally.Vector) error {
	if k == integer {
		return tally.Axpbypcz(w, int64(f.alpha), x, int8(f.beta), y, int32(f.gamma), z)
	}
	return tally.Axpbypcz(w, float32(f.alpha), x, int8(f.beta), y, float32(f.gamma), z)
}

func axypbz(w *tally.Executor, k kind, f factors, x, y, z tally.Vector) error {
	if k == integer {
		return tally.Axypbz(w, int64(f.alpha), x, y, int8(f.beta), z)
	}
	return tally.Axypbz(w, float32(f.alpha), x, y, int32(f.beta), z)
}

// Small enough for results in every type except bool.
func few(n, seed int) []complex128 {
	all := some(n, seed)
	for i, v := range all {
		all[i] = complex(float64(int(real(v)+4)%3), imag(v))
	}
	return all
}

func sameNumbers(t *testing.T, what string, w *tally.Executor, y vector, yt elementType, expected []complex128, err error) {
	t.Helper()
	succeeds(t, err)
	got := y.get()
	for i := range expected {
		if e := elementOf(yt, expected[i]); got[i] != e {
			t.Fatalf("%v: %s to %s: element %d is %v, not %v", w, what, yt.name, i, got[i], e)
		}
	}
}

func TestFunctionsOfOneVector(t *testing.T) {
	const n = 19
	for _, w := range executors(t) {
		for _, xt := range types {
			for _, yt := range types {
				for _, inc := range increments {
					what := xt.name
					x, y := xt.make(few(n, 1), inc[0]), yt.make(few(n, 2), inc[1])
					xs, before := x.get(), y.get()
					expected := make([]complex128, n)
					if !holds(yt, xt) && !(yt.name == "bool" && xt.name == "bool") {
						if err := tally.Copy(w, x.Vector, y.Vector); err == nil {
							t.Fatalf("%v: a copy of %s to %s", w, xt.name, yt.name)
						}
						continue
					}
					sameNumbers(t, "copy of "+what, w, y, yt, xs, tally.Copy(w, x.Vector, y.Vector))
					if yt.name == "bool" {
						continue
					}
					if xt.kind != complexed {
						for i, v := range xs {
							expected[i] = v
							if real(v) < 0 {
								expected[i] = 0
							}
						}
						sameNumbers(t, "relu of "+what, w, y, yt, expected, tally.Relu(w, x.Vector, y.Vector))
					}
					y = yt.make(few(n, 2), inc[1])
					f := factors{alpha: 2, beta: 3, gamma: 4}
					for i, v := range xs {
						expected[i] = 2*v + before[i]
					}
					sameNumbers(t, "axpy of "+what, w, y, yt, expected, axpy(w, yt.kind, f, x.Vector, y.Vector))
					y = yt.make(few(n, 2), inc[1])
					for i, v := range xs {
						expected[i] = 2*v + 3*before[i]
					}
					sameNumbers(t, "axpby of "+what, w, y, yt, expected, axpby(w, yt.kind, f, x.Vector, y.Vector))
					if xt.kind == floating {
						zeros := xt.make(make([]complex128, n), inc[0])
						for i := range expected {
							expected[i] = 1
						}
						sameNumbers(t, "exp of "+what, w, y, yt, expected, tally.Exp(w, zeros.Vector, y.Vector))
						for i := range expected {
							expected[i] = 0.5
						}
						sameNumbers(t, "sigmoid of "+what, w, y, yt, expected, tally.Sigmoid(w, zeros.Vector, y.Vector))
					}
				}
			}
			if xt.name == "bool" {
				continue
			}
			x := xt.make(few(n, 1), -2)
			expected := x.get()
			for i := range expected {
				expected[i] *= 2
			}
			sameNumbers(t, "scal", w, x, xt, expected, scal(w, xt.kind, factors{alpha: 2}, x.Vector))
		}
	}
}

func TestFunctionsOfTwoVectors(t *testing.T) {
	const n = 13
	for _, w := range executors(t) {
		for _, xt := range types {
			for _, yt := range types {
				for _, zt := range []elementType{xt, yt, types[4], types[8], types[11]} {
					if !holds(zt, xt, yt) {
						continue
					}
					what := xt.name + " and " + yt.name
					x, y := xt.make(few(n, 1), -1), yt.make(few(n, 2), 2)
					fresh := func() vector { return zt.make(few(n, 3), 3) }
					xs, ys, zs := x.get(), y.get(), fresh().get()
					each := func(f func(x, y, z complex128) complex128) []complex128 {
						all := make([]complex128, n)
						for i := range all {
							all[i] = f(xs[i], ys[i], zs[i])
						}
						return all
					}
					f := factors{2, 3, -1}
					if zt.name == "uint8" {
						f.gamma = 1
					}
					c := complex(f.gamma, 0)
					z := fresh()
					sameNumbers(t, "add of "+what, w, z, zt, each(func(x, y, z complex128) complex128 { return x + y }),
						tally.Add(w, x.Vector, y.Vector, z.Vector))
					if zt.name != "uint8" {
						sameNumbers(t, "sub of "+what, w, z, zt, each(func(x, y, z complex128) complex128 { return x - y }),
							tally.Sub(w, x.Vector, y.Vector, z.Vector))
					}
					sameNumbers(t, "mul of "+what, w, z, zt, each(func(x, y, z complex128) complex128 { return x * y }),
						tally.Mul(w, x.Vector, y.Vector, z.Vector))
					sameNumbers(t, "waxpby of "+what, w, z, zt, each(func(x, y, z complex128) complex128 { return 2*x + 3*y }),
						waxpby(w, wider(xt.kind, yt.kind), f, x.Vector, y.Vector, z.Vector))
					z = fresh()
					sameNumbers(t, "axpbypcz of "+what, w, z, zt, each(func(x, y, z complex128) complex128 { return 2*x + 3*y + c*z }),
						axpbypcz(w, zt.kind, f, x.Vector, y.Vector, z.Vector))
					z = fresh()
					sameNumbers(t, "axypbz of "+what, w, z, zt, each(func(x, y, z complex128) complex128 { return 2*x*y + 3*z }),
						axypbz(w, zt.kind, f, x.Vector, y.Vector, z.Vector))
				}
			}
		}
	}
}

func TestMoves(t *testing.T) {
	for _, w := range executors(t) {
		for _, xt := range types {
			x, y := xt.make(some(6, 1), -2), xt.make(some(6, 2), 1)
			xs, ys := x.get(), y.get()
			sameNumbers(t, "swap", w, x, xt, ys, tally.Swap(w, x.Vector, y.Vector))
			sameNumbers(t, "swap", w, y, xt, xs, nil)
			u, v := xt.make(some(3, 4), 1), xt.make(some(6, 5), 1)
			us, vs, alpha := u.get(), v.get(), []int32{2, 3}
			for i := range us {
				us[i] = 2*vs[i] + 3*vs[i+3]
			}
			if xt.name != "bool" {
				sameNumbers(t, "multi_axpy", w, u, xt, us, tally.MultiAxpy(w, alpha, v.Vector, 3, int32(0), u.Vector))
			}
			if w.String() == "workspace" { // a device's, without gather
				continue
			}
			z := xt.make(some(4, 3), 2)
			sameNumbers(t, "gather", w, z, xt, []complex128{xs[5], xs[0], xs[5], xs[2]},
				tally.Gather(w, y.Vector, []int{5, 0, 5, 2}, z.Vector))
			sameNumbers(t, "scatter", w, y, xt, []complex128{xs[5], xs[2], xs[2], xs[0], xs[5], xs[5]},
				tally.Scatter(w, z.Vector, []int32{4, 3, 0, 1}, y.Vector))
			if xt.name == "float32" || xt.name == "float64" {
				sameNumbers(t, "scatter add", w, y, xt,
					[]complex128{2*xs[5] + xs[0], xs[2], xs[2], xs[0] + xs[2], xs[5], xs[5]},
					tally.ScatterAdd(w, z.Vector, []int{0, 0, -1, 3}, y.Vector))
			}
		}
	}
}

func TestFill(t *testing.T) {
	check := func(err error, r float64, err2 error) {
		t.Helper()
		succeeds(t, err)
		succeeds(t, err2)
		if r != 3 {
			t.Error(r)
		}
	}
	for _, w := range executors(t) {
		x := make([]float64, 3)
		sum := func() (float64, error) { return tally.Sum[float64](w, x) }
		fill := func(err error) {
			t.Helper()
			r, err2 := sum()
			check(err, r, err2)
		}
		fill(tally.Fill(w, true, x))
		fill(tally.Fill(w, int8(1), x))
		fill(tally.Fill(w, uint8(1), x))
		fill(tally.Fill(w, int32(1), x))
		fill(tally.Fill(w, int64(1), x))
		fill(tally.Fill(w, 1, x))
		fill(tally.Fill(w, tally.NewFloat16(1), x))
		fill(tally.Fill(w, tally.NewBFloat16(1), x))
		fill(tally.Fill(w, float32(1), x))
		fill(tally.Fill(w, 1.0, x))
		z := make([]complex128, 3)
		succeeds(t, tally.Fill(w, complex64(1i), z))
		succeeds(t, tally.Axpy(w, 2-1i, z, z))
		if z[2] != 1+3i {
			t.Error(z)
		}
		b := make([]bool, 3)
		succeeds(t, tally.Fill(w, true, tally.Strided(b, 2)))
		if !b[0] || b[1] || !b[2] {
			t.Error(b)
		}
	}
}

func TestUpdatesWithSums(t *testing.T) {
	for _, w := range executors(t) {
		x, y := []float32{1, 2, 3}, []float32{4, 5, 6}
		r, err := tally.AxpyDot[float32](w, float32(2), x, y, x)
		if err != nil || r != 6+2*9+3*12 || y[2] != 12 {
			t.Errorf("%v: %v, %v, %v", w, r, err, y)
		}
		r, err = tally.AxpyDot[float32](w, float32(0), x, y, y, tally.Exact)
		if err != nil || r != 36+81+144 {
			t.Errorf("%v: %v, %v", w, r, err)
		}
		if r, err = tally.AxpyDot[float32](w, float32(0), x[:0], y[:0], x[:0]); err != nil || r != 0 {
			t.Errorf("%v: of nothing %v, %v", w, r, err)
		}
		none, err := tally.AxpyDot[complex128](w, 1.0, []float64(nil), []float64(nil), []complex128(nil))
		if err != nil || none != 0 { // v is complex128 and not y
			t.Errorf("%v: of nothing %v, %v", w, none, err)
		}
		c := []complex64{1i, 2}
		rc, err := tally.AxpyDot[complex128](w, 1i, c, c, []complex64{1, 1i}, tally.ConjugateX)
		if err != nil || rc != (-1-1i)+(2-2i)*1i {
			t.Errorf("%v: %v, %v", w, rc, err)
		}
		rows, sums := []float64{1, 2, 3, 4}, make([]float64, 2)
		u := []float64{5, 6}
		err = tally.MultiAxpyDot(w, []float32{2, 1}, rows, 2, 1.0, u, sums, tally.Exact)
		if err != nil || u[0] != 10 || u[1] != 14 || sums[0] != 10+2*14 || sums[1] != 3*10+4*14 {
			t.Errorf("%v: %v, %v, %v", w, err, u, sums)
		}
		z := make([]float64, 2)
		n, err := tally.WaxpbyNrm2[float64](w, 3.0, []float32{1, 0}, -1.0, []float64{0, 4}, z)
		if err != nil || n != 5 || z[1] != -4 {
			t.Errorf("%v: %v, %v", w, n, err)
		}
	}
}

func TestExtrema(t *testing.T) {
	for _, w := range executors(t) {
		least, greatest, err := tally.MinMax[float64](w, []float64{3, -1, 7, 7, -1})
		if err != nil || least != (tally.Extremum[float64]{Value: -1, Index: 1}) ||
			greatest != (tally.Extremum[float64]{Value: 7, Index: 2}) {
			t.Error(w, least, greatest, err)
		}
		i, err := tally.Iamax(w, []complex64{1, -2i, 1 + 1i})
		if err != nil || i != 1 {
			t.Error(w, i, err)
		}
		if i, err = tally.Iamax(w, []int8{}); err != nil || i != -1 {
			t.Error(w, i, err)
		}
		extremaOf(t, w, false, true, true)
		extremaOf[int8](t, w, -3, 5, 4)
		extremaOf[uint8](t, w, 3, 200, 4)
		extremaOf[int32](t, w, -3, 5, 4)
		extremaOf[int64](t, w, -3, 1<<40, 4)
		extremaOf(t, w, -3, 1<<40, 4)
		extremaOf(t, w, tally.NewFloat16(-3), tally.NewFloat16(5), tally.NewFloat16(4))
		extremaOf(t, w, tally.NewBFloat16(-3), tally.NewBFloat16(5), tally.NewBFloat16(4))
		extremaOf[float32](t, w, -3, 5, 4)
		extremaOf[float64](t, w, -3, 5, 4)
	}
}

func extremaOf[T tally.Real](t *testing.T, w *tally.Executor, least, greatest, between T) {
	t.Helper()
	x := []T{between, greatest, least, greatest}
	lo, err := tally.Min[T](w, x)
	if err != nil || lo != (tally.Extremum[T]{Value: least, Index: 2}) {
		t.Error(w, lo, err)
	}
	hi, err := tally.Max[T](w, tally.Strided(x, -1))
	if err != nil || hi.Value != greatest || hi.Index > 2 {
		t.Error(w, hi, err)
	}
	lo, hi, err = tally.MinMax[T](w, tally.Strided(x, 2))
	if err != nil || lo != (tally.Extremum[T]{Value: least, Index: 1}) || hi != (tally.Extremum[T]{Value: between, Index: 0}) {
		t.Error(w, lo, hi, err)
	}
	i, err := tally.Iamax(w, tally.VectorOf(x))
	if err != nil || x[i] != greatest || i > 1 {
		t.Error(w, i, err)
	}
}
