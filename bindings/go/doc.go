// Package tally calls Tally: dot products and reductions, element-wise maps, histograms and sparse
// matrix times vector, with the same bits from every backend.
//
//	r, err := tally.Dot[float32](nil, x, mask)             // x []float32, mask []bool
//	r, err := tally.Dot[float64](where, x, y, tally.Exact) // correctly rounded
//
// The executor comes first; nil stands for the one that Automatic makes. Operands are slices,
// vectors with increments (Strided) and memory of a device (DeviceBuffer), in any pair of the types
// of Element, without a conversion copy. The type in brackets is that of the result; each function
// says which ones it has. Lengths are those of the operands; lengths that differ are an error, and
// nothing is written then.
//
// Errors are of type *Error, and errors.Is(err, tally.ErrSizeMismatch) tells the kind.
//
// Every function may be called from several goroutines at once. A call crosses from Go to C once
// and makes no garbage. The executor of OpenMP keeps a team of threads for every thread that calls
// it; a goroutine that calls it again and again does well to call runtime.LockOSThread before.
//
// Functions that return a number wait for it. On a GPU those that write vectors return as soon as
// the work is queued on the executor's stream, where what is called next comes after it.
//
// # Element-wise functions
//
// Copy, Fill, Axpy, Exp and the like write a vector, their last one. What they compute is rounded
// once to its type, which is of the kind of the inputs or a wider one: integer, floating-point,
// complex; only Copy and Fill from bool write bool. A floating-point factor needs floating-point
// elements, a complex one complex elements. An output may be one of the inputs, with the same
// increment; otherwise it shares no memory with an input: ErrOverlap.
//
// # Histograms
//
// Bincount, HistogramEven and HistogramRange count real samples in bins, which are half-open, but
// for the last, which is closed. Counts are of int32, int64 or int, as many as bins times channels:
// those of the first channel, of the second, ... With Weights they are of float32 or float64, and
// hold each bin's exact sum, rounded once; or Words, to which the weights are added: nothing, if
// there are no samples. Counts share no memory with an input: ErrOverlap.
package tally
