package tally_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tally"
)

// Makes the data of tests/golden.hpp, whose rows are read from that file.
type generator uint64

func (g *generator) next() uint64 {
	*g = *g*6364136223846793005 + 1442695040888963407
	return uint64(*g >> 11)
}

func doubles(n int, seed uint64, lowest, span int) []float64 {
	g, v := generator(seed), make([]float64, n)
	for i := range v {
		b := g.next()
		exponent := uint64(1023+lowest) + g.next()%uint64(span)
		v[i] = math.Float64frombits(b&0x000fffffffffffff | exponent<<52 | g.next()&1<<63)
	}
	return v
}

func floats(n int, seed uint64) []float32 {
	g, v := generator(seed), make([]float32, n)
	for i := range v {
		b := uint32(g.next())
		v[i] = math.Float32frombits(b&0x807fffff | (119+b%7)<<23)
	}
	return v
}

func goldenRows(t *testing.T, table string) [][]string {
	t.Helper()
	text, err := os.ReadFile("../../tests/golden.hpp")
	succeeds(t, err)
	body := regexp.MustCompile(`\b` + table + `\[\] = \{((?:\s*\{[^{}]*\},?)*)`).FindSubmatch(text)
	if body == nil {
		t.Fatalf("tests/golden.hpp has no %s", table)
	}
	var rows [][]string
	for _, row := range regexp.MustCompile(`\{([^{}]*)\}`).FindAllSubmatch(body[1], -1) {
		rows = append(rows, regexp.MustCompile(`[^\s,]+`).FindAllString(string(row[1]), -1))
	}
	return rows
}

func number64(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 0, 64)
	succeeds(t, err)
	return n
}

func is[R float32 | float64](t *testing.T, w *tally.Executor, what, golden string, r R, err error) {
	t.Helper()
	succeeds(t, err)
	b := uint64(math.Float32bits(float32(r)))
	if d, double := any(r).(float64); double {
		b = math.Float64bits(d)
	}
	if b != number64(t, golden) {
		t.Errorf("%v: %s is %#x, not %s", w, what, b, golden)
	}
}

func TestGoldenDotProducts(t *testing.T) {
	for _, row := range goldenRows(t, "rows") {
		n := int(number64(t, row[0]))
		x, y := doubles(n, 1, -8, 8), doubles(n, 2, -8, 8)
		small, other := doubles(n, 3, -520, 8), doubles(n, 4, -550, 8)
		x32, y32 := floats(n, 5), floats(n, 6)
		for _, w := range executors(t) {
			r, err := tally.Dot[float64](w, x, y)
			is(t, w, "dot", row[1], r, err)
			r, err = tally.Dot[float64](w, small, other)
			is(t, w, "dot of small ones", row[2], r, err)
			r32, err := tally.Dot[float32](w, x32, y32)
			is(t, w, "dot of floats", row[3], r32, err)
			results := make([]float64, 1)
			err = tally.MultiDot(w, x, n, y, results)
			is(t, w, "multi_dot", row[1], results[0], err)
			updated := append([]float64(nil), y...)
			r, err = tally.AxpyDot[float64](w, 0.0, x, updated, x)
			is(t, w, "axpy_dot", row[1], r, err)
		}
	}
}

func TestGoldenReductions(t *testing.T) {
	for _, row := range goldenRows(t, "reduction_rows") {
		n := int(number64(t, row[0]))
		x, far, x32 := doubles(n, 1, -8, 8), doubles(n, 3, -520, 8), floats(n, 5)
		for _, w := range executors(t) {
			r, err := tally.Sum[float64](w, x)
			is(t, w, "sum", row[1], r, err)
			r, err = tally.Asum[float64](w, x)
			is(t, w, "asum", row[2], r, err)
			r, err = tally.Nrm2[float64](w, x)
			is(t, w, "nrm2", row[3], r, err)
			r, err = tally.Nrm2[float64](w, far)
			is(t, w, "nrm2 of small ones", row[4], r, err)
			r32, err := tally.Sum[float32](w, x32)
			is(t, w, "sum of floats", row[5], r32, err)
			r32, err = tally.Asum[float32](w, x32)
			is(t, w, "asum of floats", row[6], r32, err)
			r32, err = tally.Nrm2[float32](w, x32)
			is(t, w, "nrm2 of floats", row[7], r32, err)
			if n > 0 && w.String() != "workspace" { // a device's, without scans
				sums := make([]float64, n)
				err = tally.InclusiveScan(w, x, sums)
				is(t, w, "inclusive_scan", row[1], sums[n-1], err)
			}
			copied := make([]float64, n)
			r, err = tally.WaxpbyNrm2[float64](w, 1.0, x, 0.0, x, copied)
			is(t, w, "waxpby_nrm2", row[3], r, err)
		}
	}
}

func TestGoldenMatrixRows(t *testing.T) {
	for _, row := range goldenRows(t, "matrix_rows") {
		n := int(number64(t, row[0]))
		columns := make([]int32, n)
		for i := range columns {
			columns[i] = int32(i)
		}
		for _, w := range executors(t) {
			if w.String() == "workspace" { // a device's, without sparse products
				continue
			}
			for i, operands := range [][2][]float64{
				{doubles(n, 1, -8, 8), doubles(n, 2, -8, 8)},
				{doubles(n, 3, -520, 8), doubles(n, 4, -550, 8)},
			} {
				a, err := tally.NewCSR(1, n, []int{0, n}, columns, operands[0])
				succeeds(t, err)
				y := make([]float64, 1)
				err = tally.Spmv(w, nil, 1.0, a, operands[1], 0.0, y)
				is(t, w, "spmv", row[1+i], y[0], err)
			}
			a, err := tally.NewCSR(1, n, []int64{0, int64(n)}, columns, floats(n, 5))
			succeeds(t, err)
			y := make([]float32, 1)
			err = tally.Spmv(w, nil, 1.0, a, floats(n, 6), 0.0, y)
			is(t, w, "spmv of floats", row[3], y[0], err)
		}
	}
}

func TestGoldenExponentials(t *testing.T) {
	for _, w := range executors(t) {
		for _, row := range goldenRows(t, "exponential_rows") {
			x, err := strconv.ParseFloat(row[0], 64)
			succeeds(t, err)
			y := make([]float64, 1)
			err = tally.Exp(w, []float64{x}, y)
			is(t, w, "exp", row[1], y[0], err)
			err = tally.Sigmoid(w, []float64{x}, y)
			is(t, w, "sigmoid", row[2], y[0], err)
		}
		for _, row := range goldenRows(t, "exponential_rows_of_float") {
			x, err := strconv.ParseFloat(strings.TrimSuffix(row[0], "f"), 32)
			succeeds(t, err)
			y := make([]float32, 1)
			err = tally.Exp(w, []float32{float32(x)}, y)
			is(t, w, "exp", row[1], y[0], err)
			err = tally.Sigmoid(w, []float32{float32(x)}, y)
			is(t, w, "sigmoid", row[2], y[0], err)
		}
	}
}

func TestGoldenSegments(t *testing.T) {
	for _, row := range goldenRows(t, "segment_rows") {
		n := int(number64(t, row[0]))
		x, x32 := doubles(n, 1, -8, 8), floats(n, 5)
		for _, w := range executors(t) {
			if w.String() == "workspace" {
				continue
			}
			sums, sums32 := make([]float64, 2), make([]float32, 2)
			err := tally.SegmentedSum(w, []int32{0, 0, int32(n)}, x, sums)
			is(t, w, "segmented_sum", row[1], sums[1], err)
			err = tally.SegmentedSum(w, []int{0, 0, n}, x32, sums32)
			is(t, w, "segmented_sum of floats", row[2], sums32[1], err)
			counts := make([]int64, 2)
			err = tally.SegmentedSum(w, []int32{0, 1, 3}, []int8{-128, 127, 127}, counts)
			if err != nil || counts[0] != -128 || counts[1] != 254 {
				t.Errorf("%v: segmented_sum of bytes: %v, %v", w, counts, err)
			}
		}
	}
}
