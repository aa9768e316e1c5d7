package tally

// #include <stdlib.h>
// #include "calls.h"
import "C"

import (
	"fmt"
	"strings"
	"unsafe"
)

// Status is the kind of an error: what errors.Is looks for.
type Status int

// The kinds of errors, tally_status in C.
const (
	ErrSizeMismatch    Status = C.TALLY_SIZE_MISMATCH    // operands that don't fit each other
	ErrNullPointer     Status = C.TALLY_NULL_POINTER     // nil where there should be something
	ErrZeroIncrement   Status = C.TALLY_ZERO_INCREMENT   // an increment of 0
	ErrMisaligned      Status = C.TALLY_MISALIGNED       // an address that is no element's
	ErrUnsupportedType Status = C.TALLY_UNSUPPORTED_TYPE // types that the operation doesn't take
	ErrWrongMemory     Status = C.TALLY_WRONG_MEMORY     // memory that the executor can't reach
	ErrMissingBackend  Status = C.TALLY_MISSING_BACKEND  // a backend that this build has not
	ErrNoDevice        Status = C.TALLY_NO_DEVICE        // a backend that can't be used here
	ErrInvalidArgument Status = C.TALLY_INVALID_ARGUMENT // anything else that is out of range
	ErrOutOfMemory     Status = C.TALLY_OUT_OF_MEMORY    // the host's memory, or a device's, is short
	ErrDeviceFailure   Status = C.TALLY_DEVICE_FAILURE   // a call of the device's runtime failed
	ErrNoElements      Status = C.TALLY_NO_ELEMENTS      // a minimum of nothing
	ErrOverlap         Status = C.TALLY_OVERLAP          // an output that shares memory with an input
	ErrKeyOutOfRange   Status = C.TALLY_KEY_OUT_OF_RANGE // a key that has no bin
	ErrUnreadableFile  Status = C.TALLY_UNREADABLE_FILE  // a file that can't be read
	ErrUnknownFailure  Status = C.TALLY_UNKNOWN_FAILURE  // anything else
)

// Error is "tally: size mismatch" and the like.
func (s Status) Error() string {
	return "tally: " + strings.ReplaceAll(C.GoString(C.tally_status_name(C.tally_status(s))), "_", " ")
}

// Error is why a call failed. It wraps its Status.
type Error struct {
	Status Status
	Text   string // what was wrong, in numbers
}

func (e *Error) Error() string { return e.Text }

// Unwrap is the Status.
func (e *Error) Unwrap() error { return e.Status }

// failure is an error that is found before C is called.
func failure(status Status, function, format string, values ...any) error {
	return &Error{status, "tally." + function + ": " + fmt.Sprintf(format, values...)}
}

// failed is the error of a call, nil if there is none.
func failed(r C.tally_go_result) error {
	if r.status == C.TALLY_SUCCESS {
		return nil
	}
	return failureOf(r)
}

// failureOf takes the text of a failure over from C.
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

// valueOf is the number that a call leaves.
func valueOf[R any](r C.tally_go_result) (R, error) {
	if r.status != C.TALLY_SUCCESS {
		return *new(R), failureOf(r)
	}
	return *(*R)(unsafe.Pointer(&r.value)), nil
}
