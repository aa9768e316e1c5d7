package tally

// #include "calls.h"
import "C"

import (
	"reflect"
	"unsafe"
)

// Slice is a slice of elements.
type Slice interface {
	~[]bool | ~[]int8 | ~[]uint8 | ~[]int32 | ~[]int64 | ~[]int | ~[]Float16 | ~[]BFloat16 |
		~[]float32 | ~[]float64 | ~[]complex64 | ~[]complex128
}

// Operand is a vector of elements of any type: a slice, a Vector or a DeviceBuffer.
type Operand interface {
	Slice |
		Vector[bool] | Vector[int8] | Vector[uint8] | Vector[int32] | Vector[int64] | Vector[int] |
		Vector[Float16] | Vector[BFloat16] | Vector[float32] | Vector[float64] |
		Vector[complex64] | Vector[complex128] |
		*DeviceBuffer[bool] | *DeviceBuffer[int8] | *DeviceBuffer[uint8] | *DeviceBuffer[int32] |
		*DeviceBuffer[int64] | *DeviceBuffer[int] | *DeviceBuffer[Float16] |
		*DeviceBuffer[BFloat16] | *DeviceBuffer[float32] | *DeviceBuffer[float64] |
		*DeviceBuffer[complex64] | *DeviceBuffer[complex128]
}

// OperandOf is a vector of elements of type T.
type OperandOf[T Element] interface {
	~[]T | Vector[T] | *DeviceBuffer[T]
}

// Vector is elements of a slice, or of a device's memory, with an increment.
type Vector[T Element] struct{ c C.tally_go_vector }

// Strided is every inc-th element of data, from the first; with a negative increment these in the
// opposite order, as BLAS has it.
func Strided[T Element](data []T, inc int) Vector[T] {
	v := sliceOf(data, typeOf[T]())
	v.inc = C.ptrdiff_t(inc)
	v.n = C.size_t(strided(len(data), inc))
	return Vector[T]{v}
}

// strided counts every inc-th of n elements.
func strided(n, inc int) int {
	switch {
	case inc < 0:
		inc = -inc
	case inc == 0: // C says that this is wrong.
		inc = 1
	}
	return (n + inc - 1) / inc
}

// Len is the number of elements.
func (v Vector[T]) Len() int { return int(v.c.n) }

func (v Vector[T]) vector() C.tally_go_vector { return v.c }

// sliceOf is a slice as C takes it.
func sliceOf[T any](s []T, t C.tally_type) C.tally_go_vector {
	// A slice begins with its address, which has a check of its length to pass elsewhere.
	data := *(**C.uchar)(unsafe.Pointer(&s))
	return C.tally_go_vector{data: data, n: C.size_t(len(s)), inc: 1, _type: t}
}

// vectorOf is an operand as C takes it.
func vectorOf[V Operand](v V) C.tally_go_vector {
	switch s := any(v).(type) {
	case []bool:
		return sliceOf(s, C.TALLY_BOOL)
	case []int8:
		return sliceOf(s, C.TALLY_INT8)
	case []uint8:
		return sliceOf(s, C.TALLY_UINT8)
	case []int32:
		return sliceOf(s, C.TALLY_INT32)
	case []int64:
		return sliceOf(s, C.TALLY_INT64)
	case []int:
		return sliceOf(s, typeOfInt)
	case []Float16:
		return sliceOf(s, C.TALLY_FLOAT16)
	case []BFloat16:
		return sliceOf(s, C.TALLY_BFLOAT16)
	case []float32:
		return sliceOf(s, C.TALLY_FLOAT32)
	case []float64:
		return sliceOf(s, C.TALLY_FLOAT64)
	case []complex64:
		return sliceOf(s, C.TALLY_COMPLEX64)
	case []complex128:
		return sliceOf(s, C.TALLY_COMPLEX128)
	case interface{ vector() C.tally_go_vector }:
		return s.vector()
	}
	return namedSliceOf(reflect.ValueOf(v))
}

// namedSliceOf is a slice whose type has a name of its own.
func namedSliceOf(s reflect.Value) C.tally_go_vector {
	t := map[reflect.Type]C.tally_type{
		reflect.TypeOf(false):         C.TALLY_BOOL,
		reflect.TypeOf(int8(0)):       C.TALLY_INT8,
		reflect.TypeOf(uint8(0)):      C.TALLY_UINT8,
		reflect.TypeOf(int32(0)):      C.TALLY_INT32,
		reflect.TypeOf(int64(0)):      C.TALLY_INT64,
		reflect.TypeOf(0):             typeOfInt,
		reflect.TypeOf(Float16(0)):    C.TALLY_FLOAT16,
		reflect.TypeOf(BFloat16(0)):   C.TALLY_BFLOAT16,
		reflect.TypeOf(float32(0)):    C.TALLY_FLOAT32,
		reflect.TypeOf(0.0):           C.TALLY_FLOAT64,
		reflect.TypeOf(complex64(0)):  C.TALLY_COMPLEX64,
		reflect.TypeOf(complex128(0)): C.TALLY_COMPLEX128,
	}[s.Type().Elem()]
	data := (*C.uchar)(s.UnsafePointer())
	return C.tally_go_vector{data: data, n: C.size_t(s.Len()), inc: 1, _type: t}
}

// A length is how many elements an operand has, by its name.
type length struct {
	name string
	n    C.size_t
}

// sameLength says which lengths differ from the first.
func sameLength(function string, first length, others ...length) error {
	for _, other := range others {
		if other.n != first.n {
			return failure(ErrSizeMismatch, function, "%s has %d elements, %s has %d", first.name,
				first.n, other.name, other.n)
		}
	}
	return nil
}

// needs says that an operand has fewer elements than another one, or a shape, asks for.
func needs(function, name string, n C.size_t, has C.size_t) error {
	return failure(ErrSizeMismatch, function, "%s has %d elements, %d are needed", name, has, n)
}
