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
		Vector |
		*DeviceBuffer[bool] | *DeviceBuffer[int8] | *DeviceBuffer[uint8] | *DeviceBuffer[int32] |
		*DeviceBuffer[int64] | *DeviceBuffer[int] | *DeviceBuffer[Float16] |
		*DeviceBuffer[BFloat16] | *DeviceBuffer[float32] | *DeviceBuffer[float64] |
		*DeviceBuffer[complex64] | *DeviceBuffer[complex128]
}

// OperandOf is a vector of elements of type T.
type OperandOf[T Element] interface {
	~[]T | Vector | *DeviceBuffer[T]
}

// Vector is elements of a slice or of device memory, with an increment and a runtime type.
type Vector struct{ c C.tally_go_vector }

// VectorOf is a slice as a Vector, for generic functions: a []T is no Operand where T is a type
// parameter.
func VectorOf[T Element](data []T) Vector { return Vector{sliceOf(data, cType[T]())} }

// Strided is every inc-th element of data, from the first; for negative inc these in reverse, as in
// BLAS.
func Strided[T Element](data []T, inc int) Vector {
	v := sliceOf(data, cType[T]())
	v.inc = C.ptrdiff_t(inc)
	v.n = C.size_t(strided(len(data), inc))
	return Vector{v}
}

func strided(n, inc int) int {
	switch {
	case n == 0:
		return 0
	case inc < 0:
		inc = -inc
	case inc == 0: // an error in C
		inc = 1
	}
	return (n-1)/inc + 1
}

// Len is the number of elements.
func (v Vector) Len() int { return int(v.c.n) }

func sliceOf[T any](s []T, t C.tally_type) C.tally_go_vector {
	// A slice's first word is its address; an empty one has no &s[0].
	data := *(**C.uchar)(unsafe.Pointer(&s))
	return C.tally_go_vector{data: data, n: C.size_t(len(s)), inc: 1, _type: t}
}

func cVector[V any](v V) C.tally_go_vector {
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
		return sliceOf(s, cInt)
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
	case Vector:
		return current(s.c)
	}
	// Converted separately, so that the one above stays on the stack.
	if buffer, is := any(v).(interface{ vector() C.tally_go_vector }); is {
		return buffer.vector()
	}
	s := reflect.ValueOf(v) // a slice type with a name
	return C.tally_go_vector{data: (*C.uchar)(s.UnsafePointer()), n: C.size_t(s.Len()), inc: 1,
		_type: elementTypes[s.Type().Elem()]}
}

var elementTypes = map[reflect.Type]C.tally_type{
	reflect.TypeOf(false):         C.TALLY_BOOL,
	reflect.TypeOf(int8(0)):       C.TALLY_INT8,
	reflect.TypeOf(uint8(0)):      C.TALLY_UINT8,
	reflect.TypeOf(int32(0)):      C.TALLY_INT32,
	reflect.TypeOf(int64(0)):      C.TALLY_INT64,
	reflect.TypeOf(0):             cInt,
	reflect.TypeOf(Float16(0)):    C.TALLY_FLOAT16,
	reflect.TypeOf(BFloat16(0)):   C.TALLY_BFLOAT16,
	reflect.TypeOf(float32(0)):    C.TALLY_FLOAT32,
	reflect.TypeOf(0.0):           C.TALLY_FLOAT64,
	reflect.TypeOf(complex64(0)):  C.TALLY_COMPLEX64,
	reflect.TypeOf(complex128(0)): C.TALLY_COMPLEX128,
}

type length struct {
	name string
	n    C.size_t
}

// An error unless all lengths equal the first.
func sameLength(function string, first length, others ...length) error {
	for _, other := range others {
		if other.n != first.n {
			return failure(ErrSizeMismatch, function, "%s has %d elements, %s has %d", first.name,
				first.n, other.name, other.n)
		}
	}
	return nil
}

func needs(function, name string, n C.size_t, has C.size_t) error {
	return failure(ErrSizeMismatch, function, "%s has %d elements, %d are needed", name, has, n)
}

func sameType(function, xName string, x C.tally_go_vector, yName string, y C.tally_go_vector) error {
	if x._type == y._type {
		return nil
	}
	return failure(ErrUnsupportedType, function, "%s is of %s, %s of %s", xName, typeName(x), yName, typeName(y))
}

func contiguous(function, name string, x C.tally_go_vector) error {
	if x.inc == 1 {
		return nil
	}
	return failure(ErrInvalidArgument, function, "%s has an increment of %d; it must be 1", name, x.inc)
}

// The address of empty operands.
var nothing complex128

// Gives an empty operand an address, where NULL means none to C. Elements without an address belong
// to a closed buffer.
func addressed(function, name string, v *C.tally_go_vector) error {
	if v.data != nil {
		return nil
	}
	if v.n != 0 {
		return failure(ErrNullPointer, function, "%s is of a buffer that is closed", name)
	}
	v.data = (*C.uchar)(unsafe.Pointer(&nothing))
	return nil
}

func typeName(x C.tally_go_vector) string { return C.GoString(C.tally_type_name(x._type)) }
