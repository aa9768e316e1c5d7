// The element-wise functions on one thread. Contiguous vectors of one type are computed in place,
// others block by block.
#include "backends/simd/elementwise/transform.hpp"
#include "backends/simd/level_one.hpp"
#include "backends/simd/simd.hpp"
#include "backends/simd/vectors/instruction_set.hpp"

#include "backends/common/elementwise/blocks.hpp"
#include "backends/common/elementwise/moves.hpp"
#include "backends/common/elementwise/multi_axpy.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/simd/scalable/scalable.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#ifndef TALLY_BACKENDS_SIMD_TRANSFORM_CPP  // once per target
#define TALLY_BACKENDS_SIMD_TRANSFORM_CPP
namespace tally::backends::simd {
namespace {

/// Updates of vectors that are not short, where short ones have kernels of another set.
template <class T>
using update_kernel = std::remove_reference_t<decltype(detail::level_one<T>::transform[0])>;
template <class T, elementwise what>
constinit update_kernel<T> longer_update = nullptr;

struct implementation {
  instruction_set set;
  transform_node* node;
  rows_node* rows;
  fill_node* fill;
  swap_node* swap;
  void (*add_short_updates)(detail::level_one_kernels& to);
  void (*add_updates)(detail::level_one_kernels& to);
  void (*add_exponentials)(detail::level_one_kernels& to);
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/elementwise/transform.cpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/elementwise/arithmetic-inl.hpp"
#include "backends/simd/sums/kernel-inl.hpp"
#include "backends/simd/vectors/static_rounding-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

// --- Contiguous vectors of one floating-point type -----------------------------------------------

/// See `to_be_narrowed` in backends/common/elementwise/elementwise.hpp.
template <class T>
HWY_INLINE vec<float> to_be_narrowed(vec<float> x, vec<float> result) {
  if constexpr (std::is_same_v<T, float16>) {
    constexpr tag<float> d;
    constexpr hn::RebindToSigned<tag<float>> di;
    const auto bits = hn::BitCast(di, result);
    const auto half_way = hn::Eq(hn::And(bits, hn::Set(di, 0x1fff)), hn::Set(di, 0x1000));
    const auto near = hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-5f));
    const auto step = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::BitCast(d, hn::Set(di, 1)),
                                     hn::BitCast(d, hn::Set(di, -1)));
    const auto moved = hn::BitCast(d, hn::Add(bits, hn::BitCast(di, step)));
    return hn::IfThenElse(near, hn::IfThenElse(hn::RebindMask(d, half_way), moved, result), result);
  } else {
    return result;
  }
}

/// Whether results are products and their sums.
template <elementwise what>
constexpr bool is_formula =
    what == elementwise::scal || what == elementwise::axpy || what == elementwise::axpby ||
    what == elementwise::mul || what == elementwise::axpbypcz || what == elementwise::axypbz;

template <elementwise what, class R>
struct vector_function {
  using a = vector_arithmetic<R>;
  vec<R> alpha, beta, gamma;

  explicit HWY_INLINE vector_function(const three_factors<R>& f)
      : alpha(a::set(f.alpha)), beta(a::set(f.beta)), gamma(a::set(f.gamma)) {}

  static constexpr bool reads_output = detail::reads_output(what);
  static HWY_INLINE vec<R> known(vec<R> v) { return a::known(v); }
  /// Whether formula's results are checked for NaN four vectors at a time.
  static constexpr bool in_groups =
      (what == elementwise::scal && HWY_TARGET == HWY_AVX2) || (is_formula<what> && is_avx512);
  /// Results in which NaNs have any sign and payload.
  HWY_INLINE vec<R> formula(vec<R> x, [[maybe_unused]] vec<R> y, [[maybe_unused]] vec<R> z) const {
    if constexpr (what == elementwise::scal) {
      return hn::Mul(alpha, x);
    } else if constexpr (what == elementwise::axpy) {  // of level one
      return hn::Add(hn::Mul(alpha, x), y);
    } else if constexpr (what == elementwise::axpby) {
      return hn::Add(hn::Mul(alpha, x), hn::Mul(beta, y));
    } else if constexpr (what == elementwise::mul) {
      return hn::Mul(hn::Mul(alpha, x), y);
    } else if constexpr (what == elementwise::axpbypcz) {
      return hn::Add(hn::Add(hn::Mul(alpha, x), hn::Mul(beta, y)), hn::Mul(gamma, z));
    } else {
      return hn::Add(hn::Mul(hn::Mul(alpha, x), y), hn::Mul(beta, z));
    }
  }
  HWY_INLINE vec<R> operator()(vec<R> x, [[maybe_unused]] vec<R> y,
                               [[maybe_unused]] vec<R> z) const {
    if constexpr (what == elementwise::copy) {
      return known(x);
    } else if constexpr (is_formula<what>) {
      return known(formula(x, y, z));
    } else {
      return of_one<what, a>(x);
    }
  }
  template <class T>
  static HWY_INLINE vec<R> narrowed(vec<R> x, vec<R> result) {
    if constexpr (sizeof(T) == 2 && detail::is_exponential(what)) {
      return to_be_narrowed<T>(x, result);
    } else {
      return result;
    }
  }
  static constexpr bool has_steps = has_fma && detail::is_exponential(what);
  static HWY_INLINE auto first(vec<R> x) { return first_step<what, a>(x); }
  template <class Begun>
  static HWY_INLINE vec<R> second(const Begun& begun, vec<R> x) {
    return second_step<a>(begun, x);
  }
};

template <class T, class Function, class Load>
HWY_INLINE auto computed(const Function& f, const T* x, const T* y, const T* z, const Load& load) {
  const auto first = load(x);
  const auto result = f(first, load(y), load(Function::reads_output ? z : x));
  return Function::template narrowed<T>(first, result);
}

/// Makes its function from factors: one at an address would keep its vectors in memory.
template <class T, class Function, class Factors>
HWY_NOINLINE void run_few(const Factors& factors, const T* x, const T* y, T* z, std::size_t n) {
  using R = number_of<T>;
  const Function f(factors);
  const auto load = [n](const T* p) HWY_ATTR { return load_first<R>(p, n); };
  put_first<T, R>(computed(f, x, y, z, load), z, n);
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

/// Whether a number of a or b is NaN, lane by lane.
#if HWY_TARGET == HWY_AVX3
HWY_INLINE hn::Mask<tag<float>> unordered(vec<float> a, vec<float> b) {
  return {_mm512_cmp_ps_mask(a.raw, b.raw, _CMP_UNORD_Q)};
}
HWY_INLINE hn::Mask<tag<double>> unordered(vec<double> a, vec<double> b) {
  return {_mm512_cmp_pd_mask(a.raw, b.raw, _CMP_UNORD_Q)};
}
#else
HWY_INLINE hn::Mask<tag<float>> unordered(vec<float> a, vec<float> b) {
  return {_mm256_cmp_ps(a.raw, b.raw, _CMP_UNORD_Q)};
}
HWY_INLINE hn::Mask<tag<double>> unordered(vec<double> a, vec<double> b) {
  return {_mm256_cmp_pd(a.raw, b.raw, _CMP_UNORD_Q)};
}
#endif

/// Whether no number of four vectors is NaN.
template <class V>
HWY_INLINE bool are_known(V p, V q, V r, V s) {
  const auto one = unordered(p, q), other = unordered(r, s);
#if HWY_TARGET == HWY_AVX3  // one instruction, of those that limit the speed, for both masks
  if constexpr (sizeof(one.raw) == 1) {
    return _kortestz_mask8_u8(one.raw, other.raw) != 0;
  } else {
    return _kortestz_mask16_u8(one.raw, other.raw) != 0;
  }
#else
  return hn::AllFalse(tag<hn::TFromV<V>>(), hn::Or(one, other));
#endif
}

/// Computes four vectors, checked for NaN together: one check a vector limits the speed in the
/// caches (tuning/elementwise.md: compute_four).
template <bool past_caches, class Function, class R>
HWY_INLINE void compute_four(const Function& f, const R* x, const R* y, R* z) {
  constexpr std::size_t w = width<R>;
  const auto at = [&](std::size_t i) HWY_ATTR {
    const auto first = load<R>(x + i);
    return f.formula(first, load<R>(y + i), Function::reads_output ? load<R>(z + i) : first);
  };
  auto p = at(0), q = at(w), r = at(2 * w), s = at(3 * w);
  if (!are_known(p, q, r, s)) [[unlikely]] {
    p = f.known(p), q = f.known(q), r = f.known(r), s = f.known(s);
  }
  put<past_caches, R, R>(p, z);
  put<past_caches, R, R>(q, z + w);
  put<past_caches, R, R>(r, z + 2 * w);
  put<past_caches, R, R>(s, z + 3 * w);
}

#endif

/// Computes the pairs of vectors, and returns the number of elements. The steps of a vector depend
/// on each other, and a processor doesn't reach the next one by itself: so two vectors are begun
/// before the two before them are ended (tuning/elementwise.md: run_in_steps). Variables, since the
/// compiler keeps structs of vectors in memory here. Pre: n >= 2 vectors.
template <bool past_caches, class Function, class T>
HWY_NOINLINE std::size_t run_in_steps(const T* x, T* z, std::size_t n) {
  using V = vec<number_of<T>>;
  constexpr std::size_t w = width<number_of<T>>;
  const auto first = [x](std::size_t at)
                         HWY_ATTR { return Function::first(load<number_of<T>>(x + at)); };
  const auto end = [x, z](const auto& begun, std::size_t at) HWY_ATTR {
    const V v = load<number_of<T>>(x + at);
    put<past_caches, T, number_of<T>>(Function::template narrowed<T>(v, Function::second(begun, v)),
                                      z + at);
  };
  std::size_t i = 0;
  auto p = first(0), q = first(w);
  if constexpr (std::is_same_v<decltype(p), reduced_argument<V>>) {
    V m = p.magic, k = p.k, a = p.large, b = p.small, r = p.r;
    V m2 = q.magic, k2 = q.k, a2 = q.large, b2 = q.small, r2 = q.r;
    for (; i + 4 * w <= n; i += 2 * w) {
      const auto even = first(i + 2 * w);
      end(reduced_argument<V>{m, k, a, b, r}, i);
      m = even.magic, k = even.k, a = even.large, b = even.small, r = even.r;
      const auto odd = first(i + 3 * w);
      end(reduced_argument<V>{m2, k2, a2, b2, r2}, i + w);
      m2 = odd.magic, k2 = odd.k, a2 = odd.large, b2 = odd.small, r2 = odd.r;
    }
    end(reduced_argument<V>{m, k, a, b, r}, i);
    end(reduced_argument<V>{m2, k2, a2, b2, r2}, i + w);
  } else {
    V m = p.magic, k = p.k, h = p.head, l = p.left;
    V m2 = q.magic, k2 = q.k, h2 = q.head, l2 = q.left;
    for (; i + 4 * w <= n; i += 2 * w) {
      const auto even = first(i + 2 * w);
      end(reduced_exponent<V>{m, k, h, l}, i);
      m = even.magic, k = even.k, h = even.head, l = even.left;
      const auto odd = first(i + 3 * w);
      end(reduced_exponent<V>{m2, k2, h2, l2}, i + w);
      m2 = odd.magic, k2 = odd.k, h2 = odd.head, l2 = odd.left;
    }
    end(reduced_exponent<V>{m, k, h, l}, i);
    end(reduced_exponent<V>{m2, k2, h2, l2}, i + w);
  }
  return i + 2 * w;
}

/// Computes as many of n elements as fill vectors; z is aligned to a vector.
template <bool past_caches, class T, class Function>
HWY_INLINE void run_vectors(const Function& f, const T* x, const T* y, T* z, std::size_t n) {
  using R = number_of<T>;
  constexpr std::size_t w = width<R>;
  const auto whole = [](const T* p) HWY_ATTR { return load<R>(p); };
  const auto compute = [&](std::size_t at) HWY_ATTR {
    put<past_caches, T, R>(computed(f, x + at, y + at, z + at, whole), z + at);
  };
  std::size_t i = 0;
  if constexpr (Function::has_steps) {
    if (n >= 2 * w) i = run_in_steps<past_caches, Function>(x, z, n);
  } else {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    if constexpr (Function::in_groups && std::is_same_v<T, R>) {
      constexpr std::size_t four = 4 * w;
      for (; n >= four; n -= four, x += four, y += four, z += four) {
        compute_four<past_caches>(f, x, y, z);
      }
    }
#endif
    // Two vectors per iteration (tuning/elementwise.md: run_vectors).
    for (; i + 2 * w <= n; i += 2 * w) compute(i), compute(i + w);
  }
  if (i + w <= n) compute(i);
}

/// z = f(x, y, z); `vectors(f, x, y, z, n)` does as `run_vectors`. A store across a cache line
/// costs two, and non-temporal stores must not cross one: so the first and last elements are whole
/// vectors that overlap the others (tuning/elementwise.md: run), computed before anything is
/// written, since an output may be an input.
template <elementwise what, class T, class Vectors>
HWY_INLINE void run(const three_factors<number_of<T>>& factor, const T* x, const T* y, T* z,
                    std::size_t n, const Vectors& vectors) {
  using R = number_of<T>;
  constexpr std::size_t w = width<R>;
  if constexpr (!detail::is_binary(what)) y = x;
  if (n < w) {
    if (n > 0) run_few<T, vector_function<what, R>>(factor, x, y, z, n);
    return;
  }
  const vector_function<what, R> f(factor);
  const std::size_t head = -(reinterpret_cast<std::uintptr_t>(z) / sizeof(T)) % w;
  const std::size_t last = n - w;
  const auto whole = [](const T* p) HWY_ATTR { return load<R>(p); };
  const auto first_vector = computed(f, x, y, z, whole);
  const auto last_vector = computed(f, x + last, y + last, z + last, whole);
  vectors(f, x + head, y + head, z + head, n - head);
  if (head > 0) put<false, T, R>(first_vector, z);
  if ((n - head) % w > 0) put<false, T, R>(last_vector, z + last);
}

template <elementwise what, class T>
void run(const three_factors<number_of<T>>& factor, const T* x, const T* y, T* z, std::size_t n) {
  run<what>(factor, x, y, z, n,
            [](const auto& f, const T* x1, const T* y1, T* z1, std::size_t n1)
                HWY_ATTR { run_vectors<false>(f, x1, y1, z1, n1); });
}

/// Calls f(first, count) for all of n elements, or for parts of four streams in turn: a prefetcher
/// begins anew with each page (tuning/elementwise.md: in_turns).
template <class F>
HWY_INLINE void in_turns(std::size_t n, std::size_t size, bool in_streams, const F& f) {
  const std::size_t some = 512 / size, apart = (std::size_t{64} << 10) / size;
  for (std::size_t i = 0; i < n;) {
    const bool turns = in_streams && n - i >= 4 * apart;
    const std::size_t count = turns ? some : n - i, parts = turns ? 4 * apart / some : 1;
    for (std::size_t k = 0; k < parts; ++k) f(i + k % 4 * apart + k / 4 * some, count);
    i += parts * count;
  }
}

/// The same through memory.
template <bool past_caches, elementwise what, class T>
HWY_NOINLINE void run_in_memory(const three_factors<number_of<T>>& factor, const T* x, const T* y,
                                T* z, std::size_t n, bool in_streams) {
  run<what>(factor, x, y, z, n,
            [in_streams](const auto& f, const T* x1, const T* y1, T* z1, std::size_t n1) HWY_ATTR {
              in_turns(n1, sizeof(T), in_streams, [&](std::size_t i, std::size_t count) HWY_ATTR {
                run_vectors<past_caches>(f, x1 + i, y1 + i, z1 + i, count);
              });
            });
  if (past_caches) hwy::FlushStream();
}

// --- Several vectors -----------------------------------------------------------------------------

template <std::size_t rows, class R>
HWY_INLINE void add_rows(const R* const* x, const R* factors, R beta, bool reads_y, R* y,
                         std::size_t n) {
  constexpr tag<R> d;
  constexpr std::size_t w = width<R>;
  const auto sum = [&](std::size_t i, const auto& load) HWY_ATTR {
    // -0 changes no number when added.
    auto v = reads_y ? hn::Mul(hn::Set(d, beta), load(y + i)) : hn::Set(d, -R{0});
    for (std::size_t r = 0; r < rows; ++r) {
      v = hn::Add(hn::Mul(hn::Set(d, factors[r]), load(x[r] + i)), v);
    }
    return vector_arithmetic<R>::known(v);
  };
  std::size_t i = 0;
  for (; i + w <= n; i += w) {
    hn::StoreU(sum(i, [](const R* p) HWY_ATTR { return load<R>(p); }), d, y + i);
  }
  if (i < n) {
    const std::size_t left = n - i;
    put_first<R, R>(sum(i, [left](const R* p) HWY_ATTR { return load_first<R>(p, left); }), y + i,
                    left);
  }
}

template <class R>
HWY_NOINLINE void add_rows(const rows_update& u, std::size_t first, std::size_t n) {
  const R* x[rows_update::max_rows];
  R factors[rows_update::max_rows];
  for (std::size_t r = 0; r < u.rows; ++r) {
    x[r] = static_cast<const R*>(u.x[r]) + first;
    factors[r] = static_cast<R>(u.factors[r]);
  }
  R* const y = static_cast<R*>(u.y) + first;
  auto beta = static_cast<R>(u.beta);
  bool reads_y = u.reads_y;
  std::size_t r = 0;
  const auto add = [&]<std::size_t rows>(std::integral_constant<std::size_t, rows>) HWY_ATTR {
    if (u.rows - r < rows) return;
    add_rows<rows>(x + r, factors + r, beta, reads_y, y, n);
    r += rows, beta = 1, reads_y = true;
  };
  add(std::integral_constant<std::size_t, 8>());
  add(std::integral_constant<std::size_t, 4>());
  add(std::integral_constant<std::size_t, 2>());
  add(std::integral_constant<std::size_t, 1>());
}

void add_rows(type element, const rows_update& u, std::size_t first, std::size_t n) {
  element == type::float32 ? add_rows<float>(u, first, n) : add_rows<double>(u, first, n);
}

// --- Integers and complex numbers ----------------------------------------------------------------

/// Vectorized by the compiler, though an output may be an input. Not inlined: integers and blocks
/// share it.
template <elementwise what, class T>
HWY_NOINLINE void run_in_loop(const three_factors<T> f, const T* x, const T* y, T* z,
                              std::size_t n) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (detail::reads_output(what)) {
      z[i] = function<what>(f, x[i], y[i], z[i]);
    } else {
      z[i] = function<what>(f, x[i], y[i]);
    }
  }
}

/// Integers in their own width, modulo 2^bits.
template <elementwise what, class T>
void run_integers(const three_factors<std::int64_t>& f, const T* x, const T* y, T* z,
                  std::size_t n) {
  using U = std::conditional_t<detail::depends_on_sign(what), T, std::make_unsigned_t<T>>;
  const auto factor = [](std::int64_t of_any) { return static_cast<U>(of_any); };
  run_in_loop<what, U>({{factor(f.alpha), factor(f.beta)}, factor(f.gamma)},
                       reinterpret_cast<const U*>(x), reinterpret_cast<const U*>(y),
                       reinterpret_cast<U*>(z), n);
}

// --- All of them ---------------------------------------------------------------------------------

template <class T>
void run_contiguous(const transform_arguments& a, memory_use use) {
  const auto* const x = static_cast<const T*>(a.x.data);
  // x again where there is one input: every function is passed an element of y.
  const auto* const y = a.y.data != nullptr ? static_cast<const T*>(a.y.data) : x;
  auto* const z = static_cast<T*>(a.z.data);
  if constexpr (std::is_integral_v<T>) {
    const auto f = three_factors<std::int64_t>::of<std::int64_t>(a);
    with_function<std::int64_t, true>(a.what, [&]<elementwise what>() HWY_ATTR {
      if constexpr (what != elementwise::copy) run_integers<what>(f, x, y, z, a.x.size);
    });
  } else {
    using R = number_of<T>;
    const auto f = three_factors<R>::template of<R>(a);
    with_function<R, true>(a.what, [&]<elementwise what>() HWY_ATTR {
      if constexpr (what != elementwise::copy) {
        if (use.past_caches) {
          return run_in_memory<true, what>(f, x, y, z, a.x.size, use.in_streams);
        }
        if constexpr (is_avx512) {  // only with fast gathers are there streams
          if (use.in_streams) return run_in_memory<false, what>(f, x, y, z, a.x.size, true);
        }
        run<what>(f, x, y, z, a.x.size);
      }
    });
  }
}

template <elementwise what, class C>
void run_blocks(const transform_arguments& a) {
  using V = computed_t<C>;
  const auto f = three_factors<V>::template of<C>(a);
  block<C> x, y, z;
  for (std::size_t i = 0; i < a.x.size; i += elements_of_block) {
    const std::size_t n = std::min(elements_of_block, a.x.size - i);
    fetch<C>(a.x.slice(i, n), x);
    if constexpr (detail::is_binary(what)) fetch<C>(a.y.slice(i, n), y);
    V* to = x;
    if constexpr (detail::reads_output(what)) fetch<C>(a.z.slice(i, n), z), to = z;
    const V* const second = detail::is_binary(what) ? y : x;
    if constexpr (std::is_floating_point_v<C>) {
      run<what, C>(f, x, second, to, n);
    } else {
      run_in_loop<what>(f, x, second, to, n);
    }
    store<C>(detail::reads_output(what) ? z : x, a.z.slice(i, n));
  }
}

void copy_booleans(const bool8* x, bool8* z, std::size_t n) {
  constexpr tag<std::uint8_t> d;
  std::size_t i = 0;
  for (; i + width<std::uint8_t> <= n; i += width<std::uint8_t>) {
    hn::StoreU(load<std::uint8_t>(x + i), d, &z[i].byte);
  }
  for (; i < n; ++i) z[i] = copied(x[i]);
}

void copy(const operand& x, const output_operand& z, memory_use use) {
  if (x.increment != 1 || z.increment != 1) return copy_bits(x, z);
  if (x.element == type::boolean) {
    return copy_booleans(static_cast<const bool8*>(x.data), static_cast<bool8*>(z.data), x.size);
  }
  const auto* from = static_cast<const std::uint8_t*>(x.data);
  auto* to = static_cast<std::uint8_t*>(z.data);
  std::size_t n = x.size * size_of(x.element);
  if (use.past_caches) {
    constexpr tag<std::uint8_t> d;
    constexpr std::size_t bytes = hn::MaxLanes(d);
    const std::size_t head = std::min(n, -reinterpret_cast<std::uintptr_t>(to) % bytes);
    std::memcpy(to, from, head);
    from += head, to += head, n -= head;
    const std::size_t whole = n / bytes * bytes;
    in_turns(whole, 1, use.in_streams, [&](std::size_t first, std::size_t count) HWY_ATTR {
      for (std::size_t i = first; i < first + count; i += bytes) {
        hn::Stream(hn::LoadU(d, from + i), d, to + i);
      }
    });
    hwy::FlushStream();
    from += whole, to += whole, n -= whole;
  }
  std::memmove(to, from, n);
}

void node(const transform_arguments& a, type computation, memory_use use) {
  if (copies_bits(a)) return copy(a.x, a.z, use);
  if (is_uniform(a, computation) && is_in<number_types>(a.x.element)) {
    return with_type<number_types>(a.x.element,
                                   [&]<class T>() HWY_ATTR { run_contiguous<T>(a, use); });
  }
  with_type<accumulator_types>(computation, [&]<class C>() HWY_ATTR {
    with_function<computed_t<C>, true>(
        a.what, [&]<elementwise what>() HWY_ATTR { run_blocks<what, C>(a); });
  });
}

// --- fill and swap, in bytes ---------------------------------------------------------------------

void fill(const element_bytes& value, const output_operand& z, bool past_caches) {
  constexpr tag<std::uint8_t> bytes;
  constexpr std::size_t width = hn::MaxLanes(bytes);
  // Scalar targets have vectors of one byte.
  if (z.increment != 1 || width < sizeof value) return fill_bits(value, z);
  const std::size_t size = size_of(z.element);
  std::uint8_t pattern[2 * width];
  for (std::size_t i = 0; i < sizeof pattern; ++i) {
    pattern[i] = static_cast<std::uint8_t>(value.bytes[i % size]);
  }
  auto* to = static_cast<std::uint8_t*>(z.data);
  std::size_t n = z.size * size;
  // Vectors are aligned, so may start inside an element.
  const std::size_t head = std::min(n, -reinterpret_cast<std::uintptr_t>(to) % width);
  std::memcpy(to, pattern, head);
  to += head, n -= head;
  const auto v = hn::LoadU(bytes, pattern + head);
  std::uint8_t* const end = to + n / width * width;
  if (past_caches) {
    for (; to < end; to += width) hn::Stream(v, bytes, to);
    hwy::FlushStream();
  } else {
    for (; to < end; to += width) hn::Store(v, bytes, to);
  }
  std::memcpy(to, pattern + head, n % width);
}

template <class T>
void swap_numbers(T* x, T* y, std::size_t n) {
  constexpr tag<T> d;
  constexpr std::size_t w = hn::MaxLanes(d);
  if (n < w) {
    for_each_piece<w / 2>(
        n, [&]<std::size_t count>(std::integral_constant<std::size_t, count>) HWY_ATTR {
          constexpr hn::CappedTag<T, count> piece;
          const auto held = hn::LoadU(piece, x);
          hn::StoreU(hn::LoadU(piece, y), piece, x);
          hn::StoreU(held, piece, y);
          x += count, y += count;
        });
    return;
  }
  const auto last_x = hn::LoadU(d, x + n - w), last_y = hn::LoadU(d, y + n - w);
  // Unrolled: the speed of so short a loop depends on where the linker puts it.
#pragma GCC unroll 4
  for (std::size_t i = 0; i + w < n; i += w) {
    const auto held = hn::LoadU(d, x + i);
    hn::StoreU(hn::LoadU(d, y + i), d, x + i);
    hn::StoreU(held, d, y + i);
  }
  hn::StoreU(last_y, d, x + n - w);
  hn::StoreU(last_x, d, y + n - w);
}

void swap(const output_operand& x, const output_operand& y) {
  if (x.increment != 1 || y.increment != 1) return swap_bits(x, y);
  swap_numbers(static_cast<std::uint8_t*>(x.data), static_cast<std::uint8_t*>(y.data),
               x.size * size_of(x.element));
}

// --- Level one -----------------------------------------------------------------------------------

template <class T>
void fill_numbers(T value, T* z, std::size_t n) {
  constexpr std::size_t w = width<T>;
  const auto v = vector_arithmetic<T>::known(hn::Set(tag<T>(), value));
  if (n < w) return put_first<T, T>(v, z, n);
  for (std::size_t i = 0; i + w < n; i += w) put<false, T, T>(v, z + i);
  put<false, T, T>(v, z + n - w);
}

/// A function by those that have loops (as by `reduced` in src/operations/transform.cpp).
template <elementwise what, class T>
void run_reduced(three_factors<T> f, const T* x, const T* y, T* z, std::size_t n) {
  if constexpr (what == elementwise::fill) {
    fill_numbers(f.alpha, z, n);
  } else if constexpr (what == elementwise::scale) {
    run<elementwise::scal>(f, x, x, z, n);
  } else if constexpr (what == elementwise::add) {
    f.alpha = 1;
    run<elementwise::axpy>(f, x, y, z, n);
  } else if constexpr (what == elementwise::sub) {
    f.alpha = -1;
    run<elementwise::axpy>(f, y, x, z, n);
  } else if constexpr (what == elementwise::waxpby) {
    run<elementwise::axpby>(f, x, y, z, n);
  } else if constexpr (what == elementwise::mul) {
    f.alpha = 1;
    run<elementwise::mul>(f, x, y, z, n);
  } else if (what == elementwise::axpby && f.beta == 0) {
    run<elementwise::scal>(f, x, x, z, n);
  } else if (what == elementwise::axpbypcz && f.gamma == 0) {
    run<elementwise::axpby>(f, x, y, z, n);
  } else if (what == elementwise::axypbz && f.beta == 0) {
    run<elementwise::mul>(f, x, y, z, n);
  } else {
    run<what>(f, x, y, z, n);
  }
}

#if HWY_TARGET == HWY_AVX3

/// axpy and scal of at most this many bytes a vector, rounded statically (tuning/short_calls.md:
/// bytes_of_few). The others' vectors are aligned.
constexpr std::size_t bytes_of_few = 1024;

template <elementwise what, class T>
struct static_update {
  vec<T> factor;

  HWY_INLINE statically_rounded<T> operator()(vec<T> x, [[maybe_unused]] vec<T> y) const {
    const statically_rounded<T> product = multiply_to_nearest()(factor, x);
    if constexpr (what == elementwise::scal) return product;
    return added(product, statically_rounded<T>{y});
  }
};

template <elementwise what, class T>
HWY_NOINLINE void update_few(T alpha, const T* x, const T* y, T* z, std::size_t n) {
  constexpr tag<T> d;
  constexpr std::size_t w = width<T>;
  const static_update<what, T> updated{hn::Set(d, alpha)};
  const auto at = [&](std::size_t i)
                      HWY_ATTR { return updated(hn::LoadU(d, x + i), hn::LoadU(d, y + i)); };
  std::size_t i = 0;
  for (; i + 4 * w <= n; i += 4 * w) {
    auto p = at(i), q = at(i + w), r = at(i + 2 * w), s = at(i + 3 * w);
    if (!are_known(p, q, r, s)) [[unlikely]] {
      p = {known(p)}, q = {known(q)}, r = {known(r)}, s = {known(s)};
    }
    hn::StoreU(p.v, d, z + i);
    hn::StoreU(q.v, d, z + i + w);
    hn::StoreU(r.v, d, z + i + 2 * w);
    hn::StoreU(s.v, d, z + i + 3 * w);
  }
  for (; i + w <= n; i += w) hn::StoreU(known(at(i)), d, z + i);
  for_each_piece<w / 2>(
      n, [&]<std::size_t count>(std::integral_constant<std::size_t, count>) HWY_ATTR {
        const auto v = updated(load_piece<count>(x + i), load_piece<count>(y + i));
        store_piece<count>(d, known(v), z + i);
        i += count;
      });
}

/// Groups of an aligned z are stored, then checked for NaN (tuning/short_calls.md: update_aligned).
template <elementwise what, class T>
HWY_NOINLINE void update_aligned(T alpha, const T* x, const T* y, T* z, std::size_t n) {
  constexpr tag<T> d;
  constexpr std::size_t w = width<T>, group = 16 * w;
  const static_update<what, T> updated{hn::Set(d, alpha)};
  hn::Mask<tag<T>> are_known;
  const auto update_pair = [&](std::size_t i) HWY_ATTR {
    const auto p = updated(hn::LoadU(d, x + i), hn::LoadU(d, y + i));
    hn::Store(p.v, d, z + i);
    const auto q = updated(hn::LoadU(d, x + i + w), hn::LoadU(d, y + i + w));
    hn::Store(q.v, d, z + i + w);
    are_known = ordered(are_known, p, q);
  };
  const auto update_group = [&]<std::size_t... k>(std::index_sequence<k...>, std::size_t i)
                                HWY_ATTR { (update_pair(i + 2 * k * w), ...); };
  std::size_t i = 0;
  for (; i + group <= n; i += group) {
    are_known = {static_cast<decltype(are_known.raw)>(-1)};
    update_group(std::make_index_sequence<8>(), i);
    if (hn::AllTrue(d, are_known)) [[likely]]
      continue;
    for (std::size_t j = i; j < i + group; j += w) {
      hn::Store(known(statically_rounded<T>{hn::Load(d, z + j)}), d, z + j);
    }
  }
  update_few<what>(alpha, x + i, y + i, z + i, n - i);
}

/// Leaves its arguments where they are: no frame.
template <bool takes_aligned, elementwise what, class T>
void short_or_long_update(T alpha, T beta, T gamma, const T* x, const T* y, const T* w, T* z,
                          std::size_t n) {
  if (n <= bytes_of_few / sizeof(T)) [[likely]] {
    if (keeps_subnormals()) return update_few<what>(alpha, x, y, z, n);
  } else if (takes_aligned && reinterpret_cast<std::uintptr_t>(z) % sizeof(vec<T>) == 0 &&
             keeps_subnormals()) {
    return update_aligned<what>(alpha, x, y, z, n);
  }
  longer_update<T, what>(alpha, beta, gamma, x, y, w, z, n);
}

#endif

/// Replaces some of another set.
void add_short_updates([[maybe_unused]] detail::level_one_kernels& to) {
#if HWY_TARGET == HWY_AVX3
  const auto add = []<class T, elementwise what>(detail::level_one<T>& kernels,
                                                 std::integral_constant<elementwise, what>) {
    auto& kernel = kernels.transform[static_cast<std::size_t>(what)];
    longer_update<T, what> =
        std::exchange(kernel, reads_control_slowly() ? &short_or_long_update<false, what, T>
                                                     : &short_or_long_update<true, what, T>);
  };
  using axpy = std::integral_constant<elementwise, elementwise::axpy>;
  using scal = std::integral_constant<elementwise, elementwise::scal>;
  add(static_cast<detail::level_one<float>&>(to), axpy());
  add(static_cast<detail::level_one<float>&>(to), scal());
  add(static_cast<detail::level_one<double>&>(to), axpy());
  add(static_cast<detail::level_one<double>&>(to), scal());
#endif
}

template <elementwise what>
void add_level_one(detail::level_one_kernels& to) {
  const auto add = []<class T>(detail::level_one<T>& kernels) {
    kernels.transform[static_cast<std::size_t>(what)] =
        [](T alpha, T beta, T gamma, const T* x, const T* y, const T*, T* z, std::size_t n) {
          const default_environment environment;
          run_reduced<what, T>({{alpha, beta}, gamma}, x, y, z, n);
        };
  };
  add.template operator()<float>(to);
  add.template operator()<double>(to);
}

template <elementwise... what>
void add_all(detail::level_one_kernels& to) {
  static_cast<detail::level_one<float>&>(to).swap = &swap_numbers<float>;
  static_cast<detail::level_one<double>&>(to).swap = &swap_numbers<double>;
  (add_level_one<what>(to), ...);
}

}  // namespace

constexpr implementation this_target = {
    set_of(HWY_TARGET),
    &node,
    &add_rows,
    &fill,
    &swap,
    &add_short_updates,
    &add_all<elementwise::fill, elementwise::scal, elementwise::scale, elementwise::axpy,
             elementwise::axpby, elementwise::waxpby, elementwise::add, elementwise::sub,
             elementwise::mul, elementwise::axpbypcz, elementwise::axypbz, elementwise::relu>,
    &add_all<elementwise::sigmoid, elementwise::exp>};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {
transform_node* transform_node_of(instruction_set set) {
  if (auto* const node = scalable::transform_node_of(set)) return node;
  return implementation_of(set).node;
}

fill_node* fill_node_of(instruction_set set) { return implementation_of(set).fill; }
swap_node* swap_node_of(instruction_set set) { return implementation_of(set).swap; }

transform_node* transform_node_of(const executor& where, const transform_arguments& a) {
  const elementwise what = a.what;
  if (what == elementwise::log || what == elementwise::tanh) {
    return short_node_of(for_arithmetic(where));
  }
  if (detail::is_short(what)) {
    constexpr std::size_t up_to_bytes = std::size_t{512} << 10;
    return short_node_of(for_cached(where, a.z.size * size_of(a.z.element), up_to_bytes));
  }
  return transform_node_of(detail::is_exponential(what) ? for_arithmetic(where)
                                                        : where.instructions());
}

memory_use memory_use_of(const transform_arguments& a) {
  const auto bytes_of = [](const operand& v) { return v.size * size_of(v.element); };
  if (bytes_of(a.x) + bytes_of(a.y) + bytes_of(a.w) + bytes_of(a.z) < past_caches_from) return {};
  const bool in_place = a.z.data == a.x.data || a.z.data == a.y.data || a.z.data == a.w.data ||
                        detail::reads_output(a.what);
  return {!in_place, reads_in_streams()};
}

bool goes_past_caches(const output_operand& z) {
  return z.size * size_of(z.element) >= past_caches_from;
}

void add_updates(instruction_set set, detail::level_one_kernels& to) {
  implementation_of(resolve(set)).add_updates(to);
  implementation_of(widest(set)).add_exponentials(to);
  if (set == instruction_set::best) implementation_of(widest(set)).add_short_updates(to);
}

void backend::transform(const executor& where, const transform_arguments& a,
                        type computation) const {
  if (!has_vectors(a.what, computation)) return serial::backend::transform(where, a, computation);
  transform_node_of(where, a)(a, computation, memory_use_of(a));
}

namespace {

/// Whether vectors of float or double are contiguous, of one type and computed in it.
bool are_rows(const multi_axpy_arguments& a, type computation) {
  const type element = a.y.element;
  if (element != computation || !is_in<type_list<float, double>>(element) || a.y.increment != 1 ||
      a.x.element() != element) {
    return false;
  }
  for (std::size_t j = 0; j < a.x.size(); ++j) {
    if (a.x[j].increment != 1) return false;
  }
  return true;
}

/// Returns the update by vectors from j on.
rows_update update_from(const multi_axpy_arguments& a, std::size_t j) {
  const bool begins = j == 0;
  rows_update u{std::min(rows_update::max_rows, a.x.size() - j),
                {},
                {},
                begins ? a.beta.as<double>() : 1,
                !begins || !a.beta.is_zero(),
                a.y.data};
  for (std::size_t r = 0; r < u.rows; ++r) {
    u.x[r] = a.x[j + r].data;
    const scalar factor = factor_at(a.alpha, j + r);
    u.factors[r] = a.y.element == type::float32 ? double{factor.as<float>()} : factor.as<double>();
  }
  if (a.y.element == type::float32 && begins) u.beta = double{a.beta.as<float>()};
  return u;
}

}  // namespace

void update_tiles(const executor& where, const multi_axpy_arguments& a, type computation,
                  std::size_t first, std::size_t n) {
  const implementation& chosen = implementation_of(where.instructions());
  const bool rows = are_rows(a, computation);
  for (const std::size_t end = first + n; first < end; first += elements_of_update) {
    const std::size_t tile = std::min(elements_of_update, end - first);
    for (std::size_t j = 0; j < a.x.size(); j += rows ? rows_update::max_rows : 1) {
      if (rows) {
        chosen.rows(a.y.element, update_from(a, j), first, tile);
      } else {
        chosen.node(step_of(a, j, first, tile), computation, {});
      }
    }
  }
}

void backend::multi_axpy(const executor& where, const multi_axpy_arguments& a, type computation,
                         bool) const {
  update_tiles(where, a, computation, 0, a.y.size);
}

void backend::fill(const executor& where, const element_bytes& value,
                   const output_operand& z) const {
  fill_node_of(where.instructions())(value, z, goes_past_caches(z));
}

void backend::swap(const executor& where, const output_operand& x, const output_operand& y) const {
  swap_node_of(where.instructions())(x, y);
}

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
