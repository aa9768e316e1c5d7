// Element-wise kernels: contiguous vectors of one type 16 bytes at a time, others with types known
// at run time.
#pragma once

#include "backends/common/elementwise/reciprocal.hpp"
#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/transform/kernels.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace tally::backends::cuda {

// --- One element ---------------------------------------------------------------------------------

/// Rounds a number to 16 bits. A NaN loses its payload.
template <class T>
__device__ T narrow(float value) {
  T result;
  if constexpr (std::is_same_v<T, float16>) {
    result.bits = ptx::to_float16(value);
    if (value != value) result.bits = 0x7e00;
  } else {
    const std::uint32_t bits = __float_as_uint(value);
    result.bits = static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
  return result;
}

// exp and sigmoid of 16-bit numbers are correctly rounded, however computed. The device's
// approximations enclose the result; where the bounds round differently, or |x| is large, the
// formula of all backends decides.

/// Whether rcp.approx is off by at most one unit in the last place, else two: PTX ISA versions
/// bound it by one unit, or by 2^-23 for x in [1, 2]. (On compute capability 9.0, sigmoid of all
/// floats was compared.)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
inline constexpr bool reciprocal_is_within_a_unit = true;
#else
inline constexpr bool reciprocal_is_within_a_unit = false;
#endif

struct enclosed {
  float low, high;
};

/// Encloses exp(x) or sigmoid(x) for |x| <= 16. Relative errors: exponent 2^-24 + 2^-26, since it
/// and log2(e) are rounded; e 2^-22; 1 + e 2^-24; its reciprocal 2^-23 per unit; the bounds are
/// rounded, too.
template <elementwise what>
__device__ enclosed enclose(float x) {
  constexpr float log2_e = exponential_constants<float>::log2_e;
  const float e =
      ptx::approximate_power_of_two(x * (what == elementwise::sigmoid ? -log2_e : log2_e));
  const float result = what == elementwise::sigmoid ? ptx::approximate_reciprocal(1 + e) : e;
  constexpr float others = reciprocal_is_within_a_unit ? 0x1p-21f : 0x1.4p-21f;
  const float error = __fmaf_rn(fabsf(x), 0x1.4p-24f, others);
  return {__fmaf_rn(-error, result, result), __fmaf_rn(error, result, result)};
}

/// Packed in 32 bits.
template <class T>
__device__ std::uint32_t narrow(float low, float high) {
  if constexpr (std::is_same_v<T, float16>) {
    return ptx::to_float16(low, high);
  } else {
    return ptx::to_bfloat16(low, high);
  }
}

// In L2, arithmetic limits exp and sigmoid. Far from overflow and underflow nothing is clamped,
// NaNs need no test, and an addition to the exponent multiplies by 2^k, with the bits of the
// formula of all backends.

/// Whether 2^k and the results of exp and sigmoid are normal: |x| is below 87 or 700.
__device__ inline bool is_moderate(float x) { return fabsf(x) < 87; }
__device__ inline bool is_moderate(double x) {
  constexpr unsigned magnitude = 0x7fffffff, upper_word_of_700 = 0x4085e000;
  return (static_cast<unsigned>(__double2hiint(x)) & magnitude) < upper_word_of_700;
}

/// Returns the lowest bits of `magic`, which hold k.
__device__ inline unsigned lowest_bits(float x) { return __float_as_uint(x); }
__device__ inline unsigned lowest_bits(double x) {
  return static_cast<unsigned>(__double2loint(x));
}

/// Returns x 2^k. Pre: both are normal.
__device__ inline float scaled_by_power(float x, unsigned k) {
  return __uint_as_float(__float_as_uint(x) + (k << 23));
}
__device__ inline double scaled_by_power(double x, unsigned k) {
  return __hiloint2double(static_cast<int>(static_cast<unsigned>(__double2hiint(x)) + (k << 20)),
                          __double2loint(x));
}

/// Arithmetic with the shortest way to 1/d.
template <class R>
struct moderate_arithmetic : number_arithmetic<R> {
  static __device__ R reciprocal(R d) {
    if constexpr (reciprocal_is_within_a_unit) {
      const auto rounded = static_cast<float>(d);
      return reciprocal_from_a_unit(rounded, ptx::approximate_reciprocal(rounded));
    } else {
      return number_arithmetic<R>::reciprocal(d);
    }
  }
};

template <elementwise what, class R>
__device__ R of_moderate(R x) {
  using N = moderate_arithmetic<R>;
  if constexpr (what == elementwise::exp) {
    const auto e = reduce_exponent<N>(x);
    return scaled_by_power(e.head + e.left, lowest_bits(e.magic));
  } else {
    const auto e = reduce_exponent<N>(N::minus_magnitude(x));
    const unsigned k = lowest_bits(e.magic);
    const bool negative = N::is_negative(x);
    const R result = logistic<N>(e, scaled_by_power(R{1}, k), negative);
    return scaled_by_power(result, negative ? k : 0);
  }
}

template <elementwise what_, class T_>
struct elements_function {
  using T = T_;
  static constexpr elementwise what = what_;
  static constexpr int inputs = inputs_of<what>;
  static constexpr bool reads_output = detail::reads_output(what);
  static constexpr bool is_16_bit = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
  using V = std::conditional_t<is_16_bit, float, T>;
  factors_for<what, V> f;

  explicit __device__ elements_function(const transform_job& job) {
    memcpy(&f, job.factors, sizeof f);
  }
  __device__ T operator()(T x, T y, [[maybe_unused]] T z = {}) const {
    if constexpr (what == elementwise::copy) {
      return copied(x);
    } else if constexpr (what == elementwise::relu && std::is_same_v<T, double>) {
      const T positive = __double2hiint(x) < 0 ? 0 : x;  // cheaper than a comparison of doubles
      return x != x ? quiet_nan<T> : positive;
    } else if constexpr (is_16_bit && detail::is_exponential(what)) {
      const auto number = convert<float>(x);
      return narrow<T>(to_be_narrowed<what, T>(number, function<what, float>({}, number, number)));
    } else if constexpr (is_16_bit) {
      return narrow<T>(function<what>(f, convert<float>(x), convert<float>(y), convert<float>(z)));
    } else if constexpr (std::is_unsigned_v<T> &&
                         !detail::depends_on_sign(what)) {  // modulo 2^bits
      if constexpr (what == elementwise::scal) {
        return static_cast<T>(f.alpha * x);
      } else if constexpr (what == elementwise::axpby) {
        return static_cast<T>(f.alpha * x + f.beta * y);
      } else if constexpr (what == elementwise::axpbypcz) {
        return static_cast<T>(f.alpha * x + f.beta * y + f.gamma * z);
      } else if constexpr (what == elementwise::axypbz) {
        return static_cast<T>(f.alpha * x * y + f.beta * z);
      } else {
        return static_cast<T>(f.alpha * x * y);
      }
    } else {
      return function<what>(f, x, y, z);
    }
  }

  template <class Elements>
  __device__ uint4 of_load(const Elements& x, const Elements& y, const Elements& z) const {
    constexpr int per_load = 16 / static_cast<int>(sizeof(T));
    uint4 packed;
#if __CUDA_ARCH__ >= 800
    if constexpr (is_16_bit && detail::is_exponential(what)) {
      std::uint32_t pairs[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) pairs[i] = of_pair(x[2 * i], x[2 * i + 1]);
      memcpy(&packed, pairs, sizeof packed);
      return packed;
    }
#endif
    T results[per_load];
    if constexpr (std::is_floating_point_v<T> && detail::is_exponential(what)) {
      bool moderate = true;
#pragma unroll
      for (int i = 0; i < per_load; ++i) moderate = moderate && is_moderate(x[i]);
      if (moderate) {
#pragma unroll
        for (int i = 0; i < per_load; ++i) results[i] = of_moderate<what>(x[i]);
        memcpy(&packed, results, sizeof packed);
        return packed;
      }
    }
#pragma unroll
    for (int i = 0; i < per_load; ++i) results[i] = (*this)(x[i], y[i], z[i]);
    memcpy(&packed, results, sizeof packed);
    return packed;
  }

  /// Calls f with the function of one load.
  template <class F>
  __device__ void with_load(const F& f) const {
    f([&](const auto&... loaded) { return of_load(loaded...); });
  }

  /// Whether all loads are computed as moderate, before any is checked. Four take too many
  /// registers.
  template <int loads>
  static constexpr bool guesses =
      loads == 2 && std::is_same_v<T, double> && what == elementwise::sigmoid;

  /// Computes several loads as if all elements were moderate, then redoes the others: the compiler
  /// can interleave this (tuning/transform.md: guesses).
  template <class Elements, int loads>
  __device__ void of_loads(const Elements (&x)[loads], uint4 (&packed)[loads]) const {
    constexpr int per_load = 16 / static_cast<int>(sizeof(T));
    T results[loads][per_load];
    bool moderate = true;
#pragma unroll
    for (int k = 0; k < loads; ++k) {
#pragma unroll
      for (int i = 0; i < per_load; ++i) {
        results[k][i] = of_moderate<what>(x[k][i]);
        moderate = moderate && is_moderate(x[k][i]);
      }
    }
    if (!moderate) {
#pragma unroll
      for (int k = 0; k < loads; ++k) {
#pragma unroll
        for (int i = 0; i < per_load; ++i) {
          if (!is_moderate(x[k][i])) results[k][i] = (*this)(x[k][i], x[k][i]);
        }
      }
    }
#pragma unroll
    for (int k = 0; k < loads; ++k) memcpy(&packed[k], results[k], sizeof packed[k]);
  }

#if __CUDA_ARCH__ >= 800
  __device__ std::uint32_t of_pair(T a, T b) const {
    const auto x = convert<float>(a), y = convert<float>(b);
    const enclosed of_x = enclose<what>(x), of_y = enclose<what>(y);
    const std::uint32_t low = narrow<T>(of_x.low, of_y.low);
    const bool near = fabsf(x) <= 16 && fabsf(y) <= 16;
    if (near && low == narrow<T>(of_x.high, of_y.high)) return low;
    return (*this)(a, a).bits | std::uint32_t{(*this)(b, b).bits} << 16;
  }
#endif
};

/// All short functions of `inputs_` vectors.
template <int inputs_, class T_>
struct short_elements {
  using T = T_;
  static constexpr int inputs = inputs_;
  static constexpr bool reads_output = false;
  template <int loads>
  static constexpr bool guesses = false;
  using V = std::conditional_t<sizeof(T) == 2, float, T>;
  elementwise what;
  factors<V> f;

  explicit __device__ short_elements(const transform_job& job) : what(job.what) {
    memcpy(&f, job.factors, sizeof f);
  }
  template <elementwise each>
  __device__ T of(T x, T y, T w) const {
    if constexpr (sizeof(T) == 2) {
      return narrow<T>(function<each, V>(f, convert<V>(x), convert<V>(y), convert<V>(w)));
    } else {
      return function<each, V>(f, x, y, w);
    }
  }
  __device__ T operator()(T x, T y, T w) const {
    T result{};
    with_short_function<inputs, V>(what, [&]<elementwise each>() { result = of<each>(x, y, w); });
    return result;
  }
  template <elementwise each, class Elements>
  __device__ uint4 of_load(const Elements& x, const Elements& y, const Elements& w) const {
    constexpr int per_load = 16 / static_cast<int>(sizeof(T));
    uint4 packed;
    T results[per_load];
#pragma unroll
    for (int i = 0; i < per_load; ++i) results[i] = of<each>(x[i], y[i], w[i]);
    memcpy(&packed, results, sizeof packed);
    return packed;
  }
  /// Calls f with the function of one load.
  template <class F>
  __device__ void with_load(const F& f) const {
    with_short_function<inputs, V>(what, [&]<elementwise each>() {
      f([&](const auto&... loaded) { return of_load<each>(loaded...); });
    });
  }
};

// --- Contiguous vectors of one type --------------------------------------------------------------

/// Later loads are a block apart.
template <int loads>
__device__ std::int64_t first_load() {
  return std::int64_t{blockIdx.x} * static_cast<int>(loads * blockDim.x) + threadIdx.x;
}

/// Computes and writes the loaded elements. The last block takes those before and after all loads.
template <class Function, class Elements, int loads>
__device__ void write(const transform_job& job, const Function& f, const Elements (&xs)[loads],
                      const Elements (&ys)[loads], const Elements (&zs)[loads]) {
  using T = typename Function::T;
  constexpr int per_load = 16 / static_cast<int>(sizeof(T));
  const std::int64_t whole = job.whole;
  auto* const z = static_cast<T*>(job.z.data);
  [[maybe_unused]] uint4 all[loads];
  if constexpr (Function::template guesses<loads>) f.of_loads(xs, all);
  f.with_load([&](const auto& of_load) {
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      const std::int64_t at = first_load<loads>() + k * static_cast<int>(blockDim.x);
      if (at >= whole) continue;
      if constexpr (!Function::template guesses<loads>) all[k] = of_load(xs[k], ys[k], zs[k]);
      reinterpret_cast<uint4*>(z + job.head)[at] = all[k];
    }
  });
  if (blockIdx.x == gridDim.x - 1) {
    const auto* const x = static_cast<const T*>(job.x.data);
    const auto* const y = static_cast<const T*>(Function::inputs > 1 ? job.y.data : job.x.data);
    const auto* const w = static_cast<const T*>(Function::inputs > 2 ? job.w.data : job.x.data);
    std::int64_t i = threadIdx.x;
    if (i >= job.head) i += whole * per_load;
    if (i < job.n) {
      z[i] = f(x[i], y[i], Function::inputs > 2 ? w[i] : Function::reads_output ? z[i] : T{});
    }
  }
}

template <class Function>
inline constexpr bool is_short = false;
template <int inputs, class T>
inline constexpr bool is_short<short_elements<inputs, T>> = true;

/// Minimum of resident 256-thread blocks per SM; 0: the compiler's choice (tuning/transform.md:
/// blocks_at_once).
template <class Function, int loads>
inline constexpr int blocks_at_once =
    is_short<Function> ? (loads > 1 && sizeof(typename Function::T) == 4 ? 6 : 5)
    : std::is_same_v<typename Function::T, float>
        ? (loads == 1 ? max_blocks_at_once : std::min(6, max_blocks_at_once))
    : loads == 1                        ? 1
    : Function::template guesses<loads> ? 3
                                        : 0;

/// Returns 16 bytes from `offset` bytes past loads[i] on, reaching into the next load: the next
/// thread's or, for a warp's last thread, its own, allowed if i < last.
template <class T>
__device__ elements<T, 16 / sizeof(T)> load_shifted(const uint4* loads, std::int64_t i,
                                                    std::int64_t last, unsigned offset) {
  constexpr unsigned all = whole_warp, end = warp - 1;
  uint4 low{}, high{};
  if (i <= last) low = __ldcg(loads + i);
  if (threadIdx.x % warp == end && i < last) high = __ldcg(loads + i + 1);
  const uint4 next = {__shfl_down_sync(all, low.x, 1), __shfl_down_sync(all, low.y, 1),
                      __shfl_down_sync(all, low.z, 1), __shfl_down_sync(all, low.w, 1)};
  if (threadIdx.x % warp != end) high = next;
  std::uint32_t both[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  if (offset & 8) {
#pragma unroll
    for (int k = 0; k < 6; ++k) both[k] = both[k + 2];
  }
  if (offset & 4) {
#pragma unroll
    for (int k = 0; k < 5; ++k) both[k] = both[k + 1];
  }
  if constexpr (sizeof(T) < 4) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      both[k] = __funnelshift_r(both[k], both[k + 1], offset % 4 * 8);
    }
  }
  elements<T, 16 / sizeof(T)> result;
  result.raw[0] = {both[0], both[1], both[2], both[3]};
  return result;
}

/// Kernel for vectors that all start at the same distance from a multiple of 16 bytes or, if
/// `shifted`, whose inputs start at others than the output: aligned loads, all within the vector,
/// are shifted.
template <class Function, int loads, bool shifted>
__global__ void __launch_bounds__(loads_per_block, (shifted ? 0 : blocks_at_once<Function, loads>))
    transform_vectors(const transform_job job) {
  using T = typename Function::T;
  constexpr bool binary = Function::inputs > 1;
  constexpr int per_load = 16 / static_cast<int>(sizeof(T));
  const Function f(job);
  const auto* const x = static_cast<const T*>(job.x.data);
  const auto* const y = static_cast<const T*>(binary ? job.y.data : job.x.data);
  const auto* const z = static_cast<const T*>(job.z.data);
  const std::int64_t whole = job.whole, first = first_load<loads>();
  const auto load = [&](auto& to, const T* v, std::int64_t at) {
    if constexpr (shifted) {
      const auto address = reinterpret_cast<std::uintptr_t>(v + job.head);
      to = load_shifted<T>(reinterpret_cast<const uint4*>(address & ~std::uintptr_t{15}), at, whole,
                           static_cast<unsigned>(address % 16));
    } else if (at < whole) {
      to.load(v + job.head + at * per_load);
    }
  };

  elements<T, per_load> xs[loads], ys[loads], zs[loads];
  wait_for_launch_before();
#pragma unroll
  for (int k = 0; k < loads; ++k) {
    const std::int64_t at = first + k * static_cast<int>(blockDim.x);
    load(xs[k], x, at);
    if constexpr (binary) load(ys[k], y, at);
    if constexpr (Function::inputs > 2) load(zs[k], static_cast<const T*>(job.w.data), at);
    if constexpr (Function::reads_output) {
      if (at < whole) zs[k].load(z + job.head + at * per_load);
    }
  }
  if (job.early) let_launch_after_start();
  write(job, f, xs, ys, zs);
}

/// Bits of a T, for copies.
template <class T>
using copied_as = std::conditional_t<
    std::is_same_v<T, bool>, detail::bool8,
    std::conditional_t<
        sizeof(T) == 1, std::uint8_t,
        std::conditional_t<sizeof(T) == 2, std::uint16_t,
                           std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>>;

template <elementwise what, class T>
transform_kernel kernel_on() {
  using function = elements_function<what, T>;
  constexpr const transform_case& cut = case_of(what, sizeof(T));
  constexpr unsigned max_loads = cut.max_loads;
  transform_kernel found;
  found.cut = &cut;
  found.vectors[0] = &transform_vectors<function, 1, false>;
  if constexpr (max_loads >= 2) found.vectors[1] = &transform_vectors<function, 2, false>;
  if constexpr (max_loads >= 4) found.vectors[2] = &transform_vectors<function, 4, false>;
  found.shifted = &transform_vectors<function, loads_of_shifted, true>;
  return found;
}

template <class T>
transform_kernel transform_kernel_of(elementwise what) {
  transform_kernel found;
  using V = typename elements_function<elementwise::copy, T>::V;
  with_function<V, true>(what, [&]<elementwise each>() {
    constexpr bool as_unsigned = std::is_integral_v<T> && !detail::depends_on_sign(each);
    using U = std::conditional_t<as_unsigned, std::make_unsigned<T>, std::type_identity<T>>;
    if constexpr (each != elementwise::copy) found = kernel_on<each, typename U::type>();
  });
  return found;
}

// --- Any vectors ---------------------------------------------------------------------------------

/// Copies numbers; a complex element is two.
template <class Bits>
__global__ void __launch_bounds__(256) copy_any(const transform_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  const auto* const x = static_cast<const Bits*>(job.x.data);
  auto* const z = static_cast<Bits*>(job.z.data);
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < job.n;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const Bits* const from = x + i * job.x.increment;
    const Bits first = copied(from[0]);
    Bits* const to = z + i * job.z.increment;
    if (job.x.complex) to[1] = from[1];
    to[0] = first;
  }
}

template <elementwise what, class V>
__global__ void __launch_bounds__(256) transform_any(const transform_job job) {
  factors_for<what, V> f;
  memcpy(&f, job.factors, sizeof f);
  wait_for_launch_before();
  let_launch_after_start();
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < job.n;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const V x = job.x.get<V>(static_cast<std::size_t>(i));
    const auto at = static_cast<std::size_t>(i);
    if constexpr (detail::reads_output(what)) {
      job.z.put(at, function<what>(f, x, job.y.get<V>(at), job.z.get<V>(at)));
    } else if constexpr (detail::is_binary(what)) {
      job.z.put(at, function<what>(f, x, job.y.get<V>(at)));
    } else {
      job.z.put(at, function<what>(f, x, x));
    }
  }
}

template <int inputs, class V>
__global__ void __launch_bounds__(256) short_any(const transform_job job) {
  factors<V> f;
  memcpy(&f, job.factors, sizeof f);
  wait_for_launch_before();
  let_launch_after_start();
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < job.n;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const auto at = static_cast<std::size_t>(i);
    V y{}, w{};
    if constexpr (inputs > 1) y = job.y.get<V>(at);
    if constexpr (inputs > 2) w = job.w.get<V>(at);
    const V result = short_function<inputs, V>(job.what, f, job.x.get<V>(at), y, w);
    if constexpr (std::is_arithmetic_v<V>) {
      if (detail::is_comparison(job.what)) {
        job.z.put_truth(at, result != 0);
        continue;
      }
    }
    job.z.put(at, result);
  }
}

}  // namespace tally::backends::cuda
