package tally

// #include "calls.h"
import "C"

// Copy writes y_i = x_i.
func Copy[X, Y Operand](where *Executor, x X, y Y) error {
	return mapped("Copy", C.tally_go_unary(C.tally_copy), where, cVector(x), cVector(y))
}

// Fill writes z_i = value.
func Fill[V Element, Z Operand](where *Executor, value V, z Z) error {
	return failed(C.tally_go_fill(where.where(), cScalar(value), cVector(z)))
}

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

// Scal writes x_i = alpha x_i.
func Scal[A Element, X Operand](where *Executor, alpha A, x X) error {
	return failed(C.tally_go_scal(where.where(), cScalar(alpha), cVector(x)))
}

// Axpy writes y_i = alpha x_i + y_i.
func Axpy[A Element, X, Y Operand](where *Executor, alpha A, x X, y Y) error {
	xv, yv := cVector(x), cVector(y)
	if err := sameLength("Axpy", length{"x", xv.n}, length{"y", yv.n}); err != nil {
		return err
	}
	return failed(C.tally_go_axpy(where.where(), cScalar(alpha), xv, yv))
}

// Axpby writes y_i = alpha x_i + beta y_i. y is not read if beta is 0.
func Axpby[A, B Element, X, Y Operand](where *Executor, alpha A, x X, beta B, y Y) error {
	xv, yv := cVector(x), cVector(y)
	if err := sameLength("Axpby", length{"x", xv.n}, length{"y", yv.n}); err != nil {
		return err
	}
	return failed(C.tally_go_axpby(where.where(), cScalar(alpha), xv, cScalar(beta), yv))
}

// Waxpby writes w_i = alpha x_i + beta y_i.
func Waxpby[A, B Element, X, Y, W Operand](where *Executor, alpha A, x X, beta B, y Y, w W) error {
	xv, yv, wv := cVector(x), cVector(y), cVector(w)
	if err := sameLength("Waxpby", length{"x", xv.n}, length{"y", yv.n}, length{"w", wv.n}); err != nil {
		return err
	}
	return failed(C.tally_go_waxpby(where.where(), cScalar(alpha), xv, cScalar(beta), yv, wv))
}

// Axpbypcz writes z_i = (alpha x_i + beta y_i) + gamma z_i. z is not read if gamma is 0.
func Axpbypcz[A, B, G Element, X, Y, Z Operand](where *Executor, alpha A, x X, beta B, y Y, gamma G, z Z) error {
	xv, yv, zv := cVector(x), cVector(y), cVector(z)
	if err := sameLength("Axpbypcz", length{"x", xv.n}, length{"y", yv.n}, length{"z", zv.n}); err != nil {
		return err
	}
	return failed(C.tally_go_axpbypcz(where.where(), cScalar(alpha), xv, cScalar(beta), yv, cScalar(gamma), zv))
}

// Add writes z_i = x_i + y_i.
func Add[X, Y, Z Operand](where *Executor, x X, y Y, z Z) error {
	return mappedTwo("Add", C.tally_go_binary(C.tally_add), where, cVector(x), cVector(y), cVector(z))
}

// Sub writes z_i = x_i - y_i.
func Sub[X, Y, Z Operand](where *Executor, x X, y Y, z Z) error {
	return mappedTwo("Sub", C.tally_go_binary(C.tally_sub), where, cVector(x), cVector(y), cVector(z))
}

// Mul writes z_i = x_i y_i.
func Mul[X, Y, Z Operand](where *Executor, x X, y Y, z Z) error {
	return mappedTwo("Mul", C.tally_go_binary(C.tally_mul), where, cVector(x), cVector(y), cVector(z))
}

// Axypbz writes z_i = (alpha x_i) y_i + beta z_i. z is not read if beta is 0.
func Axypbz[A, B Element, X, Y, Z Operand](where *Executor, alpha A, x X, y Y, beta B, z Z) error {
	xv, yv, zv := cVector(x), cVector(y), cVector(z)
	if err := sameLength("Axypbz", length{"x", xv.n}, length{"y", yv.n}, length{"z", zv.n}); err != nil {
		return err
	}
	return failed(C.tally_go_axypbz(where.where(), cScalar(alpha), xv, yv, cScalar(beta), zv))
}

// Relu writes y_i = max(x_i, 0) for real elements: +0 for -0, NaN for NaN.
func Relu[X, Y Operand](where *Executor, x X, y Y) error {
	return mapped("Relu", C.tally_go_unary(C.tally_relu), where, cVector(x), cVector(y))
}

// Sigmoid writes y_i = 1 / (1 + exp(-x_i)) for floating-point elements.
func Sigmoid[X, Y Operand](where *Executor, x X, y Y) error {
	return mapped("Sigmoid", C.tally_go_unary(C.tally_sigmoid), where, cVector(x), cVector(y))
}

// Exp writes y_i = exp(x_i) for floating-point elements.
func Exp[X, Y Operand](where *Executor, x X, y Y) error {
	return mapped("Exp", C.tally_go_unary(C.tally_exp), where, cVector(x), cVector(y))
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

func mapped(function string, f C.tally_go_unary, where *Executor, x, y C.tally_go_vector) error {
	if err := sameLength(function, length{"x", x.n}, length{"y", y.n}); err != nil {
		return err
	}
	return failed(C.tally_go_map(f, where.where(), x, y))
}

func mappedTwo(function string, f C.tally_go_binary, where *Executor, x, y, z C.tally_go_vector) error {
	if err := sameLength(function, length{"x", x.n}, length{"y", y.n}, length{"z", z.n}); err != nil {
		return err
	}
	return failed(C.tally_go_map_two(f, where.where(), x, y, z))
}
