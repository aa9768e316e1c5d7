// spmv on one thread in vector instructions, for real rows: values of any real type, x of the
// accumulator's. Complex rows are the serial column's.
//
// Rows of at most 8 terms are written out, a lane a term. Longer ones have their 8 lanes in one or
// two vectors, or four, and those of more than `short_row` terms are summed by the kernel of `dot`.
// x is loaded element by element into a vector, not by the instructions that gather.
#include "backends/simd/spmv.hpp"

#include "backends/csr.hpp"
#include "backends/exact_rows.hpp"
#include "backends/floating_point_environment.hpp"
#include "backends/row_lengths.hpp"
#include "backends/row_order.hpp"
#include "backends/serial/spmv.hpp"
#include "backends/simd/exact.hpp"
#include "backends/simd/targets.hpp"

#include <algorithm>
#include <array>

#ifndef TALLY_BACKENDS_SIMD_SPMV_CPP  // this file is compiled once for every target
#define TALLY_BACKENDS_SIMD_SPMV_CPP
namespace tally::backends::simd {
namespace {

/// The real types of values, and for each the kernels with int32 and with int64 columns.
using real_values = type_list<float16, bfloat16, float, double>;
template <class A>
using kernel_table = std::array<std::array<row_kernels<A>, 2>, real_values::size>;

/// What one instruction set has.
struct implementation {
  instruction_set set;
  const kernel_table<float>* floats;
  const kernel_table<double>* doubles;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/spmv.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

template <class W, class V>
HWY_INLINE W number(V value) {
  if constexpr (sizeof(V) == 2) {
    return static_cast<W>(static_cast<float>(value));
  } else {
    return static_cast<W>(value);
  }
}

/// The next values at p as numbers of D.
template <class D, class V>
HWY_INLINE hn::Vec<D> load_values(D d, const V* p) {
  using W = hn::TFromD<D>;
  if constexpr (std::is_same_v<W, V> || std::is_same_v<W, float>) {
    return load32(d, p);
  } else {
    return hn::PromoteTo(d, load32(hn::Rebind<float, D>(), p));
  }
}

/// x[columns[0]], x[columns[1]], ...: as many as a vector of D has.
template <class D, class I>
HWY_INLINE hn::Vec<D> gathered(D, const hn::TFromD<D>* x, const I* columns) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) HWY_ATTR {
#if HWY_TARGET == HWY_SCALAR || \
    HWY_TARGET == HWY_EMU128  // whose vectors are no type of the compiler
    const hn::TFromD<D> elements[] = {x[columns[i]]...};
    return hn::LoadU(D(), elements);
#else
    return hn::Vec<D>{decltype(hn::Vec<D>::raw){x[columns[i]]...}};
#endif
  }
  (std::make_index_sequence<hn::MaxLanes(D())>());
}

/// A row's terms.
template <class W, class V, class I>
struct row_terms {
  using number = W;
  const V* values;
  const I* columns;
  const W* x;

  HWY_INLINE W term(std::size_t i) const {
    return HWY_NAMESPACE::number<W>(values[i]) * x[columns[i]];
  }
  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t i) const {
    return hn::Mul(load_values(d, values + i), gathered(d, x, columns + i));
  }
  HWY_INLINE row_terms from(std::size_t i) const { return {values + i, columns + i, x}; }
};

/// A row of at most 8 terms, a lane each. Absent ones are skipped.
template <class Terms>
HWY_INLINE typename Terms::number sum_lane_each(Terms t, std::size_t n) {
  const auto at = [&](std::size_t i) HWY_ATTR { return t.term(i); };
  switch (n) {
    case 0:
      return 0;
    case 1:
      return at(0);
    case 2:
      return at(0) + at(1);
    case 3:
      return (at(0) + at(2)) + at(1);
    case 4:
      return (at(0) + at(2)) + (at(1) + at(3));
    case 5:
      return ((at(0) + at(4)) + at(2)) + (at(1) + at(3));
    case 6:
      return ((at(0) + at(4)) + at(2)) + ((at(1) + at(5)) + at(3));
    case 7:
      return ((at(0) + at(4)) + (at(2) + at(6))) + ((at(1) + at(5)) + at(3));
    default:
      return ((at(0) + at(4)) + (at(2) + at(6))) + ((at(1) + at(5)) + (at(3) + at(7)));
  }
}

/// A row of 8 terms or more, in 8 lanes. `readable` says whether terms may be read, though not
/// added, up to the next multiple of 8.
template <class Terms>
HWY_INLINE typename Terms::number sum_in_lanes(Terms t, std::size_t n, bool readable) {
  using W = typename Terms::number;
  constexpr std::size_t lanes = row_order::lanes;
  constexpr hn::CappedTag<W, lanes> d;
  constexpr std::size_t w = hn::MaxLanes(d);
  using vector = hn::Vec<decltype(d)>;
  return [&]<std::size_t... v>(std::index_sequence<v...>) HWY_ATTR {
    vector sum[] = {t.at(d, v * w)...};
    std::size_t i = lanes;
    for (; i + lanes <= n; i += lanes) ((sum[v] = hn::Add(sum[v], t.at(d, i + v * w))), ...);
    if (i < n && readable) {
      const auto part = [&](std::size_t l) HWY_ATTR {
        const std::size_t count = n - i > l ? n - i - l : 0;
        return hn::IfThenElseZero(hn::FirstN(d, count), t.at(d, i + l));
      };
      ((sum[v] = hn::Add(sum[v], part(v * w))), ...);
    } else if (i < n) {
      HWY_ALIGN W terms[lanes] = {};
      for (std::size_t l = 0; i + l < n; ++l) terms[l] = t.term(i + l);
      ((sum[v] = hn::Add(sum[v], hn::Load(d, terms + v * w))), ...);
    }
    for (std::size_t half = sizeof...(v) / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) sum[l] = hn::Add(sum[l], sum[l + half]);
    }
    return fold_vector<W>(d, sum[0]);
  }
  (std::make_index_sequence<lanes / w>());
}

/// Terms that have been computed.
template <class W>
struct stored_terms {
  using number = W;
  using sum = W;
  static constexpr std::size_t parts = 1;
  static constexpr bool can_align = false;
  const W* terms;

  HWY_INLINE vec<W> at(std::size_t i) const { return hn::LoadU(tag<W>(), terms + i); }
  HWY_INLINE vec<W> first(std::size_t i, std::size_t count) const {
    return load_first<W>(terms + i, count);
  }
  HWY_INLINE stored_terms from(std::size_t i) const { return {terms + i}; }
};

template <class W>
HWY_NOINLINE W sum_of_chunk(const W* terms, std::size_t n) {
  return sum_only_chunk(stored_terms<W>{terms}, n);
}

/// A longer row, or a node of its tree, as `dot` sums it: a chunk's terms are computed first, and
/// then added up from the cache. That way all types of values and columns share one kernel, which
/// takes a second to compile.
template <class Terms>
HWY_NOINLINE typename Terms::number sum_as_dot(Terms t, std::size_t n) {
  using W = typename Terms::number;
  constexpr tag<W> d;
  HWY_ALIGN W terms[order::chunk];
  tree<W> chunks;
  for (; n > 0; t = t.from(order::chunk)) {
    const std::size_t count = std::min(order::chunk, n);
    std::size_t i = 0;
    for (; i + width<W> <= count; i += width<W>) hn::Store(t.at(d, i), d, terms + i);
    for (; i < count; ++i) terms[i] = t.term(i);
    chunks.add(sum_of_chunk(terms, count));
    n -= count;
  }
  return chunks.total();
}

template <class W, class V, class I>
row_terms<W, V, I> terms_of(const spmv_arguments& a) {
  return {static_cast<const V*>(a.a.values.data), static_cast<const I*>(a.a.column_indices.data),
          static_cast<const W*>(a.x.data)};
}

template <class W, class V, class I, class O>
void sum_rows(const row_terms<W, V, I> all, std::size_t nonzeros, const O* offsets, std::size_t n,
              W* sums) {
  auto begin = static_cast<std::size_t>(offsets[0]);
  for (std::size_t i = 0; i < n; ++i) {
    const auto end = static_cast<std::size_t>(offsets[i + 1]);
    const std::size_t length = end - begin;
    const auto terms = all.from(begin);
    W sum;
    if (length <= row_order::lanes) {
      sum = sum_lane_each(terms, length);
    } else if (length <= row_order::short_row) {
      sum = sum_in_lanes(terms, length, end + row_order::lanes <= nonzeros);
    } else {
      sum = sum_as_dot(terms, length);
    }
    sums[i] = canonical(sum + W{0});  // lanes that start as their first term may hold -0
    begin = end;
  }
}

template <class W, class V, class I>
void sum_rows(const spmv_arguments& a, std::size_t first, std::size_t n, W* sums) {
  const auto of = [&]<class O>(const O* offsets) {
    sum_rows(terms_of<W, V, I>(a), a.a.nonzeros(), offsets + first, n, sums);
  };
  a.a.row_offsets.element == type::int64
      ? of(static_cast<const std::int64_t*>(a.a.row_offsets.data))
      : of(static_cast<const std::int32_t*>(a.a.row_offsets.data));
}

template <class W, class V, class I>
dot_sum<W> sum_part(const spmv_arguments& a, std::size_t first, std::size_t n) {
  return {sum_as_dot(terms_of<W, V, I>(a).from(first), n) + W{0}};
}

template <class W>
constexpr auto kernels = []<class... V>(type_list<V...>) {
  const auto of = []<class T>(std::type_identity<T>) -> std::array<row_kernels<W>, 2> {
    if constexpr (sizeof(T) <= sizeof(W)) {
      return {{{&sum_rows<W, T, std::int32_t>, &sum_part<W, T, std::int32_t>},
               {&sum_rows<W, T, std::int64_t>, &sum_part<W, T, std::int64_t>}}};
    } else {
      return {};
    }
  };
  return kernel_table<W>{of(std::type_identity<V>{})...};
}(real_values{});

}  // namespace

constexpr implementation here = {set_of(HWY_TARGET), &kernels<float>, &kernels<double>};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/implementations-inl.hpp"

namespace tally::backends::simd {

template <class A>
row_kernels<A> row_kernels_of(instruction_set set, const spmv_arguments& a) {
  if constexpr (is_complex_v<A>) {
    return serial::row_kernels_of<A>(a);
  } else {
    const implementation& chosen = implementation_of(set);
    const auto pick = [&](const auto& kernels) {
      return kernels[index_of(real_values{}, a.a.values.element)]
                    [a.a.column_indices.element == type::int64];
    };
    if constexpr (std::is_same_v<A, float>) {
      return pick(*chosen.floats);
    } else {
      return pick(*chosen.doubles);
    }
  }
}

template <class A>
readable_x<A>::readable_x(const spmv_arguments& a) : arguments_(a) {
  if constexpr (!is_complex_v<A>) {
    if (a.x.increment == 1 && a.x.element == type_of<A>) return;
    elements_.reset(new A[a.x.size]);
    blocks::fetchers<A>[static_cast<std::size_t>(a.x.element)](a.x, elements_.get());
    arguments_.x = {elements_.get(), a.x.size, 1, type_of<A>};
  }
}

void spmv(const executor& where, const spmv_arguments& a) {
  const default_environment environment;
  with_row_accumulator(a, [&]<class A>() {
    if (a.exact)
      return multiply_rows_exactly<A>(a, 0, a.a.rows, *exact_node_of(where.instructions()));
    const readable_x<A> x(a);
    multiply_rows(row_kernels_of<A>(where.instructions(), a), x.arguments(), 0, a.a.rows);
  });
}

std::shared_ptr<const spmv_analysis> analyse(const executor&, const csr_operand& matrix) {
  auto analysis = std::make_shared<spmv_analysis>();
  analysis->description = "row after row on one thread; " + describe(lengths_of_rows(matrix));
  return analysis;
}

// The openmp column calls these on its threads' shares.
template row_kernels<float> row_kernels_of(instruction_set, const spmv_arguments&);
template row_kernels<double> row_kernels_of(instruction_set, const spmv_arguments&);
template row_kernels<std::complex<float>> row_kernels_of(instruction_set, const spmv_arguments&);
template row_kernels<std::complex<double>> row_kernels_of(instruction_set, const spmv_arguments&);
template class readable_x<float>;
template class readable_x<double>;
template class readable_x<std::complex<float>>;
template class readable_x<std::complex<double>>;

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
