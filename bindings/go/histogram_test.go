package tally_test

import (
	"math"
	"reflect"
	"testing"

	"tally"
)

// equal compares counts or sums.
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

		if w.String() != "cuda" {
			words := tally.NewWords[float64](3)
			err = tally.Bincount(w, keys, words, tally.Weights(weights), tally.Outside(outside))
			succeeds(t, err)
			err = tally.Bincount(w, keys, words, tally.Weights(weights), tally.Outside(outside))
			succeeds(t, err)
			equal(t, w, sums, []float64{34, 0, 12}, tally.RoundWords(w, words, sums))
		}
	}
}
