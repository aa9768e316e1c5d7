package tally_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"tally"
)

func TestStatuses(t *testing.T) {
	known := map[tally.Status]string{
		tally.ErrSizeMismatch: "size mismatch", tally.ErrNullPointer: "null pointer",
		tally.ErrZeroIncrement: "zero increment", tally.ErrMisaligned: "misaligned",
		tally.ErrUnsupportedType: "unsupported type", tally.ErrWrongMemory: "wrong memory",
		tally.ErrMissingBackend: "missing backend", tally.ErrNoDevice: "no device",
		tally.ErrInvalidArgument: "invalid argument", tally.ErrOutOfMemory: "out of memory",
		tally.ErrDeviceFailure: "device failure", tally.ErrNoElements: "no elements",
		tally.ErrOverlap: "overlap", tally.ErrKeyOutOfRange: "key out of range",
		tally.ErrUnreadableFile: "unreadable file", tally.ErrUnknownFailure: "unknown failure", 0: "success",
	}
	for s := tally.Status(-1); s < 300; s++ { // C has no others
		name, is := known[s]
		if !is {
			name = "unknown"
		}
		if s.Error() != "tally: "+name {
			t.Errorf("%d is %q", s, s.Error())
		}
	}
}

func TestErrors(t *testing.T) {
	w := tally.Serial()
	x, y, z := []float64{1, 2, 3}, []float32{4, 5}, make([]float64, 3)
	i := []int32{0, 1}
	dot := func(_ float64, err error) error { return err }
	extremum := func(_ tally.Extremum[float64], err error) error { return err }
	executor := func(_ *tally.Executor, err error) error { return err }
	matrix := func(_ *tally.CSR, err error) error { return err }
	misaligned := unsafe.Slice((*float64)(unsafe.Add(unsafe.Pointer(&x[0]), 4)), 2)
	a, err := tally.NewCSR(1, 3, []int32{0, 2}, i, []float64{1, 2})
	succeeds(t, err)
	broken, err := tally.NewCSR(1, 3, []int32{0, 2}, []int32{0, 3}, []float64{1, 2})
	succeeds(t, err)
	words := tally.NewWords[float64](1)

	for _, c := range []struct {
		status tally.Status
		text   string
		err    error
	}{
		{tally.ErrSizeMismatch, "tally.Dot: x has 3 elements, y has 2", dot(tally.Dot[float64](w, x, y))},
		{tally.ErrSizeMismatch, "tally.MultiDot: x has 3 elements, which are no 2 rows of 2, 2 from one to the next",
			tally.MultiDot(w, x, 2, y, z[:2])},
		{tally.ErrInvalidArgument, "tally.MultiDot: ldx is -1", tally.MultiDot(w, x, -1, y, z[:2])},
		{tally.ErrInvalidArgument, "tally.MultiDot: x has an increment of 2; it must be 1",
			tally.MultiDot(w, tally.Strided(x, 2), 1, y, z[:2])},
		{tally.ErrSizeMismatch, "tally.BatchedDot: y has 2 elements, which are no 3 rows of 1, 1 from one to the next",
			tally.BatchedDot(w, 1, x, 1, y, 1, z)},
		{tally.ErrInvalidArgument, "tally.BatchedDot: n is -1", tally.BatchedDot(w, -1, x, 1, y, 1, z)},
		{tally.ErrSizeMismatch, "tally.MultiDotList: results has 3 elements, x has 1",
			tally.MultiDotList(w, [][]float64{x}, [][]float64{x}, z)},
		{tally.ErrSizeMismatch, "tally.MultiDotList: x[0] has 3 elements, y[0] has 2",
			tally.MultiDotList(w, [][]float64{x}, [][]float32{y}, z[:1])},
		{tally.ErrUnsupportedType, "tally.MultiDotList: y[0] is of float64, y[1] of float32",
			tally.MultiDotList(w, [][]float64{x[:2], x[:2]}, []tally.Vector{tally.VectorOf(x[:2]), tally.VectorOf(y)}, z[:2])},
		{tally.ErrSizeMismatch, "tally.Copy: x has 3 elements, y has 2", tally.Copy(w, x, y)},
		{tally.ErrSizeMismatch, "tally.Swap: x has 3 elements, y has 2", tally.Swap(w, x, z[:2])},
		{tally.ErrSizeMismatch, "tally.Gather: z has 3 elements, indices has 2", tally.Gather(w, x, i, z)},
		{tally.ErrSizeMismatch, "tally.Scatter: x has 3 elements, indices has 2", tally.Scatter(w, x, i, z)},
		{tally.ErrSizeMismatch, "tally.ScatterAdd: x has 3 elements, indices has 2", tally.ScatterAdd(w, x, i, z)},
		{tally.ErrSizeMismatch, "tally.Axpy: x has 2 elements, y has 3", tally.Axpy(w, 1.0, y, x)},
		{tally.ErrSizeMismatch, "tally.Axpby: x has 2 elements, y has 3", tally.Axpby(w, 1.0, y, 1.0, x)},
		{tally.ErrSizeMismatch, "tally.Waxpby: x has 3 elements, y has 2", tally.Waxpby(w, 1.0, x, 1.0, y, z)},
		{tally.ErrSizeMismatch, "tally.Axpbypcz: x has 3 elements, z has 2",
			tally.Axpbypcz(w, 1.0, x, 1.0, x, 1.0, z[:2])},
		{tally.ErrSizeMismatch, "tally.Axypbz: x has 3 elements, z has 2", tally.Axypbz(w, 1.0, x, x, 1.0, z[:2])},
		{tally.ErrSizeMismatch, "tally.Add: x has 3 elements, y has 2", tally.Add(w, x, y, z)},
		{tally.ErrSizeMismatch, "tally.Sub: x has 3 elements, z has 2", tally.Sub(w, x, x, y)},
		{tally.ErrSizeMismatch, "tally.Mul: x has 3 elements, z has 2", tally.Mul(w, x, x, y)},
		{tally.ErrSizeMismatch, "tally.Relu: x has 3 elements, y has 2", tally.Relu(w, x, y)},
		{tally.ErrSizeMismatch, "tally.Sigmoid: x has 3 elements, y has 2", tally.Sigmoid(w, x, y)},
		{tally.ErrSizeMismatch, "tally.Exp: x has 3 elements, y has 2", tally.Exp(w, x, y)},
		{tally.ErrSizeMismatch, "tally.SegmentedSum: offsets has 2 elements, 3 are needed",
			tally.SegmentedSum(w, i, x, z[:2])},
		{tally.ErrSizeMismatch, "tally.MultiAxpy: x has 3 elements, which are no 2 rows of 2, 2 from one to the next",
			tally.MultiAxpy(w, y, x, 2, 1.0, z[:2])},
		{tally.ErrSizeMismatch, "tally.MultiAxpyDot: alpha has 2 elements, results has 3",
			tally.MultiAxpyDot(w, y, x, 1, 1.0, z[:1], make([]float64, 3))},
		{tally.ErrSizeMismatch, "tally.InclusiveScan: x has 3 elements, y has 2", tally.InclusiveScan(w, x, y)},
		{tally.ErrSizeMismatch, "tally.ExclusiveScan: x has 3 elements, y has 2", tally.ExclusiveScan(w, x, y)},
		{tally.ErrSizeMismatch, "tally.AxpyDot: x has 3 elements, v has 2", dot(tally.AxpyDot[float64](w, 1.0, x, z, y))},
		{tally.ErrSizeMismatch, "tally.WaxpbyNrm2: x has 3 elements, w has 2",
			dot(tally.WaxpbyNrm2[float64](w, 1.0, x, 1.0, x, y))},
		{tally.ErrSizeMismatch, "tally.Bincount: keys has 2 elements, weights has 3",
			tally.Bincount(w, i, z, tally.Weights(x))},
		{tally.ErrSizeMismatch, "tally.Bincount: counts has 3 elements, which is no multiple of 2",
			tally.Bincount(w, i, make([]int32, 3), tally.Channels(2))},
		{tally.ErrSizeMismatch, "tally.Bincount: outside has 1 elements, 2 are needed",
			tally.Bincount(w, i, make([]int32, 4), tally.Channels(2), tally.Outside(make([]tally.OutsideCounts, 1)))},
		{tally.ErrInvalidArgument, "tally.Bincount: there are 0 channels",
			tally.Bincount(w, i, make([]int32, 4), tally.Channels(0))},
		{tally.ErrSizeMismatch, "tally.HistogramRange: edges has 3 elements, 5 are needed",
			tally.HistogramRange(w, x, x, make([]int32, 4))},
		{tally.ErrSizeMismatch, "tally.CSR: rowOffsets has 2 elements, 3 are needed",
			matrix(tally.NewCSR(2, 2, i, i, x))},
		{tally.ErrSizeMismatch, "tally.CSR: columnIndices has 2 elements, values has 3",
			matrix(tally.NewCSR(1, 2, i, i, x))},
		{tally.ErrInvalidArgument, "tally.CSR: the matrix has -1 rows and 2 columns",
			matrix(tally.NewCSR(-1, 2, i, i, x))},
		{tally.ErrUnsupportedType, "tally.NewCSRWithEnds: rowOffsets is of int32, rowEnds of int64",
			matrix(tally.NewCSRWithEnds(2, 2, i, []int64{1, 2}, i, x[:2]))},
		{tally.ErrSizeMismatch, "tally.Spmv: x has 2 elements, 3 are needed", tally.Spmv(w, nil, 1, a, y, 0, z[:1])},
		{tally.ErrSizeMismatch, "tally.Spmv: y has 3 elements, 1 are needed", tally.Spmv(w, nil, 1, a, x, 0, z)},
		{tally.ErrSizeMismatch, "tally.Spmm: a column of x has 2 elements, 3 are needed",
			tally.Spmm(w, nil, 1, a, x, tally.Layout{Rows: 2, Columns: 1, Ld: 1}, 0, z[:1],
				tally.Layout{Rows: 1, Columns: 1, Ld: 1})},
		{tally.ErrSizeMismatch, "tally.SpmvApart: w has 2 elements, 1 are needed",
			tally.SpmvApart(w, nil, 1, a, x, 1, z[:1], z[1:])},
		{tally.ErrSizeMismatch, "tally.AddDot: x has 3 elements, y has 2", tally.AddDot(w, words, x, y)},
		{tally.ErrSizeMismatch, "tally.AddSum: words has 136 elements, 137 are needed", tally.AddSum(w, words[1:], x)},
		{tally.ErrSizeMismatch, "tally.AddMultiDot: words has 136 elements, and a sum has 137 words",
			tally.AddMultiDot(w, words[1:], x, 1, y)},
		{tally.ErrSizeMismatch, "tally.RoundWords: words has 137 elements, 274 are needed",
			tally.RoundWords(w, words, z[:2])},
		{tally.ErrSizeMismatch, "tally.Words.Merge: w has 137 elements, from has 136", words.Merge(words[1:])},

		{tally.ErrZeroIncrement, "tally::sum: x has increment 0", dot(tally.Sum[float64](w, tally.Strided(x, 0)))},
		{tally.ErrMisaligned, "", dot(tally.Sum[float64](w, misaligned))},
		{tally.ErrUnsupportedType, "", dot(tally.Dot[float64](w, []complex64{1}, []complex64{1}))},
		{tally.ErrUnsupportedType, "tally.Swap: x is of float64, y of float32", tally.Swap(w, x[:2], y)},
		{tally.ErrUnsupportedType, "tally.Gather: x is of float64, z of float32", tally.Gather(w, x, i, y)},
		{tally.ErrUnsupportedType, "tally.Max: x is of float32, not of float64",
			extremum(tally.Max[float64](w, tally.VectorOf(y)))},
		{tally.ErrUnsupportedType, "", tally.Copy(w, x[:2], i)},
		{tally.ErrMissingBackend, "", executor(tally.Named("abacus"))},
		{tally.ErrInvalidArgument, "tally::simd: instructions is 7, which is no instruction set", executor(tally.SIMD(7))},
		{tally.ErrInvalidArgument, "", executor(tally.OpenMP(-1))},
		{tally.ErrInvalidArgument, "tally: where is an executor that no function of Tally has made",
			dot(tally.Sum[float64](new(tally.Executor), x))},
		{tally.ErrInvalidArgument, "tally: options.grade is -1; it may be 0 to 1", dot(tally.Sum[float64](w, x, 77))},
		{tally.ErrInvalidArgument, "tally: options.grade is -1; it may be 0 to 1",
			dot(tally.Sum[float64](w, x, 77, tally.Exact))},
		{tally.ErrInvalidArgument, "tally: options.conjugate is 3; it may be 0 to 2",
			dot(tally.Dot[float64](w, x, z, tally.ConjugateX, tally.ConjugateY))},
		{tally.ErrInvalidArgument, "tally: options.conjugate is 1; it must be 0",
			dot(tally.Sum[float64](w, x, tally.ConjugateX))},
		{tally.ErrInvalidArgument, "", tally.HistogramEven(w, x, 2, 1, i)},
		{tally.ErrInvalidArgument, "", tally.Validate(w, broken)},
		{tally.ErrNoElements, "", extremum(tally.Min[float64](w, x[:0]))},
		{tally.ErrOverlap, "", tally.Axpy(w, 1.0, x[:2], x[1:])},
		{tally.ErrKeyOutOfRange, "", tally.Bincount(w, []int32{3}, make([]int32, 2))},
	} {
		if c.text != "" {
			fails(t, c.status, c.text, c.err)
			continue
		}
		if !errors.Is(c.err, c.status) || !strings.HasPrefix(c.err.Error(), "tally") {
			t.Errorf("%v is no %q", c.err, c.status)
			continue
		}
		t.Log(c.err)
	}
	for i, expected := range []float64{1, 2, 3} {
		if x[i] != expected {
			t.Error("a call that failed has written", x)
		}
	}
}

func TestErrorsOfManyGoroutines(t *testing.T) {
	var all sync.WaitGroup
	for g := 1; g <= 16; g++ {
		all.Add(1)
		go func(g int) {
			defer all.Done()
			text := "tally::simd: instructions is " + strings.Repeat("1", g%8+1) + ", which is no instruction set"
			set := tally.InstructionSet(0)
			for i := 0; i <= g%8; i++ {
				set = 10*set + 1
			}
			x := make([]float64, 1000*g)
			succeeds(t, tally.Fill(nil, 1, x))
			for i := 0; i < 300; i++ {
				if set > 4 {
					_, err := tally.SIMD(set)
					fails(t, tally.ErrInvalidArgument, text, err)
				}
				if r, err := tally.Sum[float64](nil, x); err != nil || r != float64(1000*g) {
					t.Error(r, err)
				}
			}
		}(g)
	}
	all.Wait()
}
