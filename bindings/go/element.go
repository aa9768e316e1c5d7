package tally

// #cgo pkg-config: tally
// #include "calls.h"
import "C"

import (
	"math"
	"strconv"
	"unsafe"
)

// Element is the type of a vector's elements and of factors. An int counts as int64, on 32-bit
// machines as int32.
type Element interface {
	bool | int8 | uint8 | int32 | int64 | int | Float16 | BFloat16 | float32 | float64 | complex64 |
		complex128
}

// Real is an ordered Element.
type Real interface {
	bool | int8 | uint8 | int32 | int64 | int | Float16 | BFloat16 | float32 | float64
}

// Number is the type of a sum, dot product or norm.
type Number interface {
	int64 | int | float32 | float64 | complex64 | complex128
}

// Float16 is the bits of an IEEE 754 binary16 number.
type Float16 uint16

// BFloat16 is the upper half of a float32.
type BFloat16 uint16

// NewFloat16 rounds to nearest, ties to even.
func NewFloat16(x float32) Float16 {
	bits := math.Float32bits(x)
	sign, magnitude := Float16(bits>>16&0x8000), bits&0x7fffffff
	switch {
	case magnitude > 0x7f800000: // NaN
		return sign | 0x7e00 | Float16(magnitude>>13&0x3ff)
	case magnitude >= 0x47800000: // 2^16 and more
		return sign | 0x7c00
	case magnitude < 0x38800000: // Below 2^-14 the unit is 2^-24: rounding happens in float32.
		return sign | Float16(math.Float32bits(math.Float32frombits(magnitude)+0.5)-0x3f000000)
	}
	magnitude -= 0x38000000 // rebiases the exponent from 127 to 15
	return sign | Float16((magnitude+0xfff+magnitude>>13&1)>>13)
}

// Float32 is the number with these bits.
func (h Float16) Float32() float32 {
	sign, magnitude := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	switch {
	case magnitude >= 0x7c00: // infinity and NaN
		magnitude = 0x7f800000 | magnitude<<13&0x7fffff
	case magnitude < 0x0400:
		magnitude = math.Float32bits(float32(magnitude) * 0x1p-24)
	default:
		magnitude = magnitude<<13 + 0x38000000
	}
	return math.Float32frombits(sign | magnitude)
}

// NewBFloat16 rounds to nearest, ties to even.
func NewBFloat16(x float32) BFloat16 {
	bits := math.Float32bits(x)
	if x != x {
		return BFloat16(bits>>16 | 0x40) // a NaN stays one
	}
	return BFloat16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float32 is the number with these bits.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

func cType[T Element]() C.tally_type {
	switch any(*new(T)).(type) {
	case bool:
		return C.TALLY_BOOL
	case int8:
		return C.TALLY_INT8
	case uint8:
		return C.TALLY_UINT8
	case int32:
		return C.TALLY_INT32
	case int64:
		return C.TALLY_INT64
	case int:
		return cInt
	case Float16:
		return C.TALLY_FLOAT16
	case BFloat16:
		return C.TALLY_BFLOAT16
	case float32:
		return C.TALLY_FLOAT32
	case float64:
		return C.TALLY_FLOAT64
	case complex64:
		return C.TALLY_COMPLEX64
	}
	return C.TALLY_COMPLEX128
}

const cInt = C.TALLY_INT32 + C.tally_type(strconv.IntSize/64)*(C.TALLY_INT64-C.TALLY_INT32)

func cScalar[T Element](value T) C.tally_go_scalar {
	s := C.tally_go_scalar{_type: cType[T]()}
	*(*T)(unsafe.Pointer(&s.value)) = value
	return s
}
