package tally_test

import (
	"testing"

	"tally"
)

// Functions whose arguments have kinds of their own: a choice, a mask, three inputs, an exponent.
func TestShortFunctions(t *testing.T) {
	w := tally.Serial()
	x, y, z := []float64{1, -2, 3}, []float64{2, 2, 2}, make([]float64, 3)
	check := func(name string, err error, want ...float64) {
		t.Helper()
		if err != nil {
			t.Error(name, err)
		}
		for i := range want {
			if z[i] != want[i] {
				t.Error(name, z, want)
			}
		}
	}
	check("Div", tally.Div(w, x, y, z), 0.5, -1, 1.5)
	check("Pow", tally.Pow(w, x, int32(3), z), 1, -8, 27)
	check("Clamp", tally.Clamp(w, x, -1.0, 2.0, z), 1, -1, 2)
	check("JacobiStep", tally.JacobiStep(w, x, 0.5, x, y, z), 1.25, -2.5, 3.75)
	check("CompareConstant", tally.CompareConstant(w, x, tally.Greater, 0.0, z), 1, 0, 1)
	check("Where", tally.Where(w, z, x, y, z), 1, 2, 3)
	check("Compare", tally.Compare(w, x, tally.LessEqual, y, z), 1, 1, 0)
	if tally.Compare(w, x, tally.Comparison(6), y, z) == nil {
		t.Error("there is no comparison 6")
	}
}
