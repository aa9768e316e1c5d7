package tally_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"tally"
)

func equal(t *testing.T, w *tally.Executor, got, expected any, err error) {
	t.Helper()
	succeeds(t, err)
	if !reflect.DeepEqual(got, expected) {
		t.Errorf("%v: %v, not %v", w, got, expected)
	}
}

func TestHistograms(t *testing.T) {
	keys := []int8{0, 2, 2, 5, 0}
	x := []float32{-1, 0, 0.5, 1, 2, 3, float32(math.NaN()), 0.25}
	for _, w := range executors(t) {
		counts := make([]int32, 6)
		equal(t, w, counts, []int32{2, 0, 2, 0, 0, 1}, tally.Bincount(w, keys, counts))
		more := make([]int, 3)
		outside := make([]tally.OutsideCounts, 1)
		err := tally.Bincount(w, tally.Strided(keys, -2), more, tally.Outside(outside))
		equal(t, w, more, []int{2, 0, 1}, err)
		equal(t, w, outside, []tally.OutsideCounts{{}}, nil)
		err = tally.Bincount(w, keys, more, tally.Outside(outside), tally.AddToCounts())
		equal(t, w, more, []int{4, 0, 3}, err)
		equal(t, w, outside, []tally.OutsideCounts{{Above: 1}}, nil)

		err = tally.HistogramEven(w, x, 0, 2, more[:2], tally.Outside(outside))
		equal(t, w, more[:2], []int{3, 2}, err)
		equal(t, w, outside, []tally.OutsideCounts{{Below: 1, Above: 1, NaN: 1}}, nil)
		err = tally.HistogramEven(w, x, 0.0, 2.0, more[:2])
		equal(t, w, more[:2], []int{3, 2}, err)
		err = tally.HistogramRange(w, x, []float64{-1, 0.25, 1, 3}, more)
		equal(t, w, more, []int{2, 2, 3}, err)

		two := make([]tally.OutsideCounts, 2) // channels
		channels := make([]int64, 4)
		err = tally.HistogramRange(w, x, []int32{0, 1, 2}, channels, tally.Channels(2), tally.Outside(two))
		equal(t, w, channels, []int64{1, 1, 2, 1}, err)
		equal(t, w, two, []tally.OutsideCounts{{Below: 1, NaN: 1}, {Above: 1}}, nil)

		weights := []float64{1, 2, 4, 8, 16}
		sums := make([]float64, 3)
		err = tally.Bincount(w, keys, sums, tally.Weights(weights), tally.Outside(outside))
		equal(t, w, sums, []float64{17, 0, 6}, err)
		sums32 := make([]float32, 3)
		err = tally.Bincount(w, keys, sums32, tally.Weights(tally.Strided([]float32{16, 0, 8, 0, 4, 0, 2, 0, 1}, -2)),
			tally.Outside(outside))
		equal(t, w, sums32, []float32{17, 0, 6}, err)

		words := tally.NewWords[float64](3)
		for i := 0; i < 2; i++ {
			succeeds(t, tally.Bincount(w, keys, words, tally.Weights(weights), tally.Outside(outside)))
		}
		equal(t, w, sums, []float64{34, 0, 12}, tally.RoundWords(w, words, sums))
	}
}

// Weights of no samples leave words unchanged, where counting would overwrite them.
func TestWeightsOfNoSamples(t *testing.T) {
	for _, w := range executors(t) {
		words, sums := tally.NewWords[float64](2), make([]float64, 2)
		succeeds(t, tally.Bincount(w, []int32{0, 1, 1}, words, tally.Weights([]float64{1, 2, 4})))
		for _, weights := range [][]float64{nil, {}} {
			succeeds(t, tally.Bincount(w, []int32(nil), words, tally.Weights(weights)))
			succeeds(t, tally.HistogramEven(w, []float32(nil), 0, 1, words, tally.Weights(weights)))
			succeeds(t, tally.HistogramRange(w, []float32(nil), []int32{0, 1, 2}, words, tally.Weights(weights)))
			equal(t, w, sums, []float64{1, 6}, tally.RoundWords(w, words, sums))
		}
		succeeds(t, tally.Bincount(w, []int32(nil), sums, tally.Weights([]float32(nil)), tally.AddToCounts()))
		equal(t, w, sums, []float64{1, 6}, nil)
		succeeds(t, tally.Bincount(w, []int32(nil), sums, tally.Weights([]float32(nil))))
		equal(t, w, sums, []float64{0, 0}, nil)
	}
}

func TestTypesOfHistograms(t *testing.T) {
	w := tally.Serial()
	samples := []complex128{0, 1, 1, 0, 1}
	for _, st := range types {
		x := st.make(samples, -2)
		counts := make([]int64, 2)
		if st.kind == complexed {
			if err := tally.HistogramEven(w, x.Vector, 0, 2, counts); !errors.Is(err, tally.ErrUnsupportedType) {
				t.Error(st.name, err)
			}
			continue
		}
		equal(t, w, counts, []int64{2, 3}, tally.HistogramEven(w, x.Vector, 0, 2, counts))
		for _, et := range types {
			edges := et.make([]complex128{0, 1, 1}, 1)
			if et.kind == complexed || et.name == "bool" {
				continue
			}
			succeeds(t, tally.HistogramRange(w, x.Vector, edges.Vector, counts))
			equal(t, w, counts, []int64{2, 3}, nil)
		}
		if st.kind == integer && st.name != "bool" {
			equal(t, w, counts, []int64{2, 3}, tally.Bincount(w, x.Vector, counts))
		}
	}
	x := []int32{0, 1, 1, 0, 1}
	evenBetween(t, x, int8(0), 2)
	evenBetween(t, x, uint8(0), 2)
	evenBetween(t, x, int32(0), 2)
	evenBetween(t, x, int64(0), 2)
	evenBetween(t, x, 0, 2)
	evenBetween(t, x, tally.NewFloat16(0), tally.NewFloat16(2))
	evenBetween(t, x, tally.NewBFloat16(0), tally.NewBFloat16(2))
	evenBetween(t, x, float32(0), 2)
	evenBetween(t, x, 0.0, 2.0)
}

func evenBetween[B tally.Real](t *testing.T, x []int32, lower, upper B) {
	t.Helper()
	counts := make([]int32, 2)
	equal(t, nil, counts, []int32{2, 3}, tally.HistogramEven(nil, x, lower, upper, counts))
	equal(t, nil, counts, []int32{4, 6}, tally.HistogramEven(nil, x, lower, upper, counts, tally.AddToCounts()))
}
