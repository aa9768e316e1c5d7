package tally

// #include "calls.h"
import "C"

// OutsideCounts are the numbers of one channel's samples without a bin.
type OutsideCounts struct {
	Below int64 // less than the first edge
	Above int64 // greater than the last
	NaN   int64 // NaNs
}

// HistogramOption is an option of a histogram.
type HistogramOption func(*histogramOptions)

type histogramOptions struct {
	c          C.tally_go_histogram
	channels   int
	outside    int // number of OutsideCounts, or -1
	isWeighted bool
}

// Channels makes sample i belong to channel i mod channels.
func Channels(channels int) HistogramOption {
	return func(o *histogramOptions) { o.channels = channels }
}

// Weights are summed instead of counting samples: one for each, float32 or float64.
func Weights[W Operand](weights W) HistogramOption {
	v := cVector(weights)
	return func(o *histogramOptions) { o.c.weights, o.isWeighted = v, true }
}

// Outside counts samples without a bin, in one OutsideCounts for each channel.
func Outside(counts []OutsideCounts) HistogramOption {
	return outside(sliceOf(counts, 0), len(counts))
}

// OutsideOnDevice is Outside in memory of the executor: three numbers for each channel.
func OutsideOnDevice(counts *DeviceBuffer[int64]) HistogramOption {
	return outside(counts.vector(), counts.Len()/3)
}

func outside(counts C.tally_go_vector, n int) HistogramOption {
	return func(o *histogramOptions) { o.c.outside, o.outside = counts, n }
}

// AddToCounts adds to counts and outside instead of overwriting.
func AddToCounts() HistogramOption { return func(o *histogramOptions) { o.c.add = 1 } }

// Bincount counts the integers k for each bin k; the bins are the counts of a channel.
// ErrKeyOutOfRange for a key without a bin, unless there is Outside.
func Bincount[K, N Operand](where *Executor, keys K, counts N, options ...HistogramOption) error {
	kv, nv := cVector(keys), cVector(counts)
	o, bins, err := histogramOf("Bincount", "keys", kv, nv, options)
	if err != nil {
		return err
	}
	return failed(C.tally_go_bincount(where.where(), kv, bins, nv, o))
}

// HistogramEven counts in equal bins between lower and upper; the bins are the counts of a channel.
// ErrInvalidArgument unless both bounds are finite and lower < upper.
func HistogramEven[B Real, X, N Operand](where *Executor, x X, lower, upper B, counts N, options ...HistogramOption) error {
	xv, nv := cVector(x), cVector(counts)
	o, bins, err := histogramOf("HistogramEven", "x", xv, nv, options)
	if err != nil {
		return err
	}
	return failed(C.tally_go_histogram_even(where.where(), xv, cScalar(lower), cScalar(upper), bins, nv, o))
}

// HistogramRange counts between successive edges: one more than bins, in host memory.
// ErrInvalidArgument if they decrease or one is NaN.
func HistogramRange[X, E, N Operand](where *Executor, x X, edges E, counts N, options ...HistogramOption) error {
	xv, ev, nv := cVector(x), cVector(edges), cVector(counts)
	o, bins, err := histogramOf("HistogramRange", "x", xv, nv, options)
	if err != nil {
		return err
	}
	if err := contiguous("HistogramRange", "edges", ev); err != nil {
		return err
	}
	if ev.n != bins+1 {
		return needs("HistogramRange", "edges", bins+1, ev.n)
	}
	return failed(C.tally_go_histogram_range(where.where(), xv, ev, bins, nv, o))
}

func histogramOf(function, name string, x, counts C.tally_go_vector, options []HistogramOption) (
	C.tally_go_histogram, C.size_t, error) {
	o := histogramOptions{channels: 1, outside: -1}
	for _, option := range options {
		option(&o)
	}
	h := &o.c
	h.weights, h.outside = current(h.weights), current(h.outside)
	fail := func(err error) (C.tally_go_histogram, C.size_t, error) { return *h, 0, err }
	if o.channels < 1 {
		return fail(failure(ErrInvalidArgument, function, "there are %d channels", o.channels))
	}
	h.channels = C.size_t(o.channels)
	if err := contiguous(function, "counts", counts); err != nil {
		return fail(err)
	}
	per := h.channels // counts per bin
	if o.isWeighted {
		if err := sameLength(function, length{name, x.n}, length{"weights", h.weights.n}); err != nil {
			return fail(err)
		}
		if err := addressed(function, "weights", &h.weights); err != nil {
			return fail(err)
		}
		if counts._type == C.TALLY_INT64 {
			if words := C.tally_exact_words(h.weights._type); words != 0 {
				per *= words
			}
		}
	}
	if counts.n%per != 0 {
		return fail(failure(ErrSizeMismatch, function, "counts has %d elements, which is no multiple of %d", counts.n, per))
	}
	if o.outside >= 0 {
		if o.outside != o.channels {
			return fail(needs(function, "outside", h.channels, C.size_t(o.outside)))
		}
		if err := addressed(function, "outside", &h.outside); err != nil {
			return fail(err)
		}
	}
	return *h, counts.n / per, nil
}
