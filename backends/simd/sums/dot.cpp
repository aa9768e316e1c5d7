// dot on one thread. foreach_target compiles this source once per instruction set, in a namespace
// each; the executor selects one when made.
//
// Contiguous operands that convert to the accumulator in registers, or are complex of its type, are
// summed in place (`sum_in_place`). Others are gathered, converted and split into re and im chunk
// by chunk, in buffers that fit the first-level cache (`sum_packed`): 66 pairs of types share the
// code of five accumulators.
#include "backends/simd/sums/dot.hpp"
#include "backends/simd/simd.hpp"

#include "backends/common/floating_point_environment.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/simd/sums/byte_products.hpp"
#include "backends/simd/vectors/instruction_set.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/order.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <tuple>
#include <utility>

#ifndef TALLY_BACKENDS_SIMD_DOT_CPP  // once per target
#define TALLY_BACKENDS_SIMD_DOT_CPP
namespace tally::backends::simd {
namespace {

template <class... A>
constexpr std::tuple<const pair_table<dot_node<A>>*...> node_tables(type_list<A...>);

using whole_dot = void(const dot_arguments& a);

template <class X>
using chunk_dot = dot_result_t<X, X>(const X* x, const X* y, std::size_t n);

template <class... X>
constexpr std::tuple<chunk_dot<X>*...> chunk_dots(type_list<X...>);

/// The same of a few numbers, in any environment; `is_trusted`: assume the default one.
template <class X>
using short_dot = dot_result_t<X, X>(const X* x, const X* y, std::size_t n, bool is_trusted);

template <class... X>
constexpr std::tuple<short_dot<X>*...> short_dots(type_list<X...>);

template <class W>
using row_dots = void(rows_of<W> x, rows_of<W> y, std::size_t n, std::size_t count, W* results);

struct implementation {
  instruction_set set;
  decltype(chunk_dots(types_of_short_dots{})) chunks;
  decltype(short_dots(types_of_short_dots{})) shorts;
  row_dots<double>* rows_of_doubles;
  row_dots<float>* rows_of_floats;
  decltype(node_tables(accumulator_types{})) nodes;
  type_table<const pair_table<whole_dot>*> dots;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/sums/dot.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/sums/kernel-inl.hpp"
#include "backends/simd/sums/static_rounding-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// Terms in the environment's rounding mode.
struct environments_rounding {
  template <class W>
  using vector = vec<W>;

  template <class V>
  static HWY_INLINE V product(V a, V b) {
    return hn::Mul(a, b);
  }
  template <class W, class X>
  static HWY_INLINE vec<W> load(const X* p) {
    return HWY_NAMESPACE::load<W>(p);
  }
  template <class W, class X>
  static HWY_INLINE vec<W> load_first(const X* p, std::size_t count) {
    return HWY_NAMESPACE::load_first<W>(p, count);
  }
};

/// Terms x_i * y_i. Each product is rounded (no FMA).
template <class W, class X, class Y, class Rounding = environments_rounding>
struct products {
  using number = W;
  using sum = W;
  static constexpr std::size_t parts = 1;
  static constexpr bool can_align =
      has_masked_loads && std::is_same_v<W, X> && std::is_same_v<W, Y>;
  const X* x;
  const Y* y;

  HWY_INLINE auto at(std::size_t i) const {
    return Rounding::product(Rounding::template load<W>(x + i), Rounding::template load<W>(y + i));
  }
  HWY_INLINE auto first(std::size_t i, std::size_t count) const {
    return Rounding::product(Rounding::template load_first<W>(x + i, count),
                             Rounding::template load_first<W>(y + i, count));
  }
  HWY_INLINE products from(std::size_t i) const { return {x + i, y + i}; }
  HWY_INLINE const W* address() const { return x; }
  template <class Mask>
  HWY_INLINE auto masked(Mask m, std::ptrdiff_t i) const {
    return Rounding::product(hn::MaskedLoad(m, tag<W>(), x + i),
                             hn::MaskedLoad(m, tag<W>(), y + i));
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
template <class Rounding = environments_rounding>
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
  static HWY_INLINE two_vectors<typename Rounding::template vector<float>> of(pairs a, pairs b) {
    return {Rounding::product(first_of(a), first_of(b)),
            Rounding::product(second_of(a), second_of(b))};
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

template <class R, class X, class Y, class Rounding>
struct terms_of : std::type_identity<products<R, X, Y, Rounding>> {};
#if HWY_TARGET != HWY_SCALAR
template <class R, class Rounding>
struct terms_of<R, bfloat16, bfloat16, Rounding>
    : std::conditional<in_registers<R>, products_of_pairs<Rounding>,
                       products<R, bfloat16, bfloat16, Rounding>> {};
#endif
template <class R, class X, class Y, class Rounding = environments_rounding>
using terms_of_t = typename terms_of<R, X, Y, Rounding>::type;

template <class R, class X, class Y>
HWY_INLINE R sum_contiguous(const X* x, const Y* y, std::size_t n) {
  if constexpr (std::is_same_v<X, bool8> && std::is_same_v<Y, bool8>) {
    return static_cast<R>(count_true(n, both_true{x, y}));
  } else if constexpr (std::is_integral_v<R>) {
    return static_cast<R>(sum_integers(x, y, n));
  } else {
    return sum_node(terms_of_t<R, X, Y>{x, y}, n);
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
    convert_numbers(static_cast<const types::stored_t<X>*>(from), n, to.re + at);
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

template <class A, dot_node<A>* node>
void run(const dot_arguments& a) {
  *static_cast<A*>(a.result.data) = finish(node(a.x, a.y), a.conjugated);
}

template <class A>
constexpr auto dots = make_pair_table<whole_dot, A>(
    []<class X, class Y>() { return &run<A, nodes<A>[type_of<X>][type_of<Y>]>; });

template <class X>
dot_result_t<X, X> dot_of_chunk(const X* x, const X* y, std::size_t n) {
  using R = dot_result_t<X, X>;
  if constexpr (std::is_integral_v<R>) {
    return sum_contiguous<R>(x, y, n);
  } else {
    return canonical(sum_only_chunk(terms_of_t<R, X, X>{x, y}, n) + R{});
  }
}

/// Not inlined, so that the code before its call has no frame.
template <class X>
[[maybe_unused]] HWY_NOINLINE dot_result_t<X, X> dot_without_flushing(const X* x, const X* y,
                                                                      std::size_t n) {
  const default_environment environment;
  return settled(dot_of_chunk(x, y, n));
}

template <class X>
dot_result_t<X, X> dot_of_few(const X* x, const X* y, std::size_t n,
                              [[maybe_unused]] bool is_trusted) {
  using R = dot_result_t<X, X>;
  if constexpr (std::is_integral_v<R>) {  // independent of the environment
    return dot_of_chunk(x, y, n);
  } else {
#if HWY_TARGET == HWY_AVX3
    if (!keeps_subnormals()) return dot_without_flushing(x, y, n);
    return finished(sum_only_chunk(terms_of_t<R, X, X, static_rounding>{x, y}, n));
#else
    const default_environment environment(is_trusted);
    return settled(dot_of_chunk(x, y, n));
#endif
  }
}

template <class W>
void dots_of_rows(rows_of<W> x, rows_of<W> y, std::size_t n, std::size_t count, W* results) {
  for (std::size_t j = 0; j < count; ++j) {
    results[j] = dot_of_chunk(x.first, y.first, n);
    x.first += x.leading_dimension;
    y.first += y.leading_dimension;
  }
}

}  // namespace

constexpr implementation this_target = {
    set_of(HWY_TARGET),
    []<class... X>(type_list<X...>) {
      return std::tuple(&dot_of_chunk<X>...);
    }(types_of_short_dots{}),
    []<class... X>(type_list<X...>) {
      return std::tuple(&dot_of_few<X>...);
    }(types_of_short_dots{}),
    &dots_of_rows<double>,
    &dots_of_rows<float>,
    []<class... A>(type_list<A...>) { return std::tuple(&nodes<A>...); }(accumulator_types{}),
    table_over<accumulator_types>([]<class A>() { return &dots<A>; }),
};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {
template <class A>
dot_node<A>* node_of(instruction_set set, type x, type y) {
  return (*std::get<const pair_table<dot_node<A>>*>(implementation_of(set).nodes))[x][y];
}

namespace {

template <class X>
dot_result_t<X, X> first_dot_of_few(const X* x, const X* y, std::size_t n, bool is_trusted);

/// Kernel for few numbers where Tally chooses: the widest, even if executed in halves. Found by its
/// first call.
template <class X>
constinit std::atomic<short_dot<X>*> widest_dot_of_few = &first_dot_of_few<X>;

/// Number of elements up to which `widest_dot_of_few` is faster: more where reading the control
/// register is slow, fewer elsewhere and until the first call. Instructions with static rounding
/// take no memory operand (tuning/dot.md: few). Integers know no environment.
template <class X>
constexpr std::size_t few_anywhere =
    std::is_integral_v<dot_result_t<X, X>> ? order::chunk : 448 / sizeof(dot_result_t<X, X>);
template <class X>
constinit std::atomic<std::size_t> few = few_anywhere<X>;

template <class X>
dot_result_t<X, X> first_dot_of_few(const X* x, const X* y, std::size_t n, bool is_trusted) {
  auto* const found = std::get<short_dot<X>*>(implementation_of(instruction_sets().back()).shorts);
  widest_dot_of_few<X>.store(found, std::memory_order_relaxed);
  if (reads_control_slowly()) {
    few<X>.store(std::max<std::size_t>(256, few_anywhere<X>), std::memory_order_relaxed);
  }
  return found(x, y, n, is_trusted);
}

/// Not inlined, so that a call for few numbers is two jumps without a frame.
template <class X>
HWY_NOINLINE dot_result_t<X, X> dot_of_many(const executor& where, const X* x, const X* y,
                                            std::size_t n) {
  const default_environment environment(where.trusts_environment());
  const instruction_set asked = set_for_dot(where, type_of<X>, type_of<X>, n);
  const instruction_set set = asked == instruction_set::best ? resolve(asked) : asked;
  if (n <= order::chunk) {
    return std::get<chunk_dot<X>*>(implementation_of(set).chunks)(x, y, n);
  }
  constexpr type element = type_of<X>;
  auto* const node = node_of<dot_result_t<X, X>>(set, element, element);
  return settled(finish(node({x, n, 1, element}, {y, n, 1, element}), conjugate::none));
}

}  // namespace

template <class X>
dot_result_t<X, X> dot_of_numbers(const executor& where, const X* x, const X* y, std::size_t n) {
  if (n > few<X>.load(std::memory_order_relaxed)) [[unlikely]]
    return dot_of_many(where, x, y, n);
  auto* const dot = where.chooses_instructions()
                        ? widest_dot_of_few<X>.load(std::memory_order_relaxed)
                        : std::get<short_dot<X>*>(implementation_of(where.instructions()).shorts);
  return dot(x, y, n, where.trusts_environment());
}

template double dot_of_numbers(const executor&, const double*, const double*, std::size_t);
template float dot_of_numbers(const executor&, const float*, const float*, std::size_t);
template float dot_of_numbers(const executor&, const float16*, const float16*, std::size_t);
template float dot_of_numbers(const executor&, const bfloat16*, const bfloat16*, std::size_t);
template std::int64_t dot_of_numbers(const executor&, const std::int8_t*, const std::int8_t*,
                                     std::size_t);
template std::int64_t dot_of_numbers(const executor&, const std::uint8_t*, const std::uint8_t*,
                                     std::size_t);

void dots_of_rows(instruction_set set, rows_of<double> x, rows_of<double> y, std::size_t n,
                  std::size_t count, double* results) {
  implementation_of(set).rows_of_doubles(x, y, n, count, results);
}
void dots_of_rows(instruction_set set, rows_of<float> x, rows_of<float> y, std::size_t n,
                  std::size_t count, float* results) {
  implementation_of(set).rows_of_floats(x, y, n, count, results);
}

void backend::dot(const executor& where, const dot_arguments& a) const {
  const instruction_set set = set_for_dot(where, a.x.element, a.y.element, a.x.size);
  const auto& dots = *implementation_of(set).dots[a.result.element];
  dots[a.x.element][a.y.element](a);
}

// For the openmp backend.
template dot_node<std::int64_t>* node_of<std::int64_t>(instruction_set, type, type);
template dot_node<float>* node_of<float>(instruction_set, type, type);
template dot_node<double>* node_of<double>(instruction_set, type, type);
template dot_node<std::complex<float>>* node_of<std::complex<float>>(instruction_set, type, type);
template dot_node<std::complex<double>>* node_of<std::complex<double>>(instruction_set, type, type);

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
