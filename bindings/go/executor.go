package tally

// #include <stdlib.h>
// #include "calls.h"
import "C"

import "unsafe"

// Executor is a backend with its options. A nil *Executor means Automatic's.
type Executor struct {
	c      C.tally_executor
	memory *Executor // the device's executor for a workspace's; nil: itself
}

// InstructionSet is a set of vector instructions of SIMD.
type InstructionSet int

// The instruction sets, tally_instruction_set in C.
const (
	// The widest here; AVX2 where AVX-512 runs in halves, save for compute-bound functions and sums in the caches; NEON
	// where SVE's vectors are no longer.
	BestInstructions     InstructionSet = C.TALLY_INSTRUCTIONS_BEST
	BaselineInstructions InstructionSet = C.TALLY_INSTRUCTIONS_BASELINE
	SSE4                 InstructionSet = C.TALLY_INSTRUCTIONS_SSE4
	AVX2                 InstructionSet = C.TALLY_INSTRUCTIONS_AVX2
	AVX512               InstructionSet = C.TALLY_INSTRUCTIONS_AVX512
	NEON                 InstructionSet = C.TALLY_INSTRUCTIONS_NEON
	SVE                  InstructionSet = C.TALLY_INSTRUCTIONS_SVE
	RVV                  InstructionSet = C.TALLY_INSTRUCTIONS_RVV
)

// Serial is one thread with plain loops: the reference.
func Serial() *Executor {
	w := new(Executor)
	C.tally_go_serial(&w.c) // can't fail
	return w
}

// Automatic chooses another executor at each call: CUDA on the device with the operands, otherwise
// SIMD or, for long operands, OpenMP. Data never move.
func Automatic() *Executor {
	w := new(Executor)
	C.tally_go_automatic(&w.c) // can't fail
	return w
}

// SIMD is one thread with vector instructions. ErrNoDevice if the set is not built in or not
// supported by the processor.
func SIMD(instructions InstructionSet) (*Executor, error) {
	set, err := intOf("SIMD", "instructions", instructions)
	if err != nil {
		return nil, err
	}
	w := new(Executor)
	return w.made(C.tally_go_simd(&w.c, C.tally_instruction_set(set)))
}

// OpenMP is several threads, each with vector instructions; 0 means OpenMP's default number.
// ErrMissingBackend if the build has no OpenMP.
func OpenMP(threads int) (*Executor, error) {
	n, err := intOf("OpenMP", "threads", threads)
	if err != nil {
		return nil, err
	}
	w := new(Executor)
	return w.made(C.tally_go_openmp(&w.c, n))
}

// CUDA is a device, -1 for the calling thread's current one, and a stream, a cudaStream_t or nil
// for the default stream. ErrMissingBackend if the build has no CUDA, ErrNoDevice without a driver
// or such a device. (A goroutine that relies on the current device calls runtime.LockOSThread.)
func CUDA(device int, stream unsafe.Pointer) (*Executor, error) {
	number, err := intOf("CUDA", "device", device)
	if err != nil {
		return nil, err
	}
	w := new(Executor)
	return w.made(C.tally_go_cuda(&w.c, number, stream))
}

// Kokkos is Kokkos's default execution space. It initialises Kokkos if necessary. ErrMissingBackend
// if the build has no Kokkos, ErrNoDevice if Kokkos is finalised or its device is absent.
func Kokkos() (*Executor, error) {
	w := new(Executor)
	return w.made(C.tally_go_kokkos(&w.c))
}

// Named is an executor with default options: "serial", "simd", "openmp", "cuda", "kokkos" or
// "automatic". ErrMissingBackend for a name that this build lacks.
func Named(name string) (*Executor, error) {
	w, text := new(Executor), C.CString(name)
	defer C.free(unsafe.Pointer(text))
	return w.made(C.tally_go_executor_named(&w.c, text))
}

// nil after a failure.
func (w *Executor) made(r C.tally_go_result) (*Executor, error) {
	if err := failed(r); err != nil {
		return nil, err
	}
	return w, nil
}

// Executors are this build's usable backends with default options, Serial first. Initialises Kokkos
// if built in.
func Executors() ([]*Executor, error) {
	var names [16]*C.char
	var usable [len(names)]C.int
	var count C.size_t
	if err := failed(C.tally_go_executors(C.size_t(len(names)), &names[0], &usable[0], &count)); err != nil {
		return nil, err
	}
	var all []*Executor
	for i := 0; i < int(count); i++ {
		if usable[i] == 0 {
			continue
		}
		w := new(Executor)
		if err := failed(C.tally_go_executor_named(&w.c, names[i])); err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// String is the backend's name, as in Named.
func (w *Executor) String() string {
	r := C.tally_go_executor_name(w.where())
	if failed(r) != nil {
		return "no executor"
	}
	return C.GoString(r.string)
}

func (w *Executor) where() *C.tally_executor {
	if w == nil {
		return nil
	}
	return &w.c
}

// The executor that allocates memory.
func (w *Executor) ofMemory() *Executor {
	if w == nil || w.memory == nil {
		return w
	}
	return w.memory
}

func intOf[I ~int](function, name string, number I) (C.int, error) {
	if n := C.int(number); I(n) == number {
		return n, nil
	}
	return 0, failure(ErrInvalidArgument, function, "%s is %d, which C's int does not hold", name, number)
}

// Version is the loaded library's: 10000 major + 100 minor + patch.
func Version() int { return int(C.tally_version()) }

// OrderVersion is the version of the order contract, which decides the bits of sums.
func OrderVersion() int { return int(C.tally_order_version()) }
