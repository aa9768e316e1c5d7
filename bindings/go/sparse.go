package tally

// #include "calls.h"
import "C"

import "runtime"

// Operation is applied to the stored matrix A in products.
type Operation int

const (
	// NoTranspose is A itself.
	NoTranspose Operation = C.TALLY_NO_TRANSPOSE
	// Transpose is A transposed.
	Transpose Operation = C.TALLY_TRANSPOSE
	// ConjugateTranspose is A transposed and conjugated; for real values the same as Transpose.
	ConjugateTranspose Operation = C.TALLY_CONJUGATE_TRANSPOSE
)

// CSR is a matrix in compressed sparse rows: row i has the terms RowOffsets[i] ... RowOffsets[i+1] - 1,
// or with row ends those up to RowEnds[i] - 1. Columns count from 0, in any order, and may
// repeat. The slices are kept, not copied.
type CSR struct {
	Operation Operation
	// FixedValues promises that columns and values don't change while a plan of the matrix is used,
	// FixedColumns only that columns don't.
	FixedValues, FixedColumns bool

	c C.tally_go_matrix
}

// NewCSR is a rows x columns matrix. There are rows + 1 nondecreasing offsets, from 0 to the number
// of values, and as many column indices as values; offsets and indices are int32, int64 or int,
// values floating-point or complex. Validate and NewPlan check contents.
func NewCSR[O, C, V Operand](rows, columns int, rowOffsets O, columnIndices C, values V) (*CSR, error) {
	return newCSR(rows, columns, cVector(rowOffsets), noVector, cVector(columnIndices), cVector(values), 1)
}

// NewCSRWithEnds is a matrix whose rows may lie anywhere: row i has the terms rowOffsets[i] ...
// rowEnds[i] - 1, both of one type and one for each row.
func NewCSRWithEnds[O, E, C, V Operand](rows, columns int, rowOffsets O, rowEnds E, columnIndices C, values V) (*CSR, error) {
	offsets, ends := cVector(rowOffsets), cVector(rowEnds)
	if err := sameType("NewCSRWithEnds", "rowOffsets", offsets, "rowEnds", ends); err != nil {
		return nil, err
	}
	if err := sameLength("NewCSRWithEnds", length{"rowOffsets", offsets.n}, length{"rowEnds", ends.n}); err != nil {
		return nil, err
	}
	if err := addressed("NewCSRWithEnds", "rowEnds", &ends); err != nil { // NULL means no ends to C.
		return nil, err
	}
	return newCSR(rows, columns, offsets, ends, cVector(columnIndices), cVector(values), 0)
}

var noVector = C.tally_go_vector{inc: 1}

func newCSR(rows, columns int, offsets, ends, indices, values C.tally_go_vector, last int) (*CSR, error) {
	if rows < 0 || columns < 0 {
		return nil, failure(ErrInvalidArgument, "CSR", "the matrix has %d rows and %d columns", rows, columns)
	}
	if offsets.n != C.size_t(rows+last) {
		return nil, needs("CSR", "rowOffsets", C.size_t(rows+last), offsets.n)
	}
	if err := sameLength("CSR", length{"columnIndices", indices.n}, length{"values", values.n}); err != nil {
		return nil, err
	}
	names := []string{"rowOffsets", "rowEnds", "columnIndices", "values"}
	for i, v := range []C.tally_go_vector{offsets, ends, indices, values} {
		if err := contiguous("CSR", names[i], v); err != nil {
			return nil, err
		}
	}
	return &CSR{c: C.tally_go_matrix{rows: C.size_t(rows), columns: C.size_t(columns), row_offsets: offsets,
		row_ends: ends, column_indices: indices, values: values}}, nil
}

// Height is the number of rows of op(A).
func (a *CSR) Height() int { return int(a.height()) }

// Width is the number of columns of op(A).
func (a *CSR) Width() int { return int(a.width()) }

func (a *CSR) height() C.size_t {
	if a.Operation == NoTranspose {
		return a.c.rows
	}
	return a.c.columns
}

func (a *CSR) width() C.size_t {
	if a.Operation == NoTranspose {
		return a.c.columns
	}
	return a.c.rows
}

func (a *CSR) matrix(function string) (C.tally_go_matrix, error) {
	m := a.c
	operation, err := intOf(function, "Operation", a.Operation)
	if err != nil {
		return m, err
	}
	m.operation = C.tally_operation(operation)
	for _, v := range []*C.tally_go_vector{&m.row_offsets, &m.row_ends, &m.column_indices, &m.values} {
		*v = current(*v)
	}
	if a.c.row_ends.data != nil {
		if err := addressed(function, "rowEnds", &m.row_ends); err != nil {
			return m, err
		}
	}
	if a.FixedValues {
		m.fixed_values = 1
	}
	if a.FixedColumns {
		m.fixed_columns = 1
	}
	return m, nil
}

// Validate checks a whole matrix in place, and waits: ErrInvalidArgument for the first invalid
// offset or column.
func Validate(where *Executor, a *CSR) error {
	m, err := a.matrix("Validate")
	if err != nil {
		return err
	}
	return failed(C.tally_go_validate(where.where(), m))
}

// Plan is a precomputed analysis of a matrix for repeated products. It changes speed, never bits.
// Row offsets must not change while the plan is used; column indices and values may, unless the
// matrix promises otherwise.
type Plan struct {
	c      *C.tally_spmv_plan
	matrix *CSR
	pins   pinner
}

// NewPlan validates a matrix and makes a plan of it.
func NewPlan(where *Executor, a *CSR) (*Plan, error) {
	m, err := a.matrix("NewPlan")
	if err != nil {
		return nil, err
	}
	p := &Plan{matrix: a}
	for _, v := range []C.tally_go_vector{m.row_offsets, m.row_ends, m.column_indices, m.values} {
		pinVector(&p.pins, v)
	}
	if err := failed(C.tally_go_spmv_plan_create(where.where(), m, &p.c)); err != nil {
		p.pins.Unpin()
		return nil, err
	}
	runtime.SetFinalizer(p, func(p *Plan) { p.Close() }) // the last resort
	return p, nil
}

// Close frees a plan that no product uses any more. Closing again does nothing.
func (p *Plan) Close() error {
	runtime.SetFinalizer(p, nil)
	C.tally_spmv_plan_destroy(p.c)
	p.c = nil
	p.pins.Unpin()
	return nil
}

// String is a readable account of the method and its reasons.
func (p *Plan) String() string {
	if p.c == nil {
		return "a plan that is closed"
	}
	r := C.tally_go_spmv_plan_describe(p.c)
	defer runtime.KeepAlive(p)
	return C.GoString(r.string)
}

func (p *Plan) plan(function string) (*C.tally_spmv_plan, error) {
	if p == nil {
		return nil, nil
	}
	if p.c == nil {
		return nil, failure(ErrNullPointer, function, "the plan is closed")
	}
	return p.c, nil
}

// Spmv writes y = alpha A x + beta y; y is not read if beta is 0. x and y are floating-point or
// complex of 32 or 64 bits, y complex if the values or x are; y shares no memory with x or the
// matrix: ErrOverlap. The plan is nil or one of this matrix on this backend. The one option is
// Exact: each row's sum is rounded once.
func Spmv[A, B Element, X, Y Operand](where *Executor, plan *Plan, alpha A, a *CSR, x X, beta B, y Y, options ...Option) error {
	xv, yv := cVector(x), cVector(y)
	p, m, err := a.product("Spmv", plan)
	if err == nil {
		err = a.fits("Spmv", xv, length{"y", yv.n})
	}
	if err != nil {
		return err
	}
	r := C.tally_go_spmv(where.where(), p, cScalar(alpha), m, xv, cScalar(beta), yv, cOptions(options))
	runtime.KeepAlive(plan)
	return failed(r)
}

// Spmm writes Y = alpha A X + beta Y, each column with the bits of Spmv: row i of X and Y, of a Layout's Columns
// elements, has the elements i of all columns. A row-major X has Ld: columns, a column-major one Ld: 1 and Inc: its
// height. Otherwise as Spmv.
func Spmm[A, B Element, X, Y Operand](where *Executor, plan *Plan, alpha A, a *CSR, x X, xRows Layout, beta B, y Y,
	yRows Layout, options ...Option) error {
	xv, yv := cVector(x), cVector(y)
	p, m, err := a.product("Spmm", plan)
	var xl, yl C.tally_go_layout
	if err == nil {
		xl, err = xRows.in("Spmm", "x", xv, xRows.Rows)
	}
	if err == nil {
		yl, err = yRows.in("Spmm", "y", yv, yRows.Rows)
	}
	if err == nil && xl.k != a.width() {
		err = needs("Spmm", "a column of x", a.width(), xl.k)
	}
	if err == nil && yl.k != a.height() {
		err = needs("Spmm", "a column of y", a.height(), yl.k)
	}
	if err == nil {
		err = sameLength("Spmm", length{"a row of x", xl.n}, length{"a row of y", yl.n})
	}
	if err != nil {
		return err
	}
	r := C.tally_go_spmm(where.where(), p, cScalar(alpha), m, xl, xv, cScalar(beta), yl, yv, cOptions(options))
	runtime.KeepAlive(plan)
	return failed(r)
}

// Norm is a norm of rows.
type Norm int

const (
	// NormOne is the sum of magnitudes.
	NormOne Norm = C.TALLY_NORM_ONE
	// NormInfinity is the largest magnitude.
	NormInfinity Norm = C.TALLY_NORM_INFINITY
)

// Diagonal writes d[i] = the value of A in row i and column i, 0 if there is none. d is floating-point or complex, and
// complex if A is. The matrix is not transposed, also below: ErrInvalidArgument.
func Diagonal[D Operand](where *Executor, a *CSR, d D) error {
	v := cVector(d)
	m, err := a.matrix("Diagonal")
	n := m.rows
	if m.columns < n {
		n = m.columns
	}
	if err == nil && v.n != n {
		err = needs("Diagonal", "d", n, v.n)
	}
	if err != nil {
		return err
	}
	return failed(C.tally_go_diagonal(where.where(), m, v))
}

// RowNorms writes r[i] = the norm of row i, the sums in the order of Spmv or Exact. r is float64 or, unless A is of 64
// bits, float32.
func RowNorms[R Operand](where *Executor, norm Norm, a *CSR, r R, options ...Option) error {
	v := cVector(r)
	kind, err := intOf("RowNorms", "norm", norm)
	m, failure := a.matrix("RowNorms")
	if err == nil {
		err = failure
	}
	if err == nil && v.n != m.rows {
		err = needs("RowNorms", "r", m.rows, v.n)
	}
	if err != nil {
		return err
	}
	return failed(C.tally_go_row_norms(where.where(), C.tally_norm(kind), m, v, cOptions(options)))
}

// ScaleRows writes z[k] = a_k d[i] for each value k of row i, as Mul has it. z has A's type and as many elements as A
// has values: these themselves, or memory of its own.
func ScaleRows[D, Z Operand](where *Executor, a *CSR, d D, z Z) error {
	dv, zv := cVector(d), cVector(z)
	m, err := a.matrix("ScaleRows")
	if err == nil && dv.n != m.rows {
		err = needs("ScaleRows", "d", m.rows, dv.n)
	}
	if err == nil && zv.n != m.values.n {
		err = needs("ScaleRows", "z", m.values.n, zv.n)
	}
	if err == nil {
		err = sameType("ScaleRows", "the matrix", m.values, "z", zv)
	}
	if err == nil {
		err = contiguous("ScaleRows", "z", zv)
	}
	if err != nil {
		return err
	}
	return failed(C.tally_go_scale_rows(where.where(), m, dv, zv))
}

// CSRFromCOO writes the arrays of the rows x columns matrix with these entries, in any order, and returns the number of
// its values: rowOffsets, rows + 1 of them, and, sorted by row and column, sortedColumns and sortedValues, each with
// room for an element per entry. Entries of one row and column become their sum, in the order given, or with Exact the
// exact one, rounded once. Indices are int32, int64 or int, and count from 0; values are floating-point or complex.
// Outputs share no memory with inputs or each other: ErrOverlap.
func CSRFromCOO[I, J, V, O, S, W Operand](where *Executor, rows, columns int, rowIndices I, columnIndices J, values V,
	rowOffsets O, sortedColumns S, sortedValues W, options ...Option) (int, error) {
	const function = "CSRFromCOO"
	if rows < 0 || columns < 0 {
		return 0, failure(ErrInvalidArgument, function, "the matrix has %d rows and %d columns", rows, columns)
	}
	i, j, v := cVector(rowIndices), cVector(columnIndices), cVector(values)
	o, s, w := cVector(rowOffsets), cVector(sortedColumns), cVector(sortedValues)
	err := sameLength(function, length{"rowIndices", i.n}, length{"columnIndices", j.n}, length{"values", v.n})
	if err == nil {
		err = sameType(function, "values", v, "sortedValues", w)
	}
	outputs := []struct {
		name string
		of   C.tally_go_vector
		room C.size_t
	}{{"rowOffsets", o, C.size_t(rows + 1)}, {"sortedColumns", s, v.n}, {"sortedValues", w, v.n}}
	for _, output := range outputs {
		if err == nil {
			err = contiguous(function, output.name, output.of)
		}
		if err == nil && output.of.n < output.room {
			err = needs(function, output.name, output.room, output.of.n)
		}
	}
	if err != nil {
		return 0, err
	}
	r := C.tally_go_csr_from_coo(where.where(), C.size_t(rows), C.size_t(columns), i, j, v, o, s, w, cOptions(options))
	return int(r.value[0]), failed(r)
}

// SpmvApart writes w = alpha A x + beta y, with y an input that is always read. w has y's type and
// size, and is y itself or shares no memory with it. Otherwise as Spmv.
func SpmvApart[A, B Element, X, Y, W Operand](where *Executor, plan *Plan, alpha A, a *CSR, x X, beta B, y Y, w W,
	options ...Option) error {
	xv, yv, wv := cVector(x), cVector(y), cVector(w)
	p, m, err := a.product("SpmvApart", plan)
	if err == nil {
		err = a.fits("SpmvApart", xv, length{"y", yv.n}, length{"w", wv.n})
	}
	if err == nil {
		err = sameType("SpmvApart", "y", yv, "w", wv)
	}
	if err != nil {
		return err
	}
	r := C.tally_go_spmv_apart(where.where(), p, cScalar(alpha), m, xv, cScalar(beta), yv, wv,
		cOptions(options))
	runtime.KeepAlive(plan)
	return failed(r)
}

func (a *CSR) product(function string, plan *Plan) (*C.tally_spmv_plan, C.tally_go_matrix, error) {
	p, err := plan.plan(function)
	if err != nil {
		return nil, a.c, err
	}
	m, err := a.matrix(function)
	return p, m, err
}

// An error unless x is as long as A is wide, the others as A is high.
func (a *CSR) fits(function string, x C.tally_go_vector, others ...length) error {
	if x.n != a.width() {
		return needs(function, "x", a.width(), x.n)
	}
	for _, other := range others {
		if other.n != a.height() {
			return needs(function, other.name, a.height(), other.n)
		}
	}
	return nil
}
