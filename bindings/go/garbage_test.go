//go:build !asan

package tally_test

import (
	"testing"

	"tally"
)

// With the address sanitizer, operands are copied to the heap.
func TestNoGarbage(t *testing.T) {
	x, y := make([]float64, 8), make([]float32, 8)
	w, v := tally.Serial(), tally.VectorOf(make([]float64, 8))
	for name, call := range map[string]func(){
		"Dot":    func() { _, _ = tally.Dot[float64](w, x, y, tally.Exact) },
		"Vector": func() { _, _ = tally.Dot[float64](w, v, y) },
		"Axpy":   func() { _ = tally.Axpy(w, 2.0, y, x) },
		"Max":    func() { _, _ = tally.Max[float32](w, y) },
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
