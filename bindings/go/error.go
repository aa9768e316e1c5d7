package tally

// #include <stdlib.h>
// #include "calls.h"
import "C"

import (
	"fmt"
	"strings"
	"unsafe"
)

// Status is the kind of an error, for errors.Is.
type Status int

// The kinds of errors, tally_status in C.
const (
	ErrSizeMismatch    Status = C.TALLY_SIZE_MISMATCH    // mismatched operands
	ErrNullPointer     Status = C.TALLY_NULL_POINTER     // a missing operand
	ErrZeroIncrement   Status = C.TALLY_ZERO_INCREMENT   // an increment of 0
	ErrMisaligned      Status = C.TALLY_MISALIGNED       // an unaligned element
	ErrUnsupportedType Status = C.TALLY_UNSUPPORTED_TYPE // types that the operation lacks
	ErrWrongMemory     Status = C.TALLY_WRONG_MEMORY     // memory out of the executor's reach
	ErrMissingBackend  Status = C.TALLY_MISSING_BACKEND  // a backend not in this build
	ErrNoDevice        Status = C.TALLY_NO_DEVICE        // a backend unusable here
	ErrInvalidArgument Status = C.TALLY_INVALID_ARGUMENT // any other value out of range
	ErrOutOfMemory     Status = C.TALLY_OUT_OF_MEMORY    // too little host or device memory
	ErrDeviceFailure   Status = C.TALLY_DEVICE_FAILURE   // a device runtime call failed
	ErrNoElements      Status = C.TALLY_NO_ELEMENTS      // a minimum of nothing
	ErrOverlap         Status = C.TALLY_OVERLAP          // an output shares memory with an input
	ErrKeyOutOfRange   Status = C.TALLY_KEY_OUT_OF_RANGE // a key without a bin
	ErrUnreadableFile  Status = C.TALLY_UNREADABLE_FILE  // an unreadable file
	ErrUnknownFailure  Status = C.TALLY_UNKNOWN_FAILURE  // anything else
)

// Error is a text such as "tally: size mismatch".
func (s Status) Error() string {
	return "tally: " + strings.ReplaceAll(C.GoString(C.tally_status_name(C.tally_status(s))), "_", " ")
}

// Error is the failure of a call. It wraps a Status.
type Error struct {
	Status Status
	Text   string // details, in numbers
}

func (e *Error) Error() string { return e.Text }

// Unwrap is the Status.
func (e *Error) Unwrap() error { return e.Status }

// Found before C is called.
func failure(status Status, function, format string, values ...any) error {
	return &Error{status, "tally." + function + ": " + fmt.Sprintf(format, values...)}
}

func failed(r C.tally_go_result) error {
	if r.status == C.TALLY_SUCCESS {
		return nil
	}
	return failureOf(r)
}

func failureOf(r C.tally_go_result) error {
	e := &Error{Status: Status(r.status)}
	if r.failure == nil {
		e.Text = e.Status.Error()
		return e
	}
	defer C.free(unsafe.Pointer(r.failure))
	e.Text = C.GoString(r.failure)
	return e
}

func valueOf[R any](r C.tally_go_result) (R, error) {
	if r.status != C.TALLY_SUCCESS {
		return *new(R), failureOf(r)
	}
	return *(*R)(unsafe.Pointer(&r.value)), nil
}
