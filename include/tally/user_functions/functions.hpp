// Common part of <tally/user_functions/transform_reduce.hpp> and
// <tally/user_functions/transform_function.hpp>.
//
// The caller's functions are compiled into the caller's program, with its flags. Rounding mode and
// flushing of subnormals are set aside, but within one function the compiler may contract a*b + c
// (GCC if the target has FMA, nvcc always) and rewrite under -ffast-math. For equal bits use
// -ffp-contract=off (nvcc: -fmad=false, without -use_fast_math), and std::fma where wanted.
//
// GPU: in sources compiled by nvcc, a call makes a kernel of its functions, whose bytes are copied.
// They must be `__host__ __device__` function objects or, with --extended-lambda, such lambdas
// (`__device__` alone: `cuda` only). std::plus and std::multiplies of real numbers work;
// std::complex needs --expt-relaxed-constexpr. For host functions define TALLY_HOST_CODE_ONLY
// before Tally's first header. Compute capability 7.0 or more.
//
// Kokkos: in sources that include <Kokkos_Core.hpp> before Tally's headers, compiled as Kokkos is
// for its device, the same holds of `kokkos`, for CUDA, HIP and SYCL; KOKKOS_LAMBDA makes such
// lambdas.
#pragma once

#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

namespace tally {

/// A function over the parts of a range, nodes of the order's tree.
struct part_calls {
  void* context = nullptr;  ///< first argument of the functions
  /// Per part, in any order, on any thread: elements first ... first + n - 1. Must not throw.
  void (*run)(void* context, std::size_t part, std::size_t first, std::size_t n) = nullptr;
  /// Before `run`, with the number of non-empty parts. May throw.
  void (*prepare)(void* context, std::size_t parts) = [](void*, std::size_t) {};
  /// After all parts. Must not throw.
  void (*finish)(void* context) = [](void*) {};
};

/// Runs `calls` over vectors of equal length on a host executor, in the default floating-point
/// environment.
/// @param function prefix of messages.
/// @param inputs one to three vectors, in messages x, y and w.
/// @param result destination; null if the sum is returned.
/// @throws error as `dot`; invalid_argument for an executor without host functions, or if there are
///               no or more inputs.
TALLY_EXPORT void for_each_part(const executor& where, const char* function,
                                std::span<const operand> inputs, const void* result,
                                const part_calls& calls);

/// The same for a written vector.
/// @throws error also overlap, if z is no input and shares memory with one.
TALLY_EXPORT void for_each_part(const executor& where, const char* function,
                                std::span<const operand> inputs, const output_operand& z,
                                const part_calls& calls);

/// Lent to a caller's kernel.
struct device_sum {
  /// Zeroed tagged words in device memory; the kernel leaves zeros.
  std::uint64_t* words = nullptr;
  std::uint64_t* ended = nullptr;  ///< counts ended kernels; or null
  void* result = nullptr;          ///< destination
  /// 0: `result` is plain memory. Otherwise tagged words to the waiting host: this in the upper
  /// half, 4 bytes of the result in the lower.
  std::uint32_t tag = 0;
  CUstream_st* stream = nullptr;  ///< the kernel's stream

  static constexpr std::size_t word_count = 8192;  ///< at most
  static constexpr std::size_t max_bytes = 128;    ///< at most, of the result
};

/// A sum by a caller's kernel: checks the vectors, lends `words` (maybe 0), and calls `launch`,
/// which queues one kernel and returns its cudaError_t. With `wait`, waits for the `bytes` of the
/// result.
TALLY_EXPORT void launch_sum(const executor& where, const char* function,
                             std::span<const operand> inputs, void* result, std::size_t bytes,
                             bool wait, std::size_t words, void* context,
                             int (*launch)(void* context, const device_sum& lent));

/// A vector written by a caller's kernel, likewise; no `launch` if empty.
TALLY_EXPORT void launch_map(const executor& where, const char* function,
                             std::span<const operand> inputs, const output_operand& z,
                             void* context, int (*launch)(void* context, CUstream_st* stream));

/// Lent to the kernels of a caller's functions on a device of Kokkos's.
struct kokkos_queue {
  const void* instance = nullptr;  ///< of Kokkos's default execution space
  void* memory = nullptr;          ///< of that device, as much as was asked for
  void* result = nullptr;          ///< destination there
};

/// A sum by a caller's kernels: checks the vectors, lends `memory` bytes, and calls `queue`, which
/// queues the kernels. With `wait`, waits for the `bytes` of the result.
TALLY_EXPORT void run_on_kokkos(const executor& where, const char* function,
                                std::span<const operand> inputs, void* result, std::size_t bytes,
                                bool wait, std::size_t memory, void* context,
                                void (*queue)(void* context, const kokkos_queue& lent));

/// A vector written by a caller's kernels, likewise, without memory; no `queue` if empty.
TALLY_EXPORT void run_on_kokkos(const executor& where, const char* function,
                                std::span<const operand> inputs, const output_operand& z,
                                void* context,
                                void (*queue)(void* context, const kokkos_queue& lent));

namespace detail {

/// Optimisation barrier: all memory counts as read and written.
inline void keep(void* p) { asm volatile("" : "+r"(p) : : "memory"); }

/// A NaN as the positive quiet one with an empty payload; bitwise: safe under -ffast-math.
template <class T>
TALLY_HOST_DEVICE T canonical(const T& value) {
  using E = element_of_t<T>;
  constexpr bool is_half = std::is_same_v<E, float16>;
  if constexpr (is_half || std::is_same_v<E, bfloat16> || std::is_same_v<E, float> ||
                std::is_same_v<E, double>) {
    using word =
        std::conditional_t<sizeof(T) == 2, std::uint16_t,
                           std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    constexpr int exponent_bits = is_half ? 5 : sizeof(T) == 8 ? 11 : 8;
    constexpr auto infinity = static_cast<word>(((std::uint64_t{1} << exponent_bits) - 1)
                                                << (8 * sizeof(T) - 1 - exponent_bits));
    constexpr auto quiet = static_cast<word>(infinity | (infinity >> 1 & ~infinity));
    const auto bits = __builtin_bit_cast(word, value);
    const bool is_nan = static_cast<word>(bits << 1) > static_cast<word>(infinity << 1);
    return __builtin_bit_cast(T, is_nan ? quiet : bits);
  } else if constexpr (is_complex_v<E>) {
    using number = detail::complex_number<real_t<E>>;
    const auto parts = __builtin_bit_cast(number, value);
    return __builtin_bit_cast(T, number{canonical(parts.re), canonical(parts.im)});
  } else {
    return value;
  }
}

template <class T>
struct typed_vector {
  const detail::stored_t<T>* data;
  std::ptrdiff_t increment;

  explicit typed_vector(const operand& v)
      : data(static_cast<const detail::stored_t<T>*>(v.data)), increment(v.increment) {}
  T contiguous(std::size_t i) const { return data[i]; }
  TALLY_HOST_DEVICE T operator[](std::size_t i) const {
    return data[static_cast<std::ptrdiff_t>(i) * increment];
  }
};

template <class R, class Map, class... T>
struct values {
  const Map& map;
  std::tuple<typed_vector<T>...> vectors;

  void fill(std::size_t first, std::size_t n, R* out) const {
    std::apply(
        [&](const auto&... v) {
          if ((... && (v.increment == 1))) {
            for (std::size_t i = 0; i < n; ++i)
              out[i] = static_cast<R>(map(v.contiguous(first + i)...));
          } else {
            for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<R>(map(v[first + i]...));
          }
        },
        vectors);
  }
};

/// The first exception; none may leave a parallel region.
class first_exception {
 public:
  first_exception() = default;
  first_exception(const first_exception&) = delete;
  first_exception& operator=(const first_exception&) = delete;
  explicit operator bool() const { return __atomic_load_n(&kept_, __ATOMIC_SEQ_CST); }
  template <class F>
  void from(F&& f) {
    try {
      f();
    } catch (...) {
      if (!__atomic_exchange_n(&kept_, true, __ATOMIC_SEQ_CST)) {
        exception_ = std::current_exception();
      }
    }
  }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  bool kept_ = false;  // no std::atomic: including it would cost every source
  std::exception_ptr exception_;
};

/// Not a pointer to an object, which is a destination.
template <class F>
concept function =
    std::is_class_v<F> || (std::is_pointer_v<F> && std::is_function_v<std::remove_pointer_t<F>>);

template <class R, class F, class... T>
concept returns = requires(const F& f, const T&... values) { static_cast<R>(f(values...)); };

}  // namespace detail
}  // namespace tally

// Separate namespaces: the linker must not mix nvcc's instances, with device code, others with
// Kokkos's, and the rest.
#if defined(__CUDACC__) && !defined(TALLY_HOST_CODE_ONLY)
#include <tally/user_functions/functions.cuh>
#define TALLY_HAS_DEVICE_CODE 1
#else
#define TALLY_HAS_DEVICE_CODE 0
#endif
#if defined(KOKKOS_VERSION) && !defined(TALLY_HOST_CODE_ONLY) && \
    ((defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)) ||     \
     (defined(KOKKOS_ENABLE_HIP) && defined(__HIPCC__)) || defined(KOKKOS_ENABLE_SYCL))
#include <tally/user_functions/kokkos.hpp>
#define TALLY_HAS_KOKKOS_CODE 1
#else
#define TALLY_HAS_KOKKOS_CODE 0
#endif
#if TALLY_HAS_KOKKOS_CODE && TALLY_HAS_DEVICE_CODE
#define TALLY_CODE with_device_code_and_kokkos
#elif TALLY_HAS_KOKKOS_CODE
#define TALLY_CODE with_kokkos
#elif TALLY_HAS_DEVICE_CODE
#define TALLY_CODE with_device_code
#else
#define TALLY_CODE host_code
#endif
#if !TALLY_HAS_DEVICE_CODE
namespace tally::detail {
inline namespace TALLY_CODE {
template <class F>
inline constexpr bool only_on_device = false;
}
}  // namespace tally::detail
#endif
