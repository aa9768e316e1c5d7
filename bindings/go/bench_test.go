package tally_test

import (
	"testing"

	"tally"
)

// Compared with C: 8 products on one core.
func BenchmarkShortCall(b *testing.B) {
	w, err := tally.SIMD(tally.BestInstructions)
	succeeds(b, err)
	x := make([]float64, 8)
	for i := 0; i < b.N; i++ {
		if _, err := tally.Dot[float64](w, x, x); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCrossing(b *testing.B) {
	for i := 0; i < b.N; i++ {
		tally.Version()
	}
}
