// Executors: where and how an operation runs.
#pragma once

#include <tally/export.h>
#include <tally/cxx20.hpp>
#include <tally/error.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

struct CUstream_st;  // what CUDA's cudaStream_t points at

namespace tally {

namespace backends {
struct backend;
}

/// The instruction sets that the `simd` backend is compiled for, from the narrowest.
enum class instruction_set : int { best = -1, baseline = 0, sse4, avx2, avx512, neon };

/// "AVX2"
TALLY_EXPORT std::string_view name(instruction_set set) noexcept;

/// Options of `simd`.
struct simd_options {
  /// best: the widest that this processor has; where AVX-512 runs in halves (Zen 4), AVX2 but for
  /// what computes for longer than it loads (`exp`, short types) and for sums within the caches.
  instruction_set instructions = instruction_set::best;
  /// The caller promises the default floating-point environment in every call: rounding to nearest,
  /// subnormal numbers that are kept (no FTZ, no DAZ), exceptions that trap nothing. Then a call
  /// does not read the control register, which costs a short one some ns. Where the promise is
  /// broken (after `fesetround`, in a program that is linked with -ffast-math), results have other
  /// bits, those of an exact sum may be wrong altogether, and an exception may end the program.
  bool trust_environment = false;
};

/// Options of `openmp`.
struct openmp_options {
  /// More are refused. Where fewer can be started, OpenMP itself ends the program.
  static constexpr int most_threads = 4096;

  /// 0: as many as OpenMP would start here (OMP_NUM_THREADS, omp_set_num_threads). A call starts
  /// fewer where its operands are too short to share out.
  int threads = 0;
};

/// Options of `cuda`.
struct cuda_options {
  int device = -1;                ///< -1: the calling thread's current device
  CUstream_st* stream = nullptr;  ///< a stream of that device; nullptr: the default stream
};

/// Says where and how an operation runs. A small value, cheap to copy, safe to share; it owns
/// nothing (a stream must outlive the calls made on it).
class TALLY_EXPORT executor {
 public:
  /// "serial", "simd", "openmp", "cuda", "kokkos" or "automatic"; "workspace" for that of a
  /// workspace which stages.
  std::string_view name() const noexcept;
  /// The name and what is behind it: "simd (AVX2)", "openmp (8 threads, AVX2)".
  std::string description() const;

  /// `openmp_options::threads`.
  int threads() const noexcept { return threads_; }
  /// The number of the CUDA device; -1 for other backends.
  int device() const noexcept { return device_; }
  /// `cuda_options::stream`.
  CUstream_st* stream() const noexcept { return stream_; }
  /// The instruction set of `simd` and `openmp`.
  instruction_set instructions() const noexcept { return instructions_; }
  /// Whether it was left to Tally, `instruction_set::best`: then some functions may take another.
  bool chooses_instructions() const noexcept { return chooses_instructions_; }
  /// `simd_options::trust_environment`.
  bool trusts_environment() const noexcept { return trusts_environment_; }
  /// The table of functions behind it; null for `automatic`.
  const backends::backend* backend() const noexcept { return backend_; }

  /// Whether calls would run in the same place and way.
  friend bool operator==(const executor&, const executor&) = default;

 private:
  friend executor serial();
  friend executor simd(simd_options);
  friend executor openmp(openmp_options);
  friend executor cuda(cuda_options);
  friend executor kokkos();
  friend executor automatic();
  friend class workspace;
  explicit executor(const backends::backend* backend) : backend_(backend) {}

  const backends::backend* backend_;
  CUstream_st* stream_ = nullptr;
  int threads_ = 0;
  int device_ = -1;
  instruction_set instructions_ = instruction_set::best;
  bool chooses_instructions_ = false;
  bool trusts_environment_ = false;
};

/// One thread, plain loops: the reference that is read first.
TALLY_EXPORT executor serial();

/// One thread, the vector instructions of this processor, chosen at run time.
/// @throws error no_device if the instruction set asked for isn't built in or isn't here.
TALLY_EXPORT executor simd(simd_options options = {});

/// Threads of OpenMP, each with the vector instructions of `simd`.
///
/// Not after fork(): a child has the thread that forked and no other, so OpenMP would wait for ever
/// for threads that it had started before. In a child of a process that had several threads when it
/// forked, OpenMP's or others, this throws, as do calls on an `openmp` made before (with a plan,
/// too), and `automatic` takes `simd`. The child of a process of one thread may use it.
/// @throws error missing_backend; invalid_argument if `threads` is negative or above
///               `openmp_options::most_threads`; no_device in such a child.
TALLY_EXPORT executor openmp(openmp_options options = {});

/// One CUDA device and one of its streams. The two forms of every function hold here too: the one
/// that returns a value waits for it, the one that writes its result is queued on the stream. After
/// cudaDeviceReset, when no call is under way, the next call begins anew.
/// @throws error missing_backend; no_device if there is no driver or no such device.
TALLY_EXPORT executor cuda(cuda_options options = {});

/// Kokkos's default execution space. Initialises Kokkos when nobody has, and then finalises it at
/// exit; nothing else in Tally does. A program that initialises Kokkos itself does so first. Where
/// Kokkos runs on OpenMP, fork() ends it as it ends `openmp`.
/// @throws error missing_backend; no_device if Kokkos is finalised, or its device is not here, or
/// after such a fork().
TALLY_EXPORT executor kokkos();

/// Chosen at each call: operands in a device's memory run on `cuda` there, on its default stream;
/// operands in host memory on `simd`, or on `openmp` from a measured length up, where that can be
/// used. Never moves data.
TALLY_EXPORT executor automatic();

/// The names of the backends that are built in, usable here or not, "serial" first.
TALLY_EXPORT std::span<const std::string_view> backend_names();

/// The executor of that name with default options: "openmp" gives `openmp()`, "automatic"
/// `automatic()`.
/// @throws error as the function of that name; missing_backend for a name that no backend of this
///               build has.
TALLY_EXPORT executor executor_named(std::string_view name);

/// The executors that are built in and usable here, with default options, `serial` first; not
/// `automatic`, which is one of these at each call. It makes each of them, so it initialises Kokkos
/// where that is built in.
inline std::vector<executor> executors() {
  std::vector<executor> usable;
  for (const std::string_view name : backend_names()) {
    try {
      usable.push_back(executor_named(name));
    } catch (const error& failure) {
      if (failure.code() != errc::no_device) throw;
    }
  }
  return usable;
}

/// The instruction sets of `simd` that are built in and that this processor has, narrowest first.
TALLY_EXPORT std::span<const instruction_set> instruction_sets();

}  // namespace tally
