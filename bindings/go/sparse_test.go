package tally_test

import (
	"strings"
	"testing"

	"tally"
)

// The matrix of these tests is
//
//	1 2 0
//	0 0 3
func TestProducts(t *testing.T) {
	for _, w := range executors(t) {
		if w.String() == "workspace" { // a device's, without sparse products
			continue
		}
		productsOf(t, w, []int32{0, 2, 3}, []int32{0, 1, 2}, []float64{1, 2, 3})
		productsOf(t, w, []int64{0, 2, 3}, []int32{0, 1, 2}, []float32{1, 2, 3})
		productsOf(t, w, []int{0, 2, 3}, []int64{0, 1, 2}, []float64{1, 2, 3})
	}
}

func productsOf[O, C tally.Element, V float32 | float64](t *testing.T, w *tally.Executor, offsets []O, columns []C, values []V) {
	t.Helper()
	a, err := tally.NewCSR(2, 3, tally.VectorOf(offsets), tally.VectorOf(columns), tally.VectorOf(values))
	succeeds(t, err)
	succeeds(t, tally.Validate(w, a))
	plan, err := tally.NewPlan(w, a)
	succeeds(t, err)
	if plan.String() == "" {
		t.Error("a plan says nothing")
	}
	x := []V{1, 10, 100}
	for _, p := range []*tally.Plan{nil, plan} {
		for _, options := range [][]tally.Option{nil, {tally.Exact}} {
			y := make([]V, 2)
			err = tally.Spmv(w, p, 1.0, a, tally.VectorOf(x), 0.0, tally.VectorOf(y), options...)
			equal(t, w, y, []V{21, 300}, err)
			err = tally.Spmv(w, p, int32(2), a, tally.Strided(x, -1), -1, tally.VectorOf(y), options...)
			equal(t, w, y, []V{2*120 - 21, 2*3 - 300}, err)
			z := make([]V, 2)
			err = tally.SpmvApart(w, p, 1, a, tally.VectorOf(x), 10, tally.VectorOf(y), tally.Strided(z, -1), options...)
			equal(t, w, z, []V{300 - 2940, 21 + 2190}, err)
			rows := []V{1, 100, 10, 10, 100, 1} // of two columns, x and x backwards
			two, columns := make([]V, 4), make([]V, 4)
			err = tally.Spmm(w, p, 1, a, tally.VectorOf(rows), tally.Layout{Rows: 3, Columns: 2, Ld: 2}, 0, tally.VectorOf(two),
				tally.Layout{Rows: 2, Columns: 2, Ld: 2}, options...)
			equal(t, w, two, []V{21, 120, 300, 3}, err)
			err = tally.Spmm(w, p, 2, a, tally.VectorOf(rows), tally.Layout{Rows: 3, Columns: 2, Ld: 2}, 0, tally.VectorOf(columns),
				tally.Layout{Rows: 2, Columns: 2, Ld: 1, Inc: 2}, options...)
			equal(t, w, columns, []V{42, 600, 240, 6}, err)
		}
	}
	succeeds(t, plan.Close())
	succeeds(t, plan.Close())
	y := make([]V, 2)
	fails(t, tally.ErrNullPointer, "tally.Spmv: the plan is closed",
		tally.Spmv(w, plan, 1, a, tally.VectorOf(x), 0, tally.VectorOf(y)))
	if plan.String() != "a plan that is closed" {
		t.Error(plan)
	}

	a.Operation = tally.Transpose
	a.FixedValues, a.FixedColumns = true, true
	if a.Height() != 3 || a.Width() != 2 {
		t.Error(a.Height(), a.Width())
	}
	plan, err = tally.NewPlan(w, a)
	succeeds(t, err)
	z := make([]V, 3)
	err = tally.Spmv(w, plan, 1, a, tally.VectorOf(x[:2]), 0, tally.VectorOf(z))
	equal(t, w, z, []V{1, 2, 30}, err)
	succeeds(t, plan.Close())
}

func TestRows(t *testing.T) {
	for _, w := range executors(t) {
		if w.String() == "workspace" {
			continue
		}
		values := []float32{-1, 2, 3}
		a, err := tally.NewCSR(2, 3, []int32{0, 2, 3}, []int32{0, 1, 2}, values)
		succeeds(t, err)
		d, r, z := []float64{7, 7}, make([]float32, 2), make([]float32, 3)
		err = tally.Diagonal(w, a, d)
		equal(t, w, d, []float64{-1, 0}, err)
		err = tally.RowNorms(w, tally.NormOne, a, r, tally.Exact)
		equal(t, w, r, []float32{3, 3}, err)
		err = tally.RowNorms(w, tally.NormInfinity, a, tally.Strided(r, -1))
		equal(t, w, r, []float32{3, 2}, err)
		err = tally.ScaleRows(w, a, []float64{2, -1}, z)
		equal(t, w, z, []float32{-2, 4, -3}, err)
		err = tally.ScaleRows(w, a, []float64{2, -1}, values)
		equal(t, w, values, []float32{-2, 4, -3}, err)
		fails(t, tally.ErrSizeMismatch, "tally.Diagonal: d has 3 elements, 2 are needed", tally.Diagonal(w, a, z))
		fails(t, tally.ErrSizeMismatch, "tally.RowNorms: r has 3 elements, 2 are needed",
			tally.RowNorms(w, tally.NormOne, a, z))
		fails(t, tally.ErrSizeMismatch, "tally.ScaleRows: z has 2 elements, 3 are needed", tally.ScaleRows(w, a, d, r))
	}
}

func TestCSRFromCOO(t *testing.T) {
	rows, columns, values := []int32{2, 0, 2, 0, 2}, []int{3, 1, 0, 1, 3}, []float32{1, 2, 3, 4, 5}
	for _, w := range executors(t) {
		for _, options := range [][]tally.Option{nil, {tally.Exact}} {
			offsets, sorted, sums := make([]int64, 4), make([]int32, 6), []float32{7, 7, 7, 7, 7}
			stored, err := tally.CSRFromCOO(w, 3, 4, rows, columns, values, offsets, sorted, sums, options...)
			equal(t, w, offsets, []int64{0, 1, 1, 3}, err)
			equal(t, w, sorted, []int32{1, 0, 3, 0, 0, 0}, err)
			equal(t, w, sums, []float32{6, 3, 6, 7, 7}, err)
			if err == nil && stored != 3 {
				t.Error(w, stored)
			}
		}
	}
	w := tally.Serial()
	offsets, sorted, sums := make([]int64, 4), make([]int32, 5), make([]float32, 5)
	stored, err := tally.CSRFromCOO(w, 3, 4, rows[:2], tally.Strided(columns, -4), values[:2], offsets, sorted, sums)
	equal(t, w, sums[:2], []float32{2, 1}, err)
	if stored != 2 {
		t.Error(stored)
	}
	_, err = tally.CSRFromCOO(w, 2, 4, rows, columns, values, offsets, sorted, sums)
	fails(t, tally.ErrInvalidArgument, "tally::csr_from_coo: row_indices[0] is 2; there are 2 rows", err)
	_, err = tally.CSRFromCOO(w, 3, 4, rows, columns[:4], values, offsets, sorted, sums)
	fails(t, tally.ErrSizeMismatch, "tally.CSRFromCOO: rowIndices has 5 elements, columnIndices has 4", err)
	_, err = tally.CSRFromCOO(w, 3, 4, rows, columns, values, offsets[:3], sorted, sums)
	fails(t, tally.ErrSizeMismatch, "tally.CSRFromCOO: rowOffsets has 3 elements, 4 are needed", err)
	_, err = tally.CSRFromCOO(w, 3, 4, rows, columns, values, offsets, sorted, make([]float64, 5))
	fails(t, tally.ErrUnsupportedType, "tally.CSRFromCOO: values is of float32, sortedValues of float64", err)
	_, err = tally.CSRFromCOO(w, -1, 4, rows, columns, values, offsets, sorted, sums)
	fails(t, tally.ErrInvalidArgument, "tally.CSRFromCOO: the matrix has -1 rows and 4 columns", err)
}

func TestComplexProducts(t *testing.T) {
	a, err := tally.NewCSRWithEnds(2, 2, []int32{2, 0}, []int32{3, 2}, []int32{0, 1, 1}, []complex64{1, 2i, 3})
	succeeds(t, err)
	w := tally.Serial()
	y := make([]complex128, 2)
	err = tally.Spmv(w, nil, 1i, a, []float64{1, 10}, 0, y) // (0 3; 1 2i)
	equal(t, w, y, []complex128{30i, -20 + 1i}, err)
	a.Operation = tally.ConjugateTranspose
	err = tally.Spmv(w, nil, 1, a, []float64{1, 10}, 0, y)
	equal(t, w, y, []complex128{10, 3 - 20i}, err)
}

func TestEmptyMatrices(t *testing.T) {
	for _, w := range []*tally.Executor{nil, tally.Serial()} {
		a, err := tally.NewCSR(2, 0, []int{0, 0, 0}, []int32{}, []float64{})
		succeeds(t, err)
		plan, err := tally.NewPlan(w, a)
		succeeds(t, err)
		y := []float64{1, 2}
		err = tally.Spmv(w, plan, 1, a, []float64(nil), 3, y)
		equal(t, w, y, []float64{3, 6}, err)
		succeeds(t, plan.Close())
	}
}

func TestMatricesWithoutRows(t *testing.T) {
	for _, none := range [][]int32{nil, {}} {
		a, err := tally.NewCSRWithEnds(0, 2, none, none, []int32(nil), []float64(nil))
		succeeds(t, err)
		succeeds(t, tally.Validate(nil, a))
		plan, err := tally.NewPlan(nil, a)
		succeeds(t, err)
		for _, p := range []*tally.Plan{nil, plan} {
			succeeds(t, tally.Spmv(nil, p, 1, a, []float64{1, 2}, 0, []float64(nil)))
		}
		succeeds(t, plan.Close())
	}
}

func TestPlansTellDefects(t *testing.T) {
	a, err := tally.NewCSR(1, 2, []int32{0, 1}, []int32{7}, []float64{1})
	succeeds(t, err)
	_, err = tally.NewPlan(nil, a)
	if err == nil || !strings.Contains(err.Error(), "column") {
		t.Error(err)
	}
	plan, err := tally.NewPlan(tally.Serial(), a)
	if plan != nil || err == nil {
		t.Error("a plan of a broken matrix")
	}
}
