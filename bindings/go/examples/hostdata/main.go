// Hostdata multiplies vectors in host memory repeatedly: float32 values with a mask of bools. On
// each executor it calls through a workspace, and prints the times of a call, of copy and kernel
// alone, and the limit. Fails if bits differ.
//
// hostdata [-n 16777216] [-repeat 20] [-values FILE -mask FILE] [EXECUTOR...]
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"runtime"
	"sort"
	"time"

	"tally"
)

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 1<<24, "how many elements, where they are not loaded")
	repeat := flag.Int("repeat", 20, "how often each thing is done; the median is printed")
	valuesFile := flag.String("values", "", "a file of float32, the lowest byte first")
	maskFile := flag.String("mask", "", "a file of as many bytes: 0 is false")
	flag.Parse()
	if *n < 0 || *repeat < 1 {
		log.Fatal("hostdata: n is negative, or nothing is repeated")
	}
	runtime.LockOSThread() // OpenMP keeps a team of threads per calling thread.

	values, mask, err := load(*valuesFile, *maskFile, *n)
	if err != nil {
		log.Fatal(err)
	}
	executors, err := named(flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	bytes := float64(5 * len(values))
	fmt.Printf("%d elements, %.1f MB\n", len(values), bytes/1e6)
	fmt.Printf("%-10s %12s %10s %12s %12s %12s %10s   %s\n", "executor", "call", "GB/s", "kernel", "copy", "pinned",
		"of limit", "dot")
	differ, first := false, uint32(0)
	for i, where := range executors {
		t, dot, err := measure(where, values, mask, *repeat)
		if err != nil {
			log.Fatalf("%v: %v", where, err)
		}
		fmt.Printf("%-10v %12v %10.2f %12v %12v %12v %9.0f%%   %v (%08x)\n", where, shown(t.call), bytes/float64(t.call.Nanoseconds()),
			shown(t.kernel), shown(t.copy), shown(t.pinned), 100*float64(t.limit)/float64(t.call), dot, math.Float32bits(dot))
		if i == 0 {
			first = math.Float32bits(dot)
		}
		differ = differ || math.Float32bits(dot) != first
	}
	if differ {
		log.Fatal("The bits differ.")
	}
	fmt.Println("The bits are the same.")
}

func load(valuesFile, maskFile string, n int) ([]float32, []bool, error) {
	if (valuesFile == "") != (maskFile == "") {
		return nil, nil, fmt.Errorf("hostdata: values come with a mask")
	}
	if valuesFile == "" {
		values, mask := make([]float32, n), make([]bool, n)
		state := uint32(1)
		for i := range values {
			state = state*1664525 + 1013904223
			values[i] = float32(int32(state)) / (1 << 31)
			mask[i] = state>>9&1 != 0
		}
		return values, mask, nil
	}
	raw, err := os.ReadFile(valuesFile)
	if err != nil {
		return nil, nil, err
	}
	bytes, err := os.ReadFile(maskFile)
	if err != nil {
		return nil, nil, err
	}
	values, mask := make([]float32, len(raw)/4), make([]bool, len(bytes))
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	for i := range mask {
		mask[i] = bytes[i] != 0
	}
	return values, mask, nil
}

func named(names []string) ([]*tally.Executor, error) {
	if len(names) == 0 {
		return tally.Executors()
	}
	var all []*tally.Executor
	for _, name := range names {
		where, err := tally.Named(name)
		if err != nil {
			return nil, err
		}
		all = append(all, where)
	}
	return all, nil
}

// times are medians.
type times struct {
	call   time.Duration // of host data, through the workspace
	kernel time.Duration // of data on the device
	copy   time.Duration // of host data to the device
	pinned time.Duration // of pinned host data
	limit  time.Duration // the least possible for a call
}

func measure(where *tally.Executor, values []float32, mask []bool, repeat int) (t times, dot float32, err error) {
	workspace, err := tally.NewWorkspace(where, tally.WorkspaceOptions{})
	if err != nil {
		return t, 0, err
	}
	defer workspace.Close()
	through := workspace.Executor()
	t.call, err = median(repeat, func() (err error) {
		dot, err = tally.Dot[float32](through, values, mask)
		return err
	})
	if err != nil {
		return t, 0, err
	}

	x, err := tally.NewDeviceBuffer[float32](where, len(values))
	if err != nil {
		return t, 0, err
	}
	defer x.Close()
	y, err := tally.NewDeviceBuffer[bool](where, len(mask))
	if err != nil {
		return t, 0, err
	}
	defer y.Close()
	bring := func() error {
		if err := x.CopyFrom(values); err != nil {
			return err
		}
		return y.CopyFrom(mask)
	}
	if t.copy, err = median(repeat, bring); err != nil {
		return t, 0, err
	}
	if len(values) > 0 {
		pins, err := tally.Pin(where, values)
		if err != nil {
			return t, 0, err
		}
		defer pins.Close()
		if pins, err = tally.Pin(where, mask); err != nil {
			return t, 0, err
		}
		defer pins.Close()
	}
	if t.pinned, err = median(repeat, bring); err != nil {
		return t, 0, err
	}
	t.kernel, err = median(repeat, func() error {
		_, err := tally.Dot[float32](where, x, y)
		return err
	})
	// Host data cross the bus while the kernel runs, on devices alone.
	t.limit = t.kernel
	if where.String() == "cuda" && t.pinned > t.kernel {
		t.limit = t.pinned
	}
	return t, dot, err
}

// After a first call.
func median(repeat int, call func() error) (time.Duration, error) {
	all := make([]time.Duration, repeat)
	if err := call(); err != nil {
		return 0, err
	}
	for i := range all {
		begin := time.Now()
		if err := call(); err != nil {
			return 0, err
		}
		all[i] = time.Since(begin)
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	return all[repeat/2], nil
}

func shown(t time.Duration) time.Duration {
	if t > time.Millisecond {
		return t.Round(10 * time.Microsecond)
	}
	return t.Round(100 * time.Nanosecond)
}
