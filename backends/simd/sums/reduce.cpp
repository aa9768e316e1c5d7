// sum, asum, nrm2 and weighted norms on one thread, by the two paths of dot.cpp. Complex elements
// are summed as pairs of numbers.
#include "backends/simd/sums/reduce.hpp"
#include "backends/simd/level_one.hpp"
#include "backends/simd/simd.hpp"

#include "backends/common/floating_point_environment.hpp"
#include "backends/common/order/weighted_square.hpp"
#include "backends/common/sparse/row_kernels.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/simd/scalable/scalable.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <tuple>
#include <type_traits>

#ifndef TALLY_BACKENDS_SIMD_REDUCE_CPP  // once per target
#define TALLY_BACKENDS_SIMD_REDUCE_CPP
namespace tally::backends::simd {
namespace {

/// Nodes by reduction, in the order of `reduction`, and element type.
template <class A>
using node_tables = std::array<type_table<reduce_node<A>*>, 3>;

template <class... A>
constexpr std::tuple<const node_tables<A>*...> all_tables(type_list<A...>);

template <class W>
using row_sums = void(rows_of<W> x, std::size_t n, std::size_t count, W* results);

struct implementation {
  instruction_set set;
  std::tuple<row_sums<double>*, row_sums<float>*> rows;
  const type_table<row_kernels<std::int64_t>>* integer_rows;
  decltype(all_tables(accumulator_types{})) nodes;
  std::tuple<weighted_node<double>*, weighted_node<float>*> weighted;
  void (*add_level_one)(detail::level_one_kernels& to);
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/sums/reduce.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/sums/numbers-inl.hpp"
#include "backends/simd/vectors/static_rounding-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

// --- Contiguous elements -------------------------------------------------------------------------

struct rounded_by_environment {
  template <class V>
  static HWY_INLINE V number(V v) {
    return v;
  }
  template <class V>
  static HWY_INLINE V square(V v) {
    return hn::Mul(v, v);
  }
};

/// Terms: numbers at x, their magnitudes, or their rounded squares.
template <reduction what, class W, class X, std::size_t parts_of_element,
          class Rounded = rounded_by_environment>
struct terms {
  using number = W;
  using sum = std::conditional_t<parts_of_element == 1, W, reduce_sum<std::complex<W>>>;
  static constexpr std::size_t parts = parts_of_element;
  static constexpr bool can_align = has_masked_loads && std::is_same_v<W, X>;
  const X* x;

  static HWY_INLINE auto of(vec<W> v) {
    if constexpr (what == reduction::sum) {
      return Rounded::number(v);
    } else if constexpr (what == reduction::asum) {
      return Rounded::number(hn::Abs(v));
    } else {
      return Rounded::square(v);
    }
  }
  HWY_INLINE auto at(std::size_t i) const { return of(load<W>(x + i)); }
  HWY_INLINE auto first(std::size_t i, std::size_t count) const {
    return of(load_first<W>(x + i, count));
  }
  HWY_INLINE terms from(std::size_t i) const { return {x + i}; }
  HWY_INLINE const X* address() const { return x; }
  template <class Mask>
  HWY_INLINE auto masked(Mask m, std::ptrdiff_t i) const {
    return of(hn::MaskedLoad(m, tag<W>(), x + i));
  }
};

/// Terms (x_i * y_i)^2; 0 where the mask is not positive.
template <class W, bool has_mask>
struct weighted_terms {
  using number = W;
  using sum = W;
  static constexpr std::size_t parts = 1;
  static constexpr bool can_align = has_masked_loads;
  const W* x;
  const W* y;
  const W* mask;

  /// `load(p)` loads the elements of the vector at p.
  template <class Load>
  HWY_INLINE vec<W> of(const Load& load) const {
    vec<W> v = hn::Mul(load(x), load(y));
    if constexpr (has_mask) {
      v = hn::IfThenElseZero(hn::Gt(load(mask), hn::Zero(tag<W>())), v);
    }
    return hn::Mul(v, v);
  }
  HWY_INLINE vec<W> at(std::size_t i) const {
    return of([&](const W* p) HWY_ATTR { return load<W>(p + i); });
  }
  HWY_INLINE vec<W> first(std::size_t i, std::size_t count) const {
    return of([&](const W* p) HWY_ATTR { return load_first<W>(p + i, count); });
  }
  HWY_INLINE weighted_terms from(std::size_t i) const {
    return {x + i, y + i, has_mask ? mask + i : nullptr};
  }
  HWY_INLINE const W* address() const { return x; }
  template <class Mask>
  HWY_INLINE vec<W> masked(Mask m, std::ptrdiff_t i) const {
    return of([&](const W* p) HWY_ATTR { return hn::MaskedLoad(m, tag<W>(), p + i); });
  }
};

/// Modulo 2^64, in any order. Narrow integers are added unsigned, signed ones with a bias.
template <reduction what, class X>
std::uint64_t sum_integers(const X* x, std::size_t n) {
  constexpr bool biased = what == reduction::sum && std::is_signed_v<X>;
  constexpr std::uint64_t bias = biased ? std::uint64_t{1} << (8 * sizeof(X) - 1) : 0;
  const tag<std::uint64_t> d;
  std::size_t i = 0;
  std::uint64_t sum = 0;
  if constexpr (hn::MaxLanes(d) > 1) {
    using U = std::make_unsigned_t<X>;
    const hn::Repartition<U, tag<std::uint64_t>> du;
    constexpr std::size_t step = hn::MaxLanes(du);
    auto even = hn::Zero(d), odd = hn::Zero(d);
    // Unrolled: the speed of so short a loop depends on where the linker puts it.
#pragma GCC unroll 4
    for (; i + step <= n; i += step) {
      auto v = hn::LoadU(du, reinterpret_cast<const U*>(x + i));
      if constexpr (biased) v = hn::Xor(v, hn::Set(du, static_cast<U>(bias)));
      if constexpr (what == reduction::asum && std::is_signed_v<X>) {
        v = hn::BitCast(du, hn::Abs(hn::BitCast(hn::RebindToSigned<decltype(du)>(), v)));
      }
      if constexpr (sizeof(X) == 1) {
        even = hn::Add(even, hn::SumsOf8(v));
      } else if constexpr (sizeof(X) == 4) {
        const auto pair = hn::BitCast(d, v);
        even = hn::Add(even, hn::And(pair, hn::Set(d, 0xffffffffu)));
        odd = hn::Add(odd, hn::ShiftRight<32>(pair));
      } else {
        even = hn::Add(even, v);
      }
    }
    sum = fold_vector<std::uint64_t>(d, hn::Add(even, odd)) - bias * i;
  }
  for (; i < n; ++i) {
    const auto number = static_cast<std::uint64_t>(x[i]);
    if constexpr (what == reduction::asum && std::is_signed_v<X>) {
      sum += x[i] < 0 ? -number : number;
    } else {
      sum += number;
    }
  }
  return sum;
}

struct bools {
  const bool8* x;
  bool operator()(std::size_t i) const { return x[i]; }
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(std::size_t i, D d) const {
    return hn::LoadU(d, &x[i].byte);
  }
};

template <reduction what, class A, class X>
reduce_sum<A> sum_contiguous(const X* x, std::size_t n) {
  if constexpr (std::is_integral_v<A> && std::is_same_v<X, bool8>) {
    return {static_cast<A>(count_true(n, bools{x}))};
  } else if constexpr (std::is_integral_v<A>) {
    return {static_cast<A>(sum_integers<what>(x, n))};
  } else if constexpr (is_complex_v<A>) {
    return sum_node(terms<what, real_t<A>, X, 2>{x}, 2 * n);
  } else {
    return {sum_node(terms<what, A, X, 1>{x}, n)};
  }
}

// --- All other elements --------------------------------------------------------------------------

template <class R>
using packed = std::conditional_t<std::is_integral_v<R>, std::int64_t, R>;

/// Returns at most a chunk of elements as numbers, times `scale`.
template <class A>
const summed_t<real_t<A>>* fetch(const operand& v, real_t<A> scale, buffer<A>& to) {
  using W = summed_t<real_t<A>>;
  const W* const numbers = fetch<A>(v, to);
  if (scale == 1) return numbers;
  for (std::size_t i = 0; i < (is_complex_v<A> ? 2 : 1) * v.size; ++i) {
    to.numbers[i] = numbers[i] * static_cast<W>(scale);
  }
  return to.numbers;
}

template <class A>
using packed_sum = reduce_sum<A>(const packed<real_t<A>>* numbers, std::size_t n);

template <class A>
HWY_NOINLINE reduce_sum<A> sum_packed(const operand& x, real_t<A> scale, packed_sum<A>* sum) {
  buffer<A> packed_chunk;
  tree<reduce_sum<A>> chunks;
  for (std::size_t i = 0; i < x.size; i += order::chunk) {
    const std::size_t n = std::min(order::chunk, x.size - i);
    const auto* const numbers = fetch<A>(x.slice(i, n), scale, packed_chunk);
    chunks.add(sum(reinterpret_cast<const packed<real_t<A>>*>(numbers), n));
  }
  return total(chunks);
}

template <reduction what, class A>
reduce_sum<A> sum_packed(const operand& x, real_t<A> scale) {
  return sum_packed<A>(x, scale, &sum_contiguous<what, A, packed<real_t<A>>>);
}

// --- The table -----------------------------------------------------------------------------------

/// Whether elements are summed in place: not float and narrower ones in double.
template <class A, class X>
constexpr bool converts_in_registers =
    std::is_same_v<real_t<A>, real_t<X>> || !std::is_same_v<real_t<A>, double>;

template <reduction what, class A, class X>
reduce_sum<A> sum_in_place(const operand& x, real_t<A> scale) {
  if (x.increment != 1 || scale != 1) return sum_packed<what, A>(x, scale);
  using number = detail::stored_t<real_t<X>>;
  return sum_contiguous<what, A>(static_cast<const number*>(x.data), x.size);
}

template <reduction what, class A>
constexpr auto nodes_of = make_type_table<reduce_node<A>, A>([]<class X>() -> reduce_node<A>* {
  if constexpr (std::is_integral_v<A> && what == reduction::nrm2) {
    return nullptr;  // the norm of integers is a double
  } else if constexpr (converts_in_registers<A, X>) {
    return &sum_in_place<what, A, X>;
  } else {
    return &sum_packed<what, A>;
  }
});

template <class A>
constexpr node_tables<A> nodes = {nodes_of<reduction::sum, A>, nodes_of<reduction::asum, A>,
                                  nodes_of<reduction::nrm2, A>};

template <class W>
W sum_weighted(const operand& x, const operand& w, const std::optional<operand>& mask) {
  const auto in_place = [](const operand& v) {
    return v.increment == 1 && v.element == type_of<W>;
  };
  if (in_place(x) && in_place(w) && (!mask || in_place(*mask))) {
    const W *const px = static_cast<const W*>(x.data), *const pw = static_cast<const W*>(w.data);
    if (!mask) return sum_node(weighted_terms<W, false>{px, pw, nullptr}, x.size);
    return sum_node(weighted_terms<W, true>{px, pw, static_cast<const W*>(mask->data)}, x.size);
  }
  buffer<W> made;
  tree<reduce_sum<W>> chunks;
  for (std::size_t i = 0; i < x.size; i += order::chunk) {
    const std::size_t n = std::min(order::chunk, x.size - i);
    weighted_products(x.slice(i, n), w.slice(i, n),
                      mask ? std::optional(mask->slice(i, n)) : std::nullopt, made);
    chunks.add(sum_contiguous<reduction::nrm2, W>(made.numbers, n));
  }
  return total(chunks).value;
}

template <reduction what, class W>
HWY_NOINLINE W reduce_numbers(const W* x, std::size_t n) {
  const default_environment environment;
  const operand all{x, n, 1, type_of<W>};
  W result;
  reduce_on_host<W>({all, what, {&result, type_of<W>}},
                    [&](W scale) { return sum_in_place<what, W, W>(all, scale); });
  return settled(result);
}

#if HWY_TARGET == HWY_AVX3

template <reduction what, class W>
HWY_NOINLINE W reduce_few(const W* x, std::size_t n) {
  const W sum = sum_only_chunk(terms<what, W, W, 1, rounded_statically>{x}, n);
  if constexpr (what != reduction::nrm2) return sum;
  using bits = std::conditional_t<sizeof(W) == 4, std::int32_t, std::int64_t>;  // no exceptions
  const auto good = [](bits s) {
    return std::bit_cast<bits>(norm_range<W>::min_sum) <= s &&
           s <= std::bit_cast<bits>(norm_range<W>::max_sum);
  };
  return good(std::bit_cast<bits>(sum)) ? root(sum) : reduce_numbers<what>(x, n);
}

/// Leaves its arguments where they are: no frame.
template <reduction what, class W>
W reduce_short_or_long(const W* x, std::size_t n) {
  const bool is_short = n <= few && keeps_subnormals();
  return is_short ? reduce_few<what>(x, n) : reduce_numbers<what>(x, n);
}

#endif

template <class W>
void sums_of_rows(rows_of<W> x, std::size_t n, std::size_t count, W* results) {
  for (std::size_t j = 0; j < count; ++j) {
    const terms<reduction::sum, W, W, 1> row{x.first};
    results[j] = canonical(sum_only_chunk(row, n) + W{});
    x.first += x.leading_dimension;
  }
}

template <class X>
std::int64_t sum_of_values(const csr_product& a, std::size_t first, std::size_t n) {
  const auto* const x = static_cast<const detail::stored_t<X>*>(a.a.values.data);
  return sum_contiguous<reduction::sum, std::int64_t>(x + first, n).value;
}

constexpr auto integer_rows = table_over<integer_types>([]<class X>() {
  row_kernels<std::int64_t> made;
  made.rows = [](const csr_product& a, std::size_t first, std::size_t n, std::int64_t* sums) {
    const row_bounds rows(a.a);
    for (std::size_t i = 0; i < n; ++i) {
      sums[i] = sum_of_values<X>(a, rows.begin(first + i), rows.length(first + i));
    }
  };
  made.part = [](const csr_product& a, std::size_t first, std::size_t n) {
    return dot_sum<std::int64_t>{sum_of_values<X>(a, first, n)};
  };
  return made;
});

void add_level_one(detail::level_one_kernels& to) {
  const auto add = []<class W>(detail::level_one<W>& kernels) {
    const auto add_kernel = [&]<reduction what>(std::integral_constant<reduction, what>) {
      auto& kernel = kernels.reduce[static_cast<std::size_t>(what)];
      kernel = &reduce_numbers<what, W>;
#if HWY_TARGET == HWY_AVX3
      kernel = &reduce_short_or_long<what, W>;
#endif
    };
    add_kernel(std::integral_constant<reduction, reduction::sum>());
    add_kernel(std::integral_constant<reduction, reduction::asum>());
    add_kernel(std::integral_constant<reduction, reduction::nrm2>());
  };
  add.operator()<float>(to);
  add.operator()<double>(to);
}

}  // namespace

constexpr implementation this_target = {
    set_of(HWY_TARGET),
    {&sums_of_rows<double>, &sums_of_rows<float>},
    &integer_rows,
    []<class... A>(type_list<A...>) { return std::tuple(&nodes<A>...); }(accumulator_types{}),
    {&sum_weighted<double>, &sum_weighted<float>},
    &add_level_one,
};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {
template <class A>
reduce_node<A>* reduce_node_of(instruction_set set, reduction what, type x) {
  if (auto* const node = scalable::reduce_node_of<A>(set, what, x)) return node;
  const implementation& chosen = implementation_of(set);
  return (*std::get<const node_tables<A>*>(chosen.nodes))[static_cast<std::size_t>(what)][x];
}

template <class W>
void sums_of_rows(instruction_set set, rows_of<W> x, std::size_t n, std::size_t count, W* results) {
  std::get<row_sums<W>*>(implementation_of(set).rows)(x, n, count, results);
}

row_kernels<std::int64_t> integer_rows_of(instruction_set set, type values) {
  return (*implementation_of(set).integer_rows)[values];
}

void backend::reduce(const executor& where, const reduce_arguments& a) const {
  with_type<accumulator_types>(accumulator_of(a), [&]<class A>() {
    const instruction_set set = set_for_reduce(where, a.x.element, a.x.size);
    auto* const node = reduce_node_of<A>(set, a.what, a.x.element);
    reduce_on_host<A>(a, [&](real_t<A> scale) { return node(a.x, scale); });
  });
}

template <class R>
weighted_node<R>* weighted_node_of(instruction_set set) {
  return std::get<weighted_node<R>*>(implementation_of(set).weighted);
}

void backend::weighted(const executor& where, const weighted_norm_arguments& a) const {
  with_type<type_list<float, double>>(a.result.element, [&]<class R>() {
    const instruction_set set = set_for_reduce(where, a.result.element, 2 * a.x.size);
    const R sum = weighted_node_of<R>(set)(a.x, a.w, a.mask);
    *static_cast<R*>(a.result.data) = finish_weighted(sum, a.what, a.x.size);
  });
}

void add_reductions(instruction_set set, detail::level_one_kernels& to) {
  implementation_of(widest(set)).add_level_one(to);
}

// For multi_dot.
template void sums_of_rows(instruction_set, rows_of<double>, std::size_t, std::size_t, double*);
template void sums_of_rows(instruction_set, rows_of<float>, std::size_t, std::size_t, float*);

// For the openmp backend.
template weighted_node<float>* weighted_node_of<float>(instruction_set);
template weighted_node<double>* weighted_node_of<double>(instruction_set);
template reduce_node<std::int64_t>* reduce_node_of<std::int64_t>(instruction_set, reduction, type);
template reduce_node<float>* reduce_node_of<float>(instruction_set, reduction, type);
template reduce_node<double>* reduce_node_of<double>(instruction_set, reduction, type);
template reduce_node<std::complex<float>>* reduce_node_of<std::complex<float>>(instruction_set,
                                                                               reduction, type);
template reduce_node<std::complex<double>>* reduce_node_of<std::complex<double>>(instruction_set,
                                                                                 reduction, type);

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
