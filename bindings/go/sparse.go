package tally

// #include "calls.h"
import "C"

import "runtime"

// Operation is what products take for the matrix A that is stored.
type Operation int

const (
	// NoTranspose is A itself.
	NoTranspose Operation = C.TALLY_NO_TRANSPOSE
	// Transpose is A transposed.
	Transpose Operation = C.TALLY_TRANSPOSE
	// ConjugateTranspose is A transposed and conjugated; of real values it is Transpose.
	ConjugateTranspose Operation = C.TALLY_CONJUGATE_TRANSPOSE
)

// CSR is a matrix in compressed sparse rows: row i has the terms RowOffsets[i] ... RowOffsets[i+1] - 1,
// or with row ends those up to RowEnds[i] - 1. Columns are counted from 0, in any order, and may
// repeat. It keeps the slices that it is made of and copies nothing.
type CSR struct {
	Operation Operation
	// FixedValues promises that columns and values stay as they are while a plan of the matrix is
	// used, FixedColumns that columns do, and values may change.
	FixedValues, FixedColumns bool

	c C.tally_go_matrix
}

// NewCSR is a matrix of that height and width. There are rows + 1 offsets, from 0 to the number of
// values, never decreasing, and as many column indices as values; offsets and indices are of int32,
// int64 or int, values of a floating-point or complex type. What they hold Validate checks, and
// NewPlan.
func NewCSR[O, C, V Operand](rows, columns int, rowOffsets O, columnIndices C, values V) (*CSR, error) {
	return newCSR(rows, columns, cVector(rowOffsets), noVector, cVector(columnIndices), cVector(values), 1)
}

// NewCSRWithEnds is a matrix whose rows may lie anywhere: row i has the terms rowOffsets[i] ...
// rowEnds[i] - 1, and there are as many of both as rows, of one type.
func NewCSRWithEnds[O, E, C, V Operand](rows, columns int, rowOffsets O, rowEnds E, columnIndices C, values V) (*CSR, error) {
	offsets, ends := cVector(rowOffsets), cVector(rowEnds)
	if err := sameType("NewCSRWithEnds", "rowOffsets", offsets, "rowEnds", ends); err != nil {
		return nil, err
	}
	if err := sameLength("NewCSRWithEnds", length{"rowOffsets", offsets.n}, length{"rowEnds", ends.n}); err != nil {
		return nil, err
	}
	if err := addressed("NewCSRWithEnds", "rowEnds", &ends); err != nil { // C would take it for no ends.
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

// Height is the number of rows of what products take for A.
func (a *CSR) Height() int { return int(a.height()) }

// Width is the number of columns of what products take for A.
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

// matrix is the matrix as C takes it.
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

// Validate checks a whole matrix where it lies, and waits for the answer: ErrInvalidArgument for the
// first offset or column that is wrong.
func Validate(where *Executor, a *CSR) error {
	m, err := a.matrix("Validate")
	if err != nil {
		return err
	}
	return failed(C.tally_go_validate(where.where(), m))
}

// Plan is what is known of a matrix that is multiplied many times. It changes the time of a product,
// never a bit. The row offsets must stay as they are as long as the plan is used; column indices and
// values may change, unless the matrix promises that they do not.
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

// Close ends a plan that no product uses any more. A plan that is closed has nothing more to close.
func (p *Plan) Close() error {
	runtime.SetFinalizer(p, nil)
	C.tally_spmv_plan_destroy(p.c)
	p.c = nil
	p.pins.Unpin()
	return nil
}

// String says how rows are summed and why, for people.
func (p *Plan) String() string {
	if p.c == nil {
		return "a plan that is closed"
	}
	r := C.tally_go_spmv_plan_describe(p.c)
	defer runtime.KeepAlive(p)
	return C.GoString(r.string)
}

// plan is a plan as C takes it.
func (p *Plan) plan(function string) (*C.tally_spmv_plan, error) {
	if p == nil {
		return nil, nil
	}
	if p.c == nil {
		return nil, failure(ErrNullPointer, function, "the plan is closed")
	}
	return p.c, nil
}

// Spmv writes y = alpha A x + beta y; where beta is 0, y is not read. x and y are of floating-point
// or complex types of 32 or 64 bits, y is complex where the values or x are, and shares no memory
// with x or the matrix: ErrOverlap. The plan is one of this matrix on this backend, or nil. Of the
// options there is Exact: the sum of each row is rounded once.
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

// SpmvApart writes w = alpha A x + beta y, with y an input, which is read whatever beta is. w has the
// type and size of y, and is y itself or shares no memory with it. Otherwise as Spmv.
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

// product is the plan and the matrix of a product, as C takes them.
func (a *CSR) product(function string, plan *Plan) (*C.tally_spmv_plan, C.tally_go_matrix, error) {
	p, err := plan.plan(function)
	if err != nil {
		return nil, a.c, err
	}
	m, err := a.matrix(function)
	return p, m, err
}

// fits says whether x is as long as A is wide, and the others as A is high.
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
