package tally

// #include "calls.h"
import "C"

// Comparison is a way to compare numbers, as Go does: with a NaN only NotEqual is true.
type Comparison int

const (
	Less         Comparison = C.TALLY_LESS
	LessEqual    Comparison = C.TALLY_LESS_EQUAL
	Equal        Comparison = C.TALLY_EQUAL
	NotEqual     Comparison = C.TALLY_NOT_EQUAL
	GreaterEqual Comparison = C.TALLY_GREATER_EQUAL
	Greater      Comparison = C.TALLY_GREATER
)

// Swap exchanges the elements of two disjoint vectors of one type.
func Swap[X, Y Operand](where *Executor, x X, y Y) error {
	xv, yv := cVector(x), cVector(y)
	if err := sameLength("Swap", length{"x", xv.n}, length{"y", yv.n}); err != nil {
		return err
	}
	if err := sameType("Swap", "x", xv, "y", yv); err != nil {
		return err
	}
	return failed(C.tally_go_swap(where.where(), xv, yv))
}

// MultiAxpy writes y_i = beta y_i + sum_j alpha[j] x[j ldx + i], in the order of j: rows of x, each as
// long as y and ldx elements apart, in one pass over memory. y is not read if beta is 0.
func MultiAxpy[A, X Operand, B Element, Y Operand](where *Executor, alpha A, x X, ldx int, beta B, y Y) error {
	av, xv, yv := cVector(alpha), cVector(x), cVector(y)
	if err := contiguous("MultiAxpy", "alpha", av); err != nil {
		return err
	}
	if err := rowsFit("MultiAxpy", "x", xv, int(av.n), yv.n, ldx); err != nil {
		return err
	}
	return failed(C.tally_go_multi_axpy(where.where(), av, xv, C.ptrdiff_t(ldx), cScalar(beta), yv))
}

// MultiAxpyDot updates y as MultiAxpy does, then writes results[j] = sum_i x[j ldx + i] y_i, one for each factor, with the
// bits of MultiDot, in one pass where the executor can.
func MultiAxpyDot[R Number, A, X Operand, B Element, Y Operand](where *Executor, alpha A, x X, ldx int, beta B, y Y,
	results []R, options ...Option) error {
	av, xv, yv := cVector(alpha), cVector(x), cVector(y)
	if err := contiguous("MultiAxpyDot", "alpha", av); err != nil {
		return err
	}
	if err := sameLength("MultiAxpyDot", length{"alpha", av.n}, length{"results", C.size_t(len(results))}); err != nil {
		return err
	}
	if err := rowsFit("MultiAxpyDot", "x", xv, int(av.n), yv.n, ldx); err != nil {
		return err
	}
	return failed(C.tally_go_multi_axpy_dot(where.where(), av, xv, C.ptrdiff_t(ldx), cScalar(beta), yv, cType[R](),
		bytesAt(results), cOptions(options)))
}

// Gather writes z_i = x[indices[i]], bit by bit, for x and z of one type, for each element of z.
// Indices are int32, int64 or int, and are not checked to be within x.
func Gather[X, I, Z Operand](where *Executor, x X, indices I, z Z) error {
	xv, iv, zv := cVector(x), cVector(indices), cVector(z)
	return movedIndexed("Gather", C.tally_go_move(C.tally_gather), where, xv, iv, zv, length{"z", zv.n})
}

// Scatter writes z[indices[i]] = x_i, bit by bit, for x and z of one type, for each element of x.
// Indices are int32, int64 or int, and are not checked to be within z and distinct.
func Scatter[X, I, Z Operand](where *Executor, x X, indices I, z Z) error {
	xv, iv, zv := cVector(x), cVector(indices), cVector(z)
	return movedIndexed("Scatter", C.tally_go_move(C.tally_scatter), where, xv, iv, zv, length{"x", xv.n})
}

// ScatterAdd adds all x_i with indices[i] = j to z[j], for x and z of float32 or float64, and rounds
// once, as with Exact: the order of x does not matter. z[j] is unchanged if the x_i are none or add up
// to 0. Indices are int32, int64 or int; x_i is ignored unless its index is within z. z has no stride.
func ScatterAdd[X, I, Z Operand](where *Executor, x X, indices I, z Z) error {
	xv, iv, zv := cVector(x), cVector(indices), cVector(z)
	return movedIndexed("ScatterAdd", C.tally_go_move(C.tally_scatter_add), where, xv, iv, zv, length{"x", xv.n})
}

func movedIndexed(function string, f C.tally_go_move, where *Executor, x, indices, z C.tally_go_vector, many length) error {
	if err := sameLength(function, many, length{"indices", indices.n}); err != nil {
		return err
	}
	if err := sameType(function, "x", x, "z", z); err != nil {
		return err
	}
	if err := contiguous(function, "indices", indices); err != nil {
		return err
	}
	return failed(C.tally_go_move_indexed(f, where.where(), x, indices, z))
}

// AxpyDot writes y_i = alpha x_i + y_i and returns sum_i y_i v_i, with the bits of Axpy and Dot, in
// one pass where the executor can. v is y itself or shares no memory with it.
func AxpyDot[R Number, A Element, X, Y, V Operand](where *Executor, alpha A, x X, y Y, v V, options ...Option) (R, error) {
	xv, yv, vv := cVector(x), cVector(y), cVector(v)
	if err := sameLength("AxpyDot", length{"x", xv.n}, length{"y", yv.n}, length{"v", vv.n}); err != nil {
		return *new(R), err
	}
	if err := addressed("AxpyDot", "v", &vv); err != nil { // C would take y instead.
		return *new(R), err
	}
	return valueOf[R](C.tally_go_axpy_dot(where.where(), cScalar(alpha), xv, yv, vv, cType[R](), cOptions(options)))
}

// WaxpbyNrm2 writes w_i = alpha x_i + beta y_i and returns sqrt(sum_i |w_i|^2), with the bits of
// Waxpby and Nrm2, in one pass where the executor can.
func WaxpbyNrm2[R Number, A, B Element, X, Y, W Operand](where *Executor, alpha A, x X, beta B, y Y, w W,
	options ...Option) (R, error) {
	xv, yv, wv := cVector(x), cVector(y), cVector(w)
	if err := sameLength("WaxpbyNrm2", length{"x", xv.n}, length{"y", yv.n}, length{"w", wv.n}); err != nil {
		return *new(R), err
	}
	return valueOf[R](C.tally_go_waxpby_nrm2(where.where(), cScalar(alpha), xv, cScalar(beta), yv, wv, cType[R](),
		cOptions(options)))
}
