package tally

// #include "calls.h"
import "C"

import "unsafe"

// Extremum is an element and its lowest index, from 0.
type Extremum[T Real] struct {
	Value T
	Index int
}

// MinMax is both, in one pass.
func MinMax[T Real, X OperandOf[T]](where *Executor, x X) (least, greatest Extremum[T], err error) {
	r, err := search[T]("MinMax", C.tally_go_search(C.tally_minmax), where, cVector(x))
	if err == nil {
		least, greatest = extremumAt[T](&r.value[0]), extremumAt[T](&r.value[2])
	}
	return least, greatest, err
}

// Iamax is the lowest index, from 0, of an element of largest magnitude, for complex elements |re
// x_i| + |im x_i|; -1 for an empty x. (BLAS counts from 1.)
func Iamax[X Operand](where *Executor, x X) (int, error) {
	i, err := valueOf[int64](C.tally_go_iamax(where.where(), cVector(x)))
	return int(i), err
}

func found[T Real](function string, f C.tally_go_search, where *Executor, x C.tally_go_vector) (Extremum[T], error) {
	r, err := search[T](function, f, where, x)
	if err != nil {
		return Extremum[T]{}, err
	}
	return extremumAt[T](&r.value[0]), nil
}

func search[T Real](function string, f C.tally_go_search, where *Executor, x C.tally_go_vector) (C.tally_go_result, error) {
	if x._type != cType[T]() { // A Vector's type is known at run time.
		of := C.tally_go_vector{_type: cType[T]()}
		return C.tally_go_result{}, failure(ErrUnsupportedType, function, "x is of %s, not of %s", typeName(x), typeName(of))
	}
	r := C.tally_go_find(f, where.where(), x)
	return r, failed(r)
}

// A C struct: the element, and from byte 8 on the index.
func extremumAt[T Real](at *C.uint64_t) Extremum[T] {
	e := (*struct {
		value [8]byte
		index int64
	})(unsafe.Pointer(at))
	return Extremum[T]{*(*T)(unsafe.Pointer(&e.value)), int(e.index)}
}
