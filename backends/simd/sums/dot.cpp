// dot on one thread. foreach_target compiles this source once per instruction set, in a namespace
// each; the executor selects one when made.
//
// Contiguous operands that convert to the accumulator in registers, or are complex of its type, are
// summed in place (`sum_in_place`). Others are gathered, converted and split into re and im chunk
// by chunk, in buffers that fit the first-level cache (`sum_packed`): 66 pairs of types share the
// code of five accumulators.
#include "backends/simd/sums/dot.hpp"
#include "backends/simd/level_one.hpp"
#include "backends/simd/simd.hpp"

#include "backends/common/floating_point_environment.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/simd/scalable/scalable.hpp"
#include "backends/simd/sums/byte_products.hpp"
#include "backends/simd/vectors/instruction_set.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#ifndef TALLY_BACKENDS_SIMD_DOT_CPP  // once per target
#define TALLY_BACKENDS_SIMD_DOT_CPP
namespace tally::backends::simd {
namespace {

template <class... A>
constexpr std::tuple<const pair_table<dot_node<A>>*...> node_tables(type_list<A...>);

template <class W>
using row_dots = void(rows_of<W> x, rows_of<W> y, std::size_t n, std::size_t count, W* results);

struct implementation {
  instruction_set set;
  void (*add_level_one)(detail::level_one_kernels& to);
  std::tuple<row_dots<double>*, row_dots<float>*> rows;
  decltype(node_tables(accumulator_types{})) nodes;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/sums/dot.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/sums/kernel-inl.hpp"
#include "backends/simd/vectors/static_rounding-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

struct multiply {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Mul(a, b);
  }
};

/// Terms x_i * y_i. Each product is rounded (no FMA).
template <class W, class X, class Y, class Multiply = multiply>
struct products {
  using number = W;
  using sum = W;
  static constexpr std::size_t parts = 1;
  static constexpr bool can_align =
      has_masked_loads && std::is_same_v<W, X> && std::is_same_v<W, Y>;
  const X* x;
  const Y* y;

  HWY_INLINE auto at(std::size_t i) const { return Multiply()(load<W>(x + i), load<W>(y + i)); }
  HWY_INLINE auto first(std::size_t i, std::size_t count) const {
    return Multiply()(load_first<W>(x + i, count), load_first<W>(y + i, count));
  }
  HWY_INLINE products from(std::size_t i) const { return {x + i, y + i}; }
  HWY_INLINE const W* address() const { return x; }
  template <class Mask>
  HWY_INLINE auto masked(Mask m, std::ptrdiff_t i) const {
    return Multiply()(hn::MaskedLoad(m, tag<W>(), x + i), hn::MaskedLoad(m, tag<W>(), y + i));
  }
};

/// Products of complex numbers as pairs of numbers: x * y alternates re * re and im * im; x * y
/// with swapped parts, re * im and im * re.
template <class W>
struct complex_products {
  using number = W;
  using sum = dot_sum<std::complex<W>>;
  static constexpr std::size_t parts = 2;
  static constexpr bool can_align = has_masked_loads;
  const W* x;
  const W* y;

  static HWY_INLINE two_vectors<vec<W>> of(vec<W> a, vec<W> b) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
    // GCC 12 would reload the operands for each product (tuning/dot.md: complex_products).
    asm("" : "+v"(a.raw), "+v"(b.raw));
#endif
    return {hn::Mul(a, b), hn::Mul(a, swapped(b))};
  }
  static HWY_INLINE vec<W> swapped(vec<W> v) {
#if HWY_TARGET != HWY_SCALAR  // no pairs
    v = hn::Reverse2(tag<W>(), v);
#endif
    return v;
  }
  HWY_INLINE auto at(std::size_t i) const { return of(load<W>(x + i), load<W>(y + i)); }
  HWY_INLINE auto first(std::size_t i, std::size_t count) const {
    return of(load_first<W>(x + i, count), load_first<W>(y + i, count));
  }
  HWY_INLINE complex_products from(std::size_t i) const { return {x + i, y + i}; }
  HWY_INLINE const W* address() const { return x; }
  template <class Mask>
  HWY_INLINE auto masked(Mask m, std::ptrdiff_t i) const {
    return of(hn::MaskedLoad(m, tag<W>(), x + i), hn::MaskedLoad(m, tag<W>(), y + i));
  }
};

// --- Contiguous operands -------------------------------------------------------------------------

#if HWY_TARGET != HWY_SCALAR  // vectors of one number

/// Products of bfloat16 numbers in pairs, the halves of 32-bit words: a shift and a mask make two
/// vectors of floats, each of every other lane of the order; they meet in the last fold. Fewer
/// instructions than a conversion.
struct products_of_pairs {
  using number = float;
  using sum = float;
  // unused by the least instruction sets
  [[maybe_unused]] static constexpr std::size_t parts = 1, step = 2 * width<float>;
  [[maybe_unused]] static constexpr bool can_align = has_masked_loads;
  const bfloat16* x;
  const bfloat16* y;

  using words = hn::RebindToUnsigned<tag<float>>;
  using halves = hn::Repartition<std::uint16_t, words>;
  using pairs = hn::Vec<halves>;

  static HWY_INLINE vec<float> first_of(pairs v) {
    return hn::BitCast(tag<float>(), hn::ShiftLeft<16>(hn::BitCast(words(), v)));
  }
  static HWY_INLINE vec<float> second_of(pairs v) {
    return hn::BitCast(tag<float>(),
                       hn::And(hn::BitCast(words(), v), hn::Set(words(), 0xffff0000u)));
  }
  static HWY_INLINE two_vectors<vec<float>> of(pairs a, pairs b) {
    return {hn::Mul(first_of(a), first_of(b)), hn::Mul(second_of(a), second_of(b))};
  }
  HWY_INLINE auto at(std::size_t i) const {
    return of(hn::LoadU(halves(), bits_of(x + i)), hn::LoadU(halves(), bits_of(y + i)));
  }
  HWY_INLINE auto first(std::size_t i, std::size_t count) const {
    return of(load_first_narrow(halves(), bits_of(x + i), count),
              load_first_narrow(halves(), bits_of(y + i), count));
  }
  HWY_INLINE products_of_pairs from(std::size_t i) const { return {x + i, y + i}; }
  HWY_INLINE const bfloat16* address() const { return x; }
  template <class Mask>
  HWY_INLINE auto masked(Mask m, std::ptrdiff_t i) const {
    const auto load = [&](const bfloat16* p) HWY_ATTR {
      const auto* const words_of_pairs = reinterpret_cast<const float*>(p + i);
      return hn::BitCast(halves(), hn::MaskedLoad(m, tag<float>(), words_of_pairs));
    };
    return of(load(x), load(y));
  }
};

template <class X>
constexpr bool is_byte = std::is_integral_v<X> && sizeof(X) == 1;

/// Sums products of bytes. Pairs of products, at most 2 * 255^2, fit a 32-bit lane 2^14 times.
template <class X, class Y>
HWY_INLINE std::uint64_t sum_bytes(const X* x, const Y* y, std::size_t n) {
  constexpr tag<std::int64_t> d;
  constexpr hn::Repartition<std::int16_t, tag<std::int64_t>> d16;
  constexpr hn::Repartition<std::int32_t, tag<std::int64_t>> d32;
  constexpr std::size_t width16 = hn::MaxLanes(d16), sets = 4, step = sets * width16;
  using sums = hn::Vec<decltype(d32)>;
  auto all = hn::Zero(d);
  const auto of_bytes = [&]<class B>(const B* p) HWY_ATTR {
    return hn::PromoteTo(d16, hn::LoadU(hn::Rebind<B, decltype(d16)>(), p));
  };
  const auto of_first = [&]<class B>(const B* p, std::size_t count) HWY_ATTR {
    return hn::PromoteTo(d16, load_first_narrow(hn::Rebind<B, decltype(d16)>(), p, count));
  };
  const auto add = [&](std::size_t at, sums& of_pairs, sums& others) HWY_ATTR {
    of_pairs =
        hn::ReorderWidenMulAccumulate(d32, of_bytes(x + at), of_bytes(y + at), of_pairs, others);
  };
  const auto collect = [&](const sums& some) HWY_ATTR {
    const auto pairs = hn::BitCast(d, some);
    all = hn::Add(all,
                  hn::Add(hn::ShiftRight<32>(pairs), hn::ShiftRight<32>(hn::ShiftLeft<32>(pairs))));
  };
  std::size_t i = 0;
  while (i + step <= n) {
    const std::size_t end = i + std::min<std::size_t>((n - i) / step, 1 << 14) * step;
    sums of_pairs[sets], others[sets];
    for (std::size_t k = 0; k < sets; ++k) of_pairs[k] = others[k] = hn::Zero(d32);
    for (; i < end; i += step) {
#pragma GCC unroll 4
      for (std::size_t k = 0; k < sets; ++k) add(i + k * width16, of_pairs[k], others[k]);
    }
    for (std::size_t k = 0; k < sets; ++k) {
      collect(of_pairs[k]);
      collect(others[k]);
    }
  }
  sums of_pairs = hn::Zero(d32), others = of_pairs;
  for (; i + width16 <= n; i += width16) add(i, of_pairs, others);
  if (i < n) {
    of_pairs = hn::ReorderWidenMulAccumulate(d32, of_first(x + i, n - i), of_first(y + i, n - i),
                                             of_pairs, others);
  }
  collect(of_pairs);
  collect(others);
  return fold_vector<std::uint64_t>(tag<std::uint64_t>(), hn::BitCast(tag<std::uint64_t>(), all));
}

#endif

/// Sums integers, exactly modulo 2^64, so in any order. Products of even and odd elements of up to
/// 32 bits are 64 bits wide.
template <class X, class Y>
std::uint64_t sum_integers(const X* x, const Y* y, std::size_t n) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (is_byte<X> && is_byte<Y>) {
    if (is_avx512 && adds_byte_products_by_fours()) {
      return static_cast<std::uint64_t>(sum_of_byte_products(x, y, n));
    }
    return sum_bytes(x, y, n);
  }
#endif
  constexpr bool narrow = sizeof(X) <= 4 && sizeof(Y) <= 4;
  using W = std::conditional_t<narrow, std::int32_t, std::uint64_t>;
  const tag<std::uint64_t> d;
  std::size_t i = 0;
  std::uint64_t sum = 0;
  if constexpr (hn::MaxLanes(d) > 1) {
    auto even = hn::Zero(d), odd = hn::Zero(d);
    for (; i + width<W> <= n; i += width<W>) {
      if constexpr (narrow) {
        const tag<W> d32;
        const auto a = load32(d32, x + i), b = load32(d32, y + i);
        const auto high = [&](vec<W> v) HWY_ATTR {
          return hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d, v)));
        };
        even = hn::Add(even, hn::BitCast(d, hn::MulEven(a, b)));
        odd = hn::Add(odd, hn::BitCast(d, hn::MulEven(high(a), high(b))));
      } else {  // the low half of a product, from three products of halves
        const hn::Repartition<std::uint32_t, tag<W>> halves;
        const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, y + i);
        const auto low = [&](vec<W> v) HWY_ATTR { return hn::BitCast(halves, v); };
        const auto high = [&](vec<W> v)
                              HWY_ATTR { return hn::BitCast(halves, hn::ShiftRight<32>(v)); };
        const auto crossed = hn::Add(hn::MulEven(high(a), low(b)), hn::MulEven(low(a), high(b)));
        even = hn::Add(even, hn::MulEven(low(a), low(b)));
        odd = hn::Add(odd, hn::ShiftLeft<32>(crossed));
      }
    }
    sum += fold_vector<std::uint64_t>(d, hn::Add(even, odd));
  }
  for (; i < n; ++i) {
    sum += static_cast<std::uint64_t>(x[i]) * static_cast<std::uint64_t>(y[i]);
  }
  return sum;
}

struct both_true {
  const bool8 *x, *y;
  bool operator()(std::size_t i) const { return x[i] && y[i]; }
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(std::size_t i, D d) const {
    return hn::Min(hn::LoadU(d, &x[i].byte), hn::LoadU(d, &y[i].byte));
  }
};

template <class R, class X, class Y>
struct terms_of : std::type_identity<products<R, X, Y>> {};
#if HWY_TARGET != HWY_SCALAR
template <class R>
struct terms_of<R, bfloat16, bfloat16>
    : std::conditional<in_registers<R>, products_of_pairs, products<R, bfloat16, bfloat16>> {};
#endif

template <class R, class X, class Y>
HWY_INLINE R sum_contiguous(const X* x, const Y* y, std::size_t n) {
  if constexpr (std::is_same_v<X, bool8> && std::is_same_v<Y, bool8>) {
    return static_cast<R>(count_true(n, both_true{x, y}));
  } else if constexpr (std::is_integral_v<R>) {
    return static_cast<R>(sum_integers(x, y, n));
  } else {
    return sum_node(typename terms_of<R, X, Y>::type{x, y}, n);
  }
}

// --- All other operands --------------------------------------------------------------------------

/// A chunk's elements in the accumulator's real type; `im` is null for real ones.
template <class W>
struct parts {
  const W* re;
  const W* im;
};

template <class W>
struct buffers {
  HWY_ALIGN W re[order::chunk];
  HWY_ALIGN W im[order::chunk];
};

/// Converts n contiguous elements to buffers from element `at` on; splits complex ones.
template <class W, class X>
void convert(const void* from, std::size_t n, buffers<W>& to, std::size_t at) {
  if constexpr (is_complex_v<X>) {
    constexpr tag<W> d;
    using T = real_t<X>;
    const T* const p = static_cast<const T*>(from);  // re and im alternate
    W *const re = to.re + at, *const im = to.im + at;
    std::size_t i = 0;
    if constexpr (std::is_same_v<T, W>) {
      for (; i + width<W> <= n; i += width<W>) {
        vec<W> even, odd;
        hn::LoadInterleaved2(d, p + 2 * i, even, odd);
        hn::Store(even, d, re + i);
        hn::Store(odd, d, im + i);
      }
    }
    for (; i < n; ++i) {
      re[i] = p[2 * i];
      im[i] = p[2 * i + 1];
    }
  } else {
    convert_numbers(static_cast<const detail::stored_t<X>*>(from), n, to.re + at);
  }
}

template <class W>
using converter = void(const void* from, std::size_t n, buffers<W>& to, std::size_t at);

/// Converters by element type; null where `W` doesn't take it.
template <class W>
constexpr auto converters = table_over([]<class X>() -> converter<W>* {
  if constexpr (std::is_integral_v<W>
                    ? std::is_integral_v<X>
                    : std::is_same_v<W, double> || !std::is_same_v<real_t<X>, double>) {
    return &convert<W, X>;
  } else {
    return nullptr;
  }
});

/// Converts at most a chunk of elements. Not inlined: sums would take this stack, too.
template <class R>
HWY_NOINLINE parts<summed_t<R>> fetch(const operand& v, buffers<summed_t<R>>& to) {
  if (v.element == type_of<R>) {
    if (v.increment == 1) return {static_cast<const summed_t<R>*>(v.data), nullptr};
    gather(v, reinterpret_cast<std::byte*>(to.re));
    return {to.re, nullptr};
  }
  auto* const convert = converters<summed_t<R>>[v.element];
  for_each_stretch(
      v, [&](const void* stretch, std::size_t i, std::size_t n) { convert(stretch, n, to, i); });
  return {to.re, is_complex(v.element) ? to.im : nullptr};
}

template <class A>
dot_sum<A> sum_packed(const operand& x, const operand& y) {
  using R = real_t<A>;
  using W = summed_t<R>;
  buffers<W> x_buffers, y_buffers;
  tree<dot_sum<A>> chunks;
  for (std::size_t i = 0; i < x.size; i += order::chunk) {
    const std::size_t n = std::min(order::chunk, x.size - i);
    const parts<W> px = fetch<R>(x.slice(i, n), x_buffers);
    const parts<W> py = fetch<R>(y.slice(i, n), y_buffers);
    const auto sum = [n](const W* a, const W* b) {
      return a && b ? sum_contiguous<R>(a, b, n) : R{};
    };
    if constexpr (is_complex_v<A>) {
      chunks.add({sum(px.re, py.re), sum(px.im, py.im), sum(px.re, py.im), sum(px.im, py.re)});
    } else {
      chunks.add({sum(px.re, py.re)});
    }
  }
  return total(chunks);
}

// --- The table -----------------------------------------------------------------------------------

/// Whether a pair is summed in place: equal types, float with bool, narrow integers, complex of the
/// accumulator's type. Buffers would at least halve the speed in cache (tuning/dot.md:
/// converts_in_registers). A pair takes about a second to compile.
template <class A, class X, class Y>
constexpr bool converts_in_registers = [] {
  if constexpr (is_complex_v<A>) {
    return std::is_same_v<X, A> && std::is_same_v<Y, A> && in_registers<real_t<A>>;
  } else if constexpr (std::is_same_v<A, double> && !std::is_same_v<X, double>) {
    return false;
  } else if constexpr (std::is_same_v<A, std::int64_t>) {
    return (sizeof(X) == 8) == (sizeof(Y) == 8);
  } else {
    return std::is_same_v<X, Y> || (std::is_same_v<X, bool> && std::is_same_v<Y, float>);
  }
}();

template <class A, class X, class Y>
dot_sum<A> sum_in_place(const operand& x, const operand& y) {
  if (x.increment != 1 || y.increment != 1) return sum_packed<A>(x, y);
  if constexpr (is_complex_v<A>) {
    using W = real_t<A>;
    const complex_products<W> t{static_cast<const W*>(x.data), static_cast<const W*>(y.data)};
    return sum_node(t, 2 * x.size);
  } else {
    return {
        sum_contiguous<A>(static_cast<const X*>(x.data), static_cast<const Y*>(y.data), x.size)};
  }
}

template <class A>
constexpr auto nodes = make_pair_table<dot_node<A>, A>([]<class X, class Y>() -> dot_node<A>* {
  if constexpr (converts_in_registers<A, X, Y>) {
    return &sum_in_place<A, stored<X>, stored<Y>>;
  } else {
    return &sum_packed<A>;
  }
});

// --- Short sums ----------------------------------------------------------------------------------

/// Not inlined, so that a short sum has no frame.
template <class X>
HWY_NOINLINE dot_result_t<X, X> dot_of_many(const X* x, const X* y, std::size_t n) {
  const default_environment environment;
  return settled(canonical(sum_contiguous<dot_result_t<X, X>>(x, y, n)));
}

template <class X>
dot_result_t<X, X> dot_of_numbers(const X* x, const X* y, std::size_t n) {
  if constexpr (std::is_integral_v<X>) {  // independent of the environment
    return sum_contiguous<std::int64_t>(x, y, n);
  } else {
    return dot_of_many(x, y, n);
  }
}

#if HWY_TARGET == HWY_AVX3

template <class X>
HWY_NOINLINE X dot_of_few(const X* x, const X* y, std::size_t n) {
  return sum_only_chunk(products<X, X, X, multiply_to_nearest>{x, y}, n);
}

/// Leaves its arguments where they are: no frame.
template <std::size_t up_to, class X>
X short_or_long_dot(const X* x, const X* y, std::size_t n) {
  const bool is_short = n <= up_to && keeps_subnormals();
  return is_short ? dot_of_few(x, y, n) : dot_of_many(x, y, n);
}

#endif

void add_level_one(detail::level_one_kernels& to) {
  const auto add = []<class X>(detail::level_one<X>& kernels) {
    kernels.dot = &dot_of_numbers<X>;
    if constexpr (std::is_floating_point_v<X>) {
      auto& of_squares = kernels.reduce[static_cast<std::size_t>(reduction::sum_of_squares)];
      of_squares = [](const X* x, std::size_t n) { return dot_of_many(x, x, n); };
#if HWY_TARGET == HWY_AVX3
      // Static rounding takes no memory operand (tuning/dot.md: few).
      constexpr std::size_t fewer = std::min(few, 896 / sizeof(X));
      kernels.dot =
          reads_control_slowly() ? &short_or_long_dot<few, X> : &short_or_long_dot<fewer, X>;
      of_squares = [](const X* x, std::size_t n) { return short_or_long_dot<few>(x, x, n); };
#endif
    }
  };
  add.operator()<float>(to);
  add.operator()<double>(to);
  add.operator()<float16>(to);
  add.operator()<bfloat16>(to);
  add.operator()<std::int8_t>(to);
  add.operator()<std::uint8_t>(to);
}

template <class W>
void dots_of_rows(rows_of<W> x, rows_of<W> y, std::size_t n, std::size_t count, W* results) {
  for (std::size_t j = 0; j < count; ++j) {
    results[j] = canonical(sum_only_chunk(products<W, W, W>{x.first, y.first}, n) + W{});
    x.first += x.leading_dimension;
    y.first += y.leading_dimension;
  }
}

}  // namespace

constexpr implementation this_target = {
    set_of(HWY_TARGET),
    &add_level_one,
    {&dots_of_rows<double>, &dots_of_rows<float>},
    []<class... A>(type_list<A...>) { return std::tuple(&nodes<A>...); }(accumulator_types{}),
};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {
template <class A>
dot_node<A>* node_of(instruction_set set, type x, type y) {
  if (auto* const node = scalable::dot_node_of<A>(set, x, y)) return node;
  return (*std::get<const pair_table<dot_node<A>>*>(implementation_of(set).nodes))[x][y];
}

void add_dot(instruction_set set, detail::level_one_kernels& to) {
  implementation_of(widest(set)).add_level_one(to);
  auto others = to;
  implementation_of(resolve(set)).add_level_one(others);
  static_cast<detail::level_one<float16>&>(to) = others;  // see set_for_dot
}

template <class W>
void dots_of_rows(instruction_set set, rows_of<W> x, rows_of<W> y, std::size_t n, std::size_t count,
                  W* results) {
  std::get<row_dots<W>*>(implementation_of(set).rows)(x, y, n, count, results);
}

void backend::dot(const executor& where, const dot_arguments& a) const {
  const instruction_set set = set_for_dot(where, a.x.element, a.y.element, a.x.size);
  with_type<accumulator_types>(a.result.element, [&]<class A>() {
    auto* const node = node_of<A>(set, a.x.element, a.y.element);
    *static_cast<A*>(a.result.data) = finish(node(a.x, a.y), a.conjugated);
  });
}

// For multi_dot.
template void dots_of_rows(instruction_set, rows_of<double>, rows_of<double>, std::size_t,
                           std::size_t, double*);
template void dots_of_rows(instruction_set, rows_of<float>, rows_of<float>, std::size_t,
                           std::size_t, float*);

// For the openmp backend.
template dot_node<std::int64_t>* node_of<std::int64_t>(instruction_set, type, type);
template dot_node<float>* node_of<float>(instruction_set, type, type);
template dot_node<double>* node_of<double>(instruction_set, type, type);
template dot_node<std::complex<float>>* node_of<std::complex<float>>(instruction_set, type, type);
template dot_node<std::complex<double>>* node_of<std::complex<double>>(instruction_set, type, type);

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
