// Executors: where and how an operation runs.
#pragma once

#include <tally/export.h>
#include <tally/cxx20.hpp>
#include <tally/error.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct CUstream_st;  // pointed to by cudaStream_t

namespace tally {

class executor;

namespace backends {
class backend;
}
namespace detail {

struct level_one_kernels;

/// A Kokkos execution space, known by shape, without Kokkos's headers.
template <class S>
concept kokkos_space = requires(const S& s) {
  requires std::same_as<typename S::execution_space, S>;
  typename S::scratch_memory_space;
  { S::name() } -> std::convertible_to<const char*>;
  { s.concurrency() } -> std::convertible_to<int>;
};

/// An instance of a Kokkos execution space, its type erased.
struct kokkos_instance {
  const void* address;
  const char* space;  ///< name of its type
  int threads;
  int device = -1;                ///< CUDA's
  CUstream_st* stream = nullptr;  ///< CUDA's

  template <kokkos_space S>
  explicit kokkos_instance(const S& instance)
      : address(&instance), space(S::name()), threads(static_cast<int>(instance.concurrency())) {
    if constexpr (requires {
                    { instance.cuda_device() } -> std::convertible_to<int>;
                    { instance.cuda_stream() } -> std::convertible_to<CUstream_st*>;
                  }) {
      device = instance.cuda_device();
      stream = instance.cuda_stream();
    }
  }
};

/// The executor that stands for an instance where an executor is asked for.
TALLY_EXPORT executor executor_of(const kokkos_instance& instance);

}  // namespace detail

/// Instruction sets of the `simd` backend, narrowest first. `sve`, `rvv`: sums and updates of
/// `float` and `double` by the scalable vectors of ARM (SVE) and RISC-V; NEON or the baseline does
/// the rest.
enum class instruction_set : int { best = -1, baseline = 0, sse4, avx2, avx512, neon, sve, rvv };

/// Name of a set: "AVX2".
TALLY_EXPORT std::string_view name(instruction_set set) noexcept;

/// Options of `simd`.
struct simd_options {
  /// best: the widest; where AVX-512 runs in halves (Zen 4), AVX2 except for compute-bound
  /// functions and sums within the caches; NEON where SVE's vectors are no longer.
  instruction_set instructions = instruction_set::best;
};

/// Options of `openmp`.
struct openmp_options {
  /// At most. If fewer can be started, OpenMP ends the program.
  static constexpr int max_threads = 4096;

  /// 0: OpenMP's default. Short operands use fewer.
  int threads = 0;
};

/// Options of `cuda`.
struct cuda_options {
  int device = -1;                ///< -1: the calling thread's current device
  CUstream_st* stream = nullptr;  ///< of that device; nullptr: the default stream
};

/// Choice of backend, threads, device and stream for operations. Owns nothing: a stream, or an
/// instance of a Kokkos execution space, must outlive calls on it.
class TALLY_EXPORT executor {
 public:
  /// Kokkos's way to say where: `tally::dot(instance, x, y)` of an execution space's instance. CUDA
  /// runs on its stream by `cuda`, or by `kokkos(instance)` in a build without; Serial is `simd`,
  /// OpenMP and other threads are `openmp` with as many; others are `kokkos(instance)`, for which a
  /// temporary lives as long as the call it is an argument of.
  /// @throws error as the named functions.
  template <detail::kokkos_space Space>
  executor(const Space& instance)
      : executor(detail::executor_of(detail::kokkos_instance(instance))) {}

  /// "serial", "simd", "openmp", "cuda", "kokkos", "automatic", or "workspace".
  std::string_view name() const noexcept;
  /// The name with details: "simd (AVX2)", "openmp (8 threads, AVX2)".
  std::string description() const;

  /// `openmp_options::threads`.
  int threads() const noexcept { return threads_; }
  /// CUDA device; -1 for other backends.
  int device() const noexcept { return device_; }
  /// `cuda_options::stream`; null for other backends.
  CUstream_st* stream() const noexcept {
    return device_ < 0 ? nullptr : static_cast<CUstream_st*>(queue_);
  }
  /// The instance of `kokkos(instance)`; else null.
  const void* kokkos_instance() const noexcept { return device_ < 0 ? queue_ : nullptr; }
  /// Instruction set of `simd` and `openmp`.
  instruction_set instructions() const noexcept { return static_cast<instruction_set>(set_); }
  /// Whether Tally chose it; some functions may then use another.
  bool chooses_instructions() const noexcept { return chooses_instructions_; }
  /// Whether kernels access ordinary host memory, as from `new`.
  bool reaches_host_memory() const;
  /// The backend; null for `automatic`.
  const backends::backend* backend() const noexcept { return backend_; }
  /// Kernels of short calls, of `simd`, `openmp` and `automatic` (<tally/detail/level_one.hpp>);
  /// else null.
  const detail::level_one_kernels* level_one() const noexcept { return level_one_; }

  /// Same place and way.
  friend bool operator==(const executor&, const executor&) = default;

 private:
  friend executor serial();
  friend executor simd(simd_options);
  friend executor openmp(openmp_options);
  friend executor cuda(cuda_options);
  friend executor kokkos();
  friend executor kokkos(const detail::kokkos_instance& instance);
  friend executor automatic();
  friend class workspace;
  explicit executor(const backends::backend* backend) : backend_(backend) {}

  const backends::backend* backend_;
  const detail::level_one_kernels* level_one_ = nullptr;
  void* queue_ = nullptr;  // a stream of CUDA's, or an instance of Kokkos's
  int threads_ = 0;
  std::int16_t device_ = -1;
  std::int8_t set_ = static_cast<std::int8_t>(instruction_set::best);
  bool chooses_instructions_ = false;
};

/// One thread, plain loops: the reference.
TALLY_EXPORT executor serial();

/// One thread, vector instructions, chosen at run time.
/// @throws error no_device if the set isn't built in or isn't here.
TALLY_EXPORT executor simd(simd_options options = {});

/// OpenMP threads with the instructions of `simd`.
///
/// Unavailable in a forked child of a multi-threaded process, where OpenMP would wait for missing
/// threads: this and calls on an earlier `openmp` throw, and `automatic` takes `simd`.
/// @throws error missing_backend; invalid_argument if `threads` is negative or above
///               `openmp_options::max_threads`; no_device in such a child.
TALLY_EXPORT executor openmp(openmp_options options = {});

/// A CUDA device and one of its streams. After cudaDeviceReset, with no call under way, the next
/// call starts anew.
/// @throws error missing_backend; no_device without a driver or such a device.
TALLY_EXPORT executor cuda(cuda_options options = {});

/// Kokkos's default execution space. Initialises Kokkos if nobody has (do so before, if at all),
/// and then finalises it at exit. On OpenMP, fork() as for `openmp`. On a device buffers are of its
/// memory space, or of Kokkos::SharedHostPinnedSpace; workspaces, and the caller's functions unless
/// compiled for it (<tally/user_functions/functions.hpp>), are refused (invalid_argument).
/// @throws error missing_backend; no_device if Kokkos is finalised, its device is missing, after
///               such a fork(), and if Kokkos::Threads serves another thread.
TALLY_EXPORT executor kokkos();

/// The same on an instance of Kokkos's default execution space, whose address it keeps: on a device
/// calls are queued there, with scratch memory of the instance: it must outlive what they queue.
/// @throws error as above; invalid_argument for an instance of another execution space, and, from
///               calls, for one on another device than Kokkos's.
TALLY_EXPORT executor kokkos(const detail::kokkos_instance& instance);

/// The same by type.
template <detail::kokkos_space Space>
executor kokkos(const Space& instance) {
  return kokkos(detail::kokkos_instance(instance));
}
/// Refused: a temporary would be gone at the first call.
template <detail::kokkos_space Space>
executor kokkos(const Space&& instance) = delete;

/// Chooses at each call: `cuda`, default stream, on the device that holds the operands (`kokkos`
/// without cuda); for host memory `simd`, or `openmp` for long operands. Never moves data.
TALLY_EXPORT executor automatic();

/// The built-in backends, "serial" first.
TALLY_EXPORT std::span<const std::string_view> backend_names();

/// The executor of that name with default options.
/// @throws error as the named function; missing_backend for a name not in this build.
TALLY_EXPORT executor executor_named(std::string_view name);

/// The usable executors, with default options, `serial` first, without `automatic`. Initialises a
/// built-in Kokkos.
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

/// Usable instruction sets of `simd`, narrowest first.
TALLY_EXPORT std::span<const instruction_set> instruction_sets();

}  // namespace tally
