package tally

// #include "calls.h"
import "C"

import "unsafe"

// SumType is the type of an exact sum: float64 and complex128 hold any terms, float32 and
// complex64, with fewer words, those of operands without doubles.
type SumType interface {
	float32 | float64 | complex64 | complex128
}

// Words are unrounded exact sums, contiguous. Parts of a sum, as from the ranks of an MPI program,
// are merged by adding words as 64-bit integers, in any order, and rounded at the end, with the
// bits of Exact for the whole. At most 2^29 calls, over all parts, may add to one sum; Merge makes
// room for as many more.
type Words[S SumType] []int64

// NewWords are the words of count empty sums.
func NewWords[S SumType](count int) Words[S] { return make(Words[S], count*WordsPerSum[S]()) }

// WordsPerSum is 137 for float64, 23 for float32, twice that for complex128 and complex64.
func WordsPerSum[S SumType]() int { return int(C.tally_exact_words(sumType[S]())) }

// Merge adds the words of as many sums to w, and leaves normal forms: the same words for the same
// sums. With w itself or nil it only normalises w.
func (w Words[S]) Merge(from Words[S]) error {
	count, err := w.count("Words.Merge", "w")
	if err != nil {
		return err
	}
	if from != nil && len(from) != len(w) {
		return sameLength("Words.Merge", length{"w", C.size_t(len(w))}, length{"from", C.size_t(len(from))})
	}
	return failed(C.tally_go_merge_words(count, sumType[S](), from.address(), w.address()))
}

// RoundWords writes results[j] = sum j of words, correctly rounded.
func RoundWords[R, S SumType](where *Executor, words Words[S], results []R) error {
	return roundWords("RoundWords", C.tally_go_rounding(C.tally_round_words), where, words, results)
}

// RoundRootWords writes the square root of each sum, as Nrm2; NaN for negative sums. Sums are real.
func RoundRootWords[R, S SumType](where *Executor, words Words[S], results []R) error {
	return roundWords("RoundRootWords", C.tally_go_rounding(C.tally_round_root_words), where, words, results)
}

func roundWords[R, S SumType](function string, f C.tally_go_rounding, where *Executor, words Words[S], results []R) error {
	if err := words.hold(function, len(results)); err != nil {
		return err
	}
	return failed(C.tally_go_round_words(f, where.where(), C.size_t(len(results)), sumType[S](), words.address(),
		sumType[R](), bytesAt(results)))
}

// AddDot adds the exact sum of Dot to words of one sum.
func AddDot[S SumType, X, Y Operand](where *Executor, words Words[S], x X, y Y, options ...Option) error {
	xv, yv := cVector(x), cVector(y)
	if err := sameLength("AddDot", length{"x", xv.n}, length{"y", yv.n}); err != nil {
		return err
	}
	if err := words.hold("AddDot", 1); err != nil {
		return err
	}
	return failed(C.tally_go_dot(where.where(), xv, yv, sumType[S](), words.address(), wordOptions(options)))
}

func addReduced[S SumType](function string, f C.tally_go_reduction, where *Executor, words Words[S], x C.tally_go_vector) error {
	if err := words.hold(function, 1); err != nil {
		return err
	}
	return failed(C.tally_go_reduce(f, where.where(), x, sumType[S](), words.address(), wordOptions(nil)))
}

// AddMultiDot adds the exact sums of MultiDot to words of one sum for each row.
func AddMultiDot[S SumType, X, Y Operand](where *Executor, words Words[S], x X, ldx int, y Y, options ...Option) error {
	xv, yv := cVector(x), cVector(y)
	k, err := words.count("AddMultiDot", "words")
	if err != nil {
		return err
	}
	if err := rowsFit("AddMultiDot", "x", xv, int(k), yv.n, ldx); err != nil {
		return err
	}
	return failed(C.tally_go_multi_dot(C.tally_go_pairs(C.tally_multi_dot), where.where(), k, yv.n, xv,
		C.ptrdiff_t(ldx), yv, yv.inc, sumType[S](), bytesAt(words), wordOptions(options)))
}

// AddSums adds the exact sums of Sums to words of one sum for each vector.
func AddSums[S SumType, X Operand](where *Executor, words Words[S], x X, layout Layout) error {
	xv := cVector(x)
	k, err := words.count("AddSums", "words")
	if err != nil {
		return err
	}
	l, err := layout.in("AddSums", "x", xv, int(k))
	if err != nil {
		return err
	}
	return failed(C.tally_go_sums(where.where(), l, xv, sumType[S](), bytesAt(words), wordOptions(nil)))
}

// AddBatchedDot adds the exact sums of BatchedDot to words of one sum for each pair of rows.
func AddBatchedDot[S SumType, X, Y Operand](where *Executor, words Words[S], n int, x X, ldx int, y Y, ldy int,
	options ...Option) error {
	xv, yv := cVector(x), cVector(y)
	k, err := words.count("AddBatchedDot", "words")
	if err != nil {
		return err
	}
	if err := batchFits("AddBatchedDot", n, xv, ldx, yv, ldy, int(k)); err != nil {
		return err
	}
	return failed(C.tally_go_multi_dot(C.tally_go_pairs(C.tally_batched_dot), where.where(), k, C.size_t(n), xv,
		C.ptrdiff_t(ldx), yv, C.ptrdiff_t(ldy), sumType[S](), bytesAt(words), wordOptions(options)))
}

// AddMultiDotList adds the exact sums of MultiDotList to words of one sum for each pair of vectors.
func AddMultiDotList[S SumType, X, Y Operand](where *Executor, words Words[S], x []X, y []Y, options ...Option) error {
	k, err := words.count("AddMultiDotList", "words")
	if err != nil {
		return err
	}
	return multiDotList("AddMultiDotList", where, x, y, int(k), sumType[S](), bytesAt(words), wordOptions(options))
}

// count is the number of sums in w.
func (w Words[S]) count(function, name string) (C.size_t, error) {
	per := WordsPerSum[S]()
	if len(w)%per != 0 {
		return 0, failure(ErrSizeMismatch, function, "%s has %d elements, and a sum has %d words", name, len(w), per)
	}
	return C.size_t(len(w) / per), nil
}

// hold is an error unless w has that many sums.
func (w Words[S]) hold(function string, count int) error {
	if n := C.size_t(count * WordsPerSum[S]()); n != C.size_t(len(w)) {
		return needs(function, "words", n, C.size_t(len(w)))
	}
	return nil
}

func (w Words[S]) address() *C.int64_t { return (*C.int64_t)(unsafe.Pointer(bytesAt(w))) }

// wordOptions are the options of an unrounded sum.
func wordOptions(options []Option) C.tally_call_options {
	o := cOptions(options)
	o.size = C.sizeof_tally_call_options
	o.form = C.TALLY_RESULT_WORDS
	return o
}

func sumType[S SumType]() C.tally_type { return cType[S]() }
