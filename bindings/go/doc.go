// Package tally calls Tally: dot products and reductions, element-wise maps, histograms and sparse
// matrix times vector, with the same bits from every backend.
//
//	r, err := tally.Dot[float32](nil, x, mask)             // x []float32, mask []bool
//	r, err := tally.Dot[float64](where, x, y, tally.Exact) // correctly rounded
//
// The executor comes first; nil stands for that of Automatic. Operands are slices, vectors with
// increments (Strided) and device memory (DeviceBuffer), in any pair of the types of Element, without
// a conversion copy. The type in brackets is the result's; each function lists the possible ones.
// Lengths are the operands'; a mismatch is an error, and nothing is written then.
//
// Errors are of type *Error; errors.Is(err, tally.ErrSizeMismatch) tests the kind.
//
// Functions may be called from several goroutines at once. A call crosses from Go to C once and
// creates no garbage. OpenMP keeps a team of threads for every calling thread; a goroutine that calls
// it repeatedly should call runtime.LockOSThread before.
//
// Functions that return a number wait for it. On a GPU those that write vectors return once the work
// is queued on the executor's stream, ahead of later calls there.
//
// # Element-wise functions
//
// Copy, Fill, Axpy, Exp and the like write a vector, their last one. Results are rounded once to its
// type, which is of the inputs' kind or a wider one: integer, floating-point, complex; only Copy and
// Fill from bool write bool. A floating-point factor needs floating-point elements, a complex one
// complex elements. An output may be one of the inputs, with the same increment; otherwise it shares
// no memory with an input: ErrOverlap.
//
// # Histograms
//
// Bincount, HistogramEven and HistogramRange count real samples in bins, all half-open except the
// last, which is closed. Counts are int32, int64 or int, bins times channels of them: the first
// channel's, the second's, ... With Weights they are float32 or float64, each bin's exact sum rounded
// once; or Words, to which the weights are added: nothing, if there are no samples. Counts share no
// memory with an input: ErrOverlap.
package tally
