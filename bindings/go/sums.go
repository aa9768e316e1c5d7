package tally

// #include "calls.h"
import "C"

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// Option is an option of a sum.
type Option int

const (
	// Exact is the exact real sum rounded once, which depends on the values alone, not on their order.
	Exact Option = 1 + iota
	// ConjugateX conjugates a dot product's first vector, as BLAS's dotc.
	ConjugateX
	// ConjugateY conjugates the second; both at once are ErrInvalidArgument.
	ConjugateY
)

// Size 0 if there are none.
func cOptions(options []Option) (o C.tally_call_options) {
	if len(options) == 0 {
		return o
	}
	o.size = C.sizeof_tally_call_options
	for _, option := range options {
		switch option {
		case Exact:
			o.grade |= C.TALLY_GRADE_EXACT
		case ConjugateX:
			o.conjugate |= C.TALLY_CONJUGATE_X
		case ConjugateY:
			o.conjugate |= C.TALLY_CONJUGATE_Y // both at once are an error in C
		default: // no such grade, an error in C; -1 stays whatever follows
			o.grade = -1
		}
	}
	return o
}

// Dot is sum_i x_i y_i. R is float64 if x or y is float64, float32 for other floating-point types,
// alone or with integers, int64 for integers, the corresponding complex type if x or y is complex;
// or instead float64 or complex128.
func Dot[R Number, X, Y Operand](where *Executor, x X, y Y, options ...Option) (R, error) {
	xv, yv := cVector(x), cVector(y)
	if xv.n != yv.n {
		return *new(R), sameLength("Dot", length{"x", xv.n}, length{"y", yv.n})
	}
	return valueOf[R](C.tally_go_dot(where.where(), xv, yv, cType[R](), nil, cOptions(options)))
}

func reduced[R Number](f C.tally_go_reduction, where *Executor, x C.tally_go_vector, options []Option) (R, error) {
	return valueOf[R](C.tally_go_reduce(f, where.where(), x, cType[R](), nil, cOptions(options)))
}

// MultiDot writes results[j] = sum_i x[j ldx + i] y_i: rows of x, each as long as y and ldx
// elements apart, with one vector, in one pass over memory. Each has the bits of Dot.
func MultiDot[R Number, X, Y Operand](where *Executor, x X, ldx int, y Y, results []R, options ...Option) error {
	xv, yv := cVector(x), cVector(y)
	if err := rowsFit("MultiDot", "x", xv, len(results), yv.n, ldx); err != nil {
		return err
	}
	return failed(C.tally_go_multi_dot(C.tally_go_pairs(C.tally_multi_dot), where.where(), C.size_t(len(results)),
		yv.n, xv, C.ptrdiff_t(ldx), yv, yv.inc, cType[R](), bytesAt(results), cOptions(options)))
}

// Layout is where vectors lie in an operand: element i of vector r of block o is element
// o BlockStride + r Ld + i Inc.
type Layout struct {
	// Rows is the number of vectors of a block.
	Rows int
	// Columns is the number of elements of a vector.
	Columns int
	// Ld is the distance of vectors.
	Ld int
	// Inc is the distance of neighbours in a vector; 0: 1.
	Inc int
	// Blocks is the number of blocks; 0: 1.
	Blocks int
	// BlockStride is the distance of blocks.
	BlockStride int
}

// Sums writes the sum of each vector of x, block after block: the sums along an axis of an array.
// Each has the bits of Sum. Ld 1 and Inc k are the k columns of a row-major matrix.
func Sums[R Number, X Operand](where *Executor, x X, layout Layout, results []R, options ...Option) error {
	xv := cVector(x)
	l, err := layout.in("Sums", "x", xv, len(results))
	if err != nil {
		return err
	}
	return failed(C.tally_go_sums(where.where(), l, xv, cType[R](), bytesAt(results), cOptions(options)))
}

// MultiDotStrided writes the dot product of each vector of x with y, block after block; otherwise as MultiDot.
func MultiDotStrided[R Number, X, Y Operand](where *Executor, x X, layout Layout, y Y, results []R,
	options ...Option) error {
	xv, yv := cVector(x), cVector(y)
	l, err := layout.in("MultiDotStrided", "x", xv, len(results))
	if err == nil {
		err = sameLength("MultiDotStrided", length{"y", yv.n}, length{"a vector of x", l.n})
	}
	if err != nil {
		return err
	}
	return failed(C.tally_go_multi_dot_strided(where.where(), l, xv, yv, cType[R](), bytesAt(results),
		cOptions(options)))
}

// Gemv writes y = alpha op(A) x + beta y, with A of layout.Rows rows and layout.Columns columns in a; y is not read if
// beta is 0. Each element of op(A) x has the bits of Dot. A or x is floating-point or complex; y is of 32 or 64 bits or
// complex, and complex if A or x is. The one option is Exact.
func Gemv[S, T Element, A, X, Y Operand](where *Executor, alpha S, operation Operation, a A, layout Layout, x X,
	beta T, y Y, options ...Option) error {
	av, xv, yv := cVector(a), cVector(x), cVector(y)
	l, err := layout.in("Gemv", "a", av, layout.Rows)
	width, height := l.n, l.k
	if operation != NoTranspose {
		width, height = height, width
	}
	if err == nil {
		err = sameLength("Gemv", length{"x", xv.n}, length{"a row of op(A)", width})
	}
	if err == nil {
		err = sameLength("Gemv", length{"y", yv.n}, length{"a column of op(A)", height})
	}
	which := C.int(0)
	if err == nil {
		which, err = intOf("Gemv", "operation", operation)
	}
	if err != nil {
		return err
	}
	return failed(C.tally_go_gemv(where.where(), C.tally_operation(which), cScalar(alpha), l, av, xv, cScalar(beta),
		yv, cOptions(options)))
}

// The layout, an error unless x has all elements and there is a result for each vector.
func (l Layout) in(function, name string, x C.tally_go_vector, results int) (c C.tally_go_layout, err error) {
	if l.Inc == 0 {
		l.Inc = 1
	}
	if l.Blocks == 0 {
		l.Blocks = 1
	}
	if err := contiguous(function, name, x); err != nil {
		return c, err
	}
	for _, member := range []struct {
		name  string
		value int
	}{{"Rows", l.Rows}, {"Columns", l.Columns}, {"Ld", l.Ld}, {"Inc", l.Inc}, {"Blocks", l.Blocks},
		{"BlockStride", l.BlockStride}} {
		if member.value < 0 {
			return c, failure(ErrInvalidArgument, function, "layout.%s is %d", member.name, member.value)
		}
	}
	if high, count := bits.Mul64(uint64(l.Rows), uint64(l.Blocks)); high != 0 || count != uint64(results) {
		return c, failure(ErrSizeMismatch, function, "results has %d elements, the layout %d vectors", results, count)
	}
	if l.Rows > 0 && l.Columns > 0 && l.Blocks > 0 {
		left := uint64(x.n)
		for _, axis := range [][2]int{{2, 1}, {l.Rows, l.Ld}, {l.Columns, l.Inc}, {l.Blocks, l.BlockStride}} {
			high, reach := bits.Mul64(uint64(axis[0]-1), uint64(axis[1]))
			if high != 0 || reach > left {
				return c, failure(ErrSizeMismatch, function, "%s has %d elements, the layout more", name, x.n)
			}
			left -= reach
		}
	}
	return C.tally_go_layout{C.size_t(l.Rows), C.size_t(l.Columns), C.size_t(l.Blocks), C.ptrdiff_t(l.Ld),
		C.ptrdiff_t(l.Inc), C.ptrdiff_t(l.BlockStride)}, nil
}

// BatchedDot writes results[j] = sum_i x[j ldx + i] y[j ldy + i], i < n: pairs of rows; otherwise
// as MultiDot.
func BatchedDot[R Number, X, Y Operand](where *Executor, n int, x X, ldx int, y Y, ldy int, results []R,
	options ...Option) error {
	xv, yv := cVector(x), cVector(y)
	if err := batchFits("BatchedDot", n, xv, ldx, yv, ldy, len(results)); err != nil {
		return err
	}
	return failed(C.tally_go_multi_dot(C.tally_go_pairs(C.tally_batched_dot), where.where(), C.size_t(len(results)),
		C.size_t(n), xv, C.ptrdiff_t(ldx), yv, C.ptrdiff_t(ldy), cType[R](), bytesAt(results), cOptions(options)))
}

// SegmentedSum writes results[j] = the sum of x[offsets[j]] to x[offsets[j+1]-1], in the order of
// Spmv's rows. Offsets are int32, int64 or int, from 0 to the length of x, not decreasing.
// Sums of integers are int64 or int.
func SegmentedSum[R Number, I, X Operand](where *Executor, offsets I, x X, results []R, options ...Option) error {
	ov, xv := cVector(offsets), cVector(x)
	if err := contiguous("SegmentedSum", "offsets", ov); err != nil {
		return err
	}
	if err := contiguous("SegmentedSum", "x", xv); err != nil {
		return err
	}
	if ov.n != C.size_t(len(results)+1) {
		return needs("SegmentedSum", "offsets", C.size_t(len(results)+1), ov.n)
	}
	return failed(C.tally_go_segmented_sum(where.where(), C.size_t(len(results)), ov, xv, cType[R](), bytesAt(results),
		cOptions(options)))
}

// MultiDotList writes results[j] = the dot product of x[j] and y[j], of any lengths, one pair for
// each result; otherwise as MultiDot.
func MultiDotList[R Number, X, Y Operand](where *Executor, x []X, y []Y, results []R, options ...Option) error {
	return multiDotList("MultiDotList", where, x, y, len(results), cType[R](), bytesAt(results), cOptions(options))
}

// Writes k results, or adds to the words of k sums.
func multiDotList[X, Y Operand](function string, where *Executor, x []X, y []Y, k int, result C.tally_type,
	results *C.uchar, options C.tally_call_options) error {
	err := sameLength(function, length{"results", C.size_t(k)}, length{"x", C.size_t(len(x))},
		length{"y", C.size_t(len(y))})
	if err != nil || k == 0 {
		return err
	}
	var pins pinner
	defer pins.Unpin()
	xs, err := newList(function, "x", x, &pins)
	if err != nil {
		return err
	}
	ys, err := newList(function, "y", y, &pins)
	if err != nil {
		return err
	}
	for j := range xs.n {
		if xs.n[j] != ys.n[j] {
			return failure(ErrSizeMismatch, function, "x[%d] has %d elements, y[%d] has %d", j, xs.n[j], j, ys.n[j])
		}
	}
	return failed(C.tally_go_multi_dot_list(where.where(), C.size_t(k), &xs.n[0], xs._type, &xs.data[0],
		&xs.inc[0], ys._type, &ys.data[0], &ys.inc[0], result, results, options))
}

// Pinned tables of addresses.
type list struct {
	_type C.tally_type
	n     []C.size_t
	data  []C.uintptr_t
	inc   []C.ptrdiff_t
}

// At least one vector; all have one type.
func newList[V Operand](function, name string, vectors []V, pins *pinner) (list, error) {
	k, first := len(vectors), cVector(vectors[0])
	l := list{first._type, make([]C.size_t, k), make([]C.uintptr_t, k), make([]C.ptrdiff_t, k)}
	for j, vector := range vectors {
		v := cVector(vector)
		if v._type != first._type {
			return l, sameType(function, name+"[0]", first, fmt.Sprintf("%s[%d]", name, j), v)
		}
		pinVector(pins, v)
		l.n[j], l.inc[j] = v.n, v.inc
		l.data[j] = C.uintptr_t(uintptr(unsafe.Pointer(v.data)))
	}
	return l, nil
}

func pinVector(pins *pinner, v C.tally_go_vector) {
	if v.data != nil {
		pins.Pin(unsafe.Pointer(v.data))
	}
	if v.owner != nil {
		pins.Pin(unsafe.Pointer(v.owner))
	}
}

// An error unless x has k rows of n elements, ld apart.
func rowsFit(function, name string, x C.tally_go_vector, k int, n C.size_t, ld int) error {
	if err := contiguous(function, name, x); err != nil {
		return err
	}
	if ld < 0 {
		return failure(ErrInvalidArgument, function, "ld%s is %d", name, ld)
	}
	if k > 0 && n > 0 && (x.n < n || k > 1 && C.size_t(ld) > (x.n-n)/C.size_t(k-1)) {
		return failure(ErrSizeMismatch, function, "%s has %d elements, which are no %d rows of %d, %d from one to the next",
			name, x.n, k, n, ld)
	}
	return nil
}

func batchFits(function string, n int, x C.tally_go_vector, ldx int, y C.tally_go_vector, ldy int, k int) error {
	if n < 0 {
		return failure(ErrInvalidArgument, function, "n is %d", n)
	}
	if err := rowsFit(function, "x", x, k, C.size_t(n), ldx); err != nil {
		return err
	}
	return rowsFit(function, "y", y, k, C.size_t(n), ldy)
}

// nil for an empty slice.
func bytesAt[T any](s []T) *C.uchar { return sliceOf(s, 0).data }
