// Package tally calls Tally: dot products and reductions, element-wise maps, histograms and sparse
// matrix times vector, with the same bits from every backend.
//
//	r, err := tally.Dot[float32](nil, x, mask)             // x []float32, mask []bool
//	r, err := tally.Dot[float64](where, x, y, tally.Exact) // correctly rounded
//
// The executor comes first; nil stands for the one that Automatic makes. Operands are slices,
// vectors with increments (Strided) and memory of a device (DeviceBuffer), in any pair of the types
// of Element, without a conversion copy. The type in brackets is that of the result, where an
// operation has a choice; the operation in C that is named with a function says which ones there
// are (tally.h). Lengths are those of the operands; lengths that differ are an error, and nothing
// is written then.
//
// Errors are of type *Error, and errors.Is(err, tally.ErrSizeMismatch) tells the kind.
//
// Every function may be called from several goroutines at once. A call crosses from Go to C once
// and makes no garbage. The executor of OpenMP keeps a team of threads for every thread that calls
// it; a goroutine that calls it again and again does well to call runtime.LockOSThread before.
//
// Functions that return a number wait for it. On a GPU those that write vectors return as soon as
// the work is queued on the executor's stream, where what is called next comes after it.
package tally
