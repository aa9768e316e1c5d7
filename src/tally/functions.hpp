// What operations with functions of the caller's share: how those run on the executor's threads,
// what the compiler may not merge, and which of them travel to a device.
// <tally/transform_reduce.hpp> and <tally/transform_function.hpp> are made of it.
//
// The functions are compiled into the caller's program, so its compiler's flags reach them.
// Rounding mode and flushed subnormals of the calling thread are set aside, as everywhere in Tally.
// What is not prevented: inside one function the compiler may contract a * b + c (GCC does where
// the target has FMA, nvcc always) and rewrite it under -ffast-math. For equal bits compile with
// -ffp-contract=off (nvcc: -fmad=false, and without -use_fast_math), or write std::fma where it is
// wanted.
//
// On the GPU: in a source that nvcc compiles this header has device code too, and a call makes a
// kernel of its functions. So these must be callable on the device: function objects with `__host__
// __device__`, or, with --extended-lambda, such lambdas (one that is `__device__` alone runs on
// `cuda` only); their bytes are copied there. std::plus and std::multiplies of real numbers need
// nothing; std::complex, whose functions are the host's, needs --expt-relaxed-constexpr. Where
// functions of the host are meant, define TALLY_HOST_CODE_ONLY before the first header of Tally.
// Compute capability 7.0 or more.
#pragma once

#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/types.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <tuple>
#include <type_traits>

namespace tally {

/// A function of the caller's over the parts of a range, which are nodes of the order's tree.
struct part_calls {
  void* context = nullptr;  ///< what the three functions get first
  /// For each part, in any order, on any thread: elements first ... first + n - 1. Must not throw.
  void (*run)(void* context, std::size_t part, std::size_t first, std::size_t n) = nullptr;
  /// Once, before the others; there will be so many parts, none of an empty range. May throw.
  void (*prepare)(void* context, std::size_t parts) = [](void*, std::size_t) {};
  /// Once, after all. Must not throw.
  void (*finish)(void* context) = [](void*) {};
};

/// Calls `calls` for vectors of equal length, on an executor of the host, in the default
/// floating-point environment: what the templates call for a sum.
/// @param function begins the messages.
/// @param y        null where there is one vector.
/// @param result   where the result will be written; null where it is returned.
/// @throws error   as `dot`; invalid_argument for an executor that can't call functions of the
/// host.
TALLY_EXPORT void for_each_part(const executor& where, const char* function, const operand& x,
                                const operand* y, const void* result, const part_calls& calls);

/// The same where a vector is written.
/// @throws error   and overlap, where z is not an input and shares memory with one.
TALLY_EXPORT void for_each_part(const executor& where, const char* function, const operand& x,
                                const operand* y, const output_operand& z, const part_calls& calls);

/// What a kernel of the caller's is lent for one sum.
struct device_sum {
  /// Device memory of as many words as were asked for, all 0; all 0 again when the kernel ends.
  std::uint64_t* words = nullptr;
  std::uint64_t* ended = nullptr;  ///< to be incremented by one when the kernel ends, or null
  void* result = nullptr;          ///< where the result goes
  /// 0: `result` is plain memory. Else it is words to the host, which waits for them: each carries
  /// this in its upper half and 4 bytes of the result in its lower one.
  std::uint32_t tag = 0;
  CUstream_st* stream = nullptr;  ///< where the kernel is queued

  static constexpr std::size_t word_count = 8192;  ///< at most
  static constexpr std::size_t most_bytes = 128;   ///< of the result
};

/// A sum by a kernel of the caller's: checks the vectors as `for_each_part`, calls `launch`, which
/// queues one kernel on the stream and returns its launch's cudaError_t, and with `wait` waits for
/// the result of so many bytes. The kernel is lent so many `words`, which may be 0.
TALLY_EXPORT void launch_sum(const executor& where, const char* function, const operand& x,
                             const operand* y, void* result, std::size_t bytes, bool wait,
                             std::size_t words, void* context,
                             int (*launch)(void* context, const device_sum& lent));

/// A vector written by a kernel of the caller's: checks the vectors as `for_each_part` and, where
/// they are not empty, calls `launch`, which queues one kernel on `stream` and returns its
/// cudaError_t. Doesn't wait.
TALLY_EXPORT void launch_map(const executor& where, const char* function, const operand& x,
                             const operand* y, const output_operand& z, void* context,
                             int (*launch)(void* context, CUstream_st* stream));

namespace functions {

/// Ends what the compiler may merge: it takes everything in memory for looked at and written.
inline void keep(void* p) { asm volatile("" : "+r"(p) : : "memory"); }

/// A NaN as the positive quiet NaN with an empty payload; by its bits, since -ffast-math would not
/// look. Other types are left alone.
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
    using number = types::complex_number<real_t<E>>;
    const auto parts = __builtin_bit_cast(number, value);
    return __builtin_bit_cast(T, number{canonical(parts.re), canonical(parts.im)});
  } else {
    return value;
  }
}

/// Element i of a vector with its type.
template <class T>
struct vector {
  const types::stored_t<T>* data;
  std::ptrdiff_t increment;

  explicit vector(const operand& v)
      : data(static_cast<const types::stored_t<T>*>(v.data)), increment(v.increment) {}
  /// The same where the vector is contiguous.
  T contiguous(std::size_t i) const { return data[i]; }
  TALLY_HOST_DEVICE T operator[](std::size_t i) const {
    return data[static_cast<std::ptrdiff_t>(i) * increment];
  }
};

/// Values map(x_i), or map(x_i, y_i).
template <class R, class Map, class... T>
struct values {
  const Map& map;
  std::tuple<vector<T>...> vectors;

  /// The n from `first` on.
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

/// The first exception of the caller's functions, kept: none may leave a parallel region.
class first_exception {
 public:
  explicit operator bool() const { return kept_.load(); }
  template <class F>
  void from(F&& f) {
    try {
      f();
    } catch (...) {
      if (!kept_.exchange(true)) exception_ = std::current_exception();
    }
  }
  /// Once all parts have ended.
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::atomic<bool> kept_ = false;
  std::exception_ptr exception_;
};

template <class V>
using value_t = typename operands::value<std::remove_cvref_t<V>>::type;

/// Not a pointer to an object: where a result goes.
template <class F>
concept function =
    std::is_class_v<F> || (std::is_pointer_v<F> && std::is_function_v<std::remove_pointer_t<F>>);

}  // namespace functions
}  // namespace tally

// A template that nvcc compiled has device code, and the same one from another compiler has not:
// the linker must not take one for the other. So both kinds have namespaces of their own.
#if defined(__CUDACC__) && !defined(TALLY_HOST_CODE_ONLY)
#include <tally/functions.cuh>
#define TALLY_HAS_DEVICE_CODE 1
#define TALLY_CODE with_device_code
#else
#define TALLY_HAS_DEVICE_CODE 0
#define TALLY_CODE host_code
#endif
