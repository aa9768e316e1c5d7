// spmv on Kokkos, a row per thread.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/order/row_order.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/common/sparse/csr_defects.hpp"
#include "backends/common/types/typed_vector.hpp"
#include "backends/kokkos/sums.hpp"

#include <tally/numerics/exact_sum.hpp>

#include <algorithm>

namespace tally::backends::kokkos {
namespace {

/// Terms of a real part of a sum: part `of_value` of a value times part `of_x` of an element of x.
struct product_of_parts {
  int of_value, of_x;
};

struct matrix_terms {
  index_vector columns, places;  // without `places` value j is term j's
  numbers values, x;
  conjugate conjugated;

  explicit matrix_terms(const csr_product& a)
      : columns(a.a.column_indices),
        places(a.places),
        values(a.a.values),
        x(a.x),
        conjugated(a.conjugated) {}

  template <class R>
  KOKKOS_FUNCTION R value(std::size_t j, int part) const {
    return values.get<R>(places.data == nullptr ? j : static_cast<std::size_t>(places[j]), part);
  }
  template <class R>
  KOKKOS_FUNCTION R element(std::size_t j, int part) const {
    if (x.v.data == nullptr) return R(part == 0);  // values alone
    return x.get<R>(static_cast<std::size_t>(columns[j]), part);
  }
};

/// Sums in the row order, one real sum after another.
template <class R>
struct ordered {
  matrix_terms terms;

  /// Terms first, first + step, ... before end.
  KOKKOS_FUNCTION R lane(product_of_parts p, std::size_t first, std::size_t end,
                         std::size_t step) const {
    R sum{0};
    for (std::size_t j = first; j < end; j += step) {
      sum = sum + multiply(terms.value<R>(j, p.of_value), terms.element<R>(j, p.of_x));
    }
    return sum;
  }

  template <std::size_t lanes>
  KOKKOS_FUNCTION R folded(product_of_parts p, std::size_t first, std::size_t end) const {
    R sums[lanes];
    for (std::size_t l = 0; l < lanes; ++l) sums[l] = lane(p, first + l, end, lanes);
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) sums[l] = sums[l] + sums[l + half];
    }
    return sums[0];
  }

  KOKKOS_FUNCTION R sum(product_of_parts p, std::size_t first, std::size_t end) const {
    if (end - first <= row_order::short_row) return folded<row_order::lanes>(p, first, end);
    tree<R> chunks;
    for (std::size_t j = first; j < end; j += order::chunk) {
      chunks.add(folded<order::lanes>(p, j, j + order::chunk < end ? j + order::chunk : end));
    }
    return chunks.total();
  }

  template <class A>
  KOKKOS_FUNCTION complex_number<R> result(std::size_t first, std::size_t end) const {
    if constexpr (!is_complex_v<A>) {
      return {canonical(sum({0, 0}, first, end)), R{0}};
    } else {
      dot_sum<A> all{};
      all.rr = sum({0, 0}, first, end);
      if (terms.values.v.complex && terms.x.v.complex) all.ii = sum({1, 1}, first, end);
      if (terms.x.v.complex) all.ri = sum({0, 1}, first, end);
      if (terms.values.v.complex) all.ir = sum({1, 0}, first, end);
      return finish_parts(all, terms.conjugated);
    }
  }
};

template <class R>
struct exact_terms {
  matrix_terms terms;

  KOKKOS_FUNCTION void add(exact_sum<double>& sum, product_of_parts p, double sign,
                           std::size_t first, std::size_t end) const {
    for (std::size_t j = first; j < end; ++j) {
      sum.add_product(sign * terms.value<double>(j, p.of_value), terms.element<double>(j, p.of_x));
    }
  }

  template <class A>
  KOKKOS_FUNCTION complex_number<R> result(std::size_t first, std::size_t end) const {
    complex_number<R> rounded{};
    if (first == end) return rounded;
    const double sign = terms.conjugated == conjugate::none ? 1 : -1;  // of imaginary parts
    {
      exact_sum<double> re;
      add(re, {0, 0}, 1, first, end);
      if (terms.values.v.complex && terms.x.v.complex) add(re, {1, 1}, -sign, first, end);
      rounded.re = re.template round<R>();
    }
    if constexpr (is_complex_v<A>) {
      exact_sum<double> im;
      if (terms.x.v.complex) add(im, {0, 1}, 1, first, end);
      if (terms.values.v.complex) add(im, {1, 0}, sign, first, end);
      rounded.im = im.template round<R>();
    }
    return rounded;
  }
};

template <class A, class C, class Sums>
struct write_row {
  using V = computed_t<C>;
  Sums sums;
  row_bounds rows;
  factors<V> f;
  bool reads_addend;
  typed_vector addend, y;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const environment_guard environment;
    const auto parts = sums.template result<A>(rows.begin(i), rows.end(i));
    V sum{};
    if constexpr (is_complex_v<C>) {
      using T = real_t<C>;
      sum = {static_cast<T>(parts.re), static_cast<T>(parts.im)};
    } else {
      sum = static_cast<V>(parts.re);
    }
    y.put(i, reads_addend ? function<elementwise::axpby>(f, sum, addend.template get<V>(i))
                          : function<elementwise::scal>(f, sum, sum));
  }
};

template <class A, class C, class Sums>
void run(const csr_product& a, const Sums& sums) {
  const space where;
  Kokkos::parallel_for(
      "tally spmv", Kokkos::RangePolicy<space>(where, 0, a.a.rows),
      write_row<A, C, Sums>{sums, row_bounds(a.a),
                            factors<computed_t<C>>::template of<C>(a.alpha, a.beta),
                            a.reads_addend(), typed_vector(a.addend()), typed_vector(a.y)});
  if (on_host) where.fence();
}

/// A row of integers, values alone, modulo 2^64.
struct write_integer_row {
  row_bounds rows;
  typed_vector values, y;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    std::int64_t sum = 0;
    for (std::size_t j = rows.begin(i); j < rows.end(i); ++j) {
      sum = plus(sum, values.get<std::int64_t>(j));
    }
    y.put(i, sum);
  }
};

void sum_integers(const csr_product& a) {
  const space where;
  Kokkos::parallel_for(
      "tally segmented_sum", Kokkos::RangePolicy<space>(where, 0, a.a.rows),
      write_integer_row{row_bounds(a.a), typed_vector(a.a.values), typed_vector(a.y)});
  if (on_host) where.fence();
}

/// Returns the first bad index, else n.
template <class Bad>
std::size_t first_of(std::size_t n, const Bad& bad) {
  std::size_t first = n;
  Kokkos::parallel_reduce("tally csr", Kokkos::RangePolicy<space>(space(), 0, n), bad,
                          Kokkos::Min<std::size_t>(first));
  return std::min(first, n);
}

struct decreases {
  index_vector offsets;
  KOKKOS_FUNCTION void operator()(std::size_t i, std::size_t& first) const {
    if (offsets[i + 1] < offsets[i] && i < first) first = i;
  }
};

struct is_outside {
  index_vector columns;
  std::size_t bound;
  KOKKOS_FUNCTION void operator()(std::size_t j, std::size_t& first) const {
    if (static_cast<std::size_t>(columns[j]) >= bound && j < first) first = j;
  }
};

struct lies_outside {
  row_bounds rows;
  index_vector columns;
  std::int64_t nonzeros;
  std::size_t bound;

  /// Returns a row's defect, with `column` its index; for matrices of four arrays.
  KOKKOS_FUNCTION csr_defect::kind defect(std::size_t i, std::size_t& column) const {
    using kind = csr_defect::kind;
    if (rows.begins[i] < 0) return kind::early_row;
    if (rows.ends[i] < rows.begins[i]) return kind::decreasing_offset;
    if (rows.ends[i] > nonzeros) return kind::late_row;
    for (column = rows.begin(i); column < rows.end(i); ++column) {
      if (static_cast<std::size_t>(columns[column]) >= bound) return kind::column;
    }
    return kind::none;
  }
  KOKKOS_FUNCTION void operator()(std::size_t i, std::size_t& first) const {
    std::size_t column = 0;
    if (i < first && defect(i, column) != csr_defect::kind::none) first = i;
  }
};

/// Copies an index to the host.
std::int64_t index_at(const operand& v, std::size_t i) {
  const space where;
  std::int64_t value = 0;
  if (v.element == type::int64) {
    copy_to_host(where, static_cast<const std::int64_t*>(v.data) + i, &value, 1);
    where.fence();
  } else {
    std::int32_t narrow = 0;
    copy_to_host(where, static_cast<const std::int32_t*>(v.data) + i, &narrow, 1);
    where.fence();
    value = narrow;
  }
  return value;
}

/// Returns the first defect of a matrix of four arrays, if any.
csr_defect defect_of_rows(const csr_operand& a) {
  const lies_outside bad{row_bounds(a), index_vector(a.column_indices),
                         static_cast<std::int64_t>(a.nonzeros()), a.columns};
  const std::size_t row = first_of(a.rows, bad);
  if (row == a.rows) return {};
  return defect_of_row(a, row, index_at);
}

}  // namespace

void backend::spmv(const executor&, const csr_product& a) const {
  locked([&] {
    if (is_integer(a.a.values.element)) return sum_integers(a);
    const matrix_terms terms(a);
    with_row_accumulator(a, [&]<class A>() {
      using R = real_t<A>;
      with_combination<A>(a, [&]<class C>() {
        a.options.grade.is_exact() ? run<A, C>(a, exact_terms<R>{terms})
                                   : run<A, C>(a, ordered<R>{terms});
      });
    });
  });
}

std::shared_ptr<const spmv_analysis> backend::analyse(const executor&, const csr_operand&,
                                                      const planned_products&) const {
  auto analysis = std::make_shared<spmv_analysis>();
  analysis->description = "a row a thread";
  return analysis;
}

csr_defect backend::find_defect(const executor&, const csr_operand& a) const {
  using kind = csr_defect::kind;
  return locked([&]() -> csr_defect {
    if (a.row_ends) return defect_of_rows(a);
    if (const auto first = index_at(a.row_offsets, 0); first != 0) {
      return {kind::first_offset, 0, first, 0};
    }
    const std::size_t row = first_of(a.rows, decreases{index_vector(a.row_offsets)});
    if (row < a.rows) {
      return {kind::decreasing_offset, row, index_at(a.row_offsets, row + 1),
              index_at(a.row_offsets, row)};
    }
    const std::int64_t last = index_at(a.row_offsets, a.rows);
    if (static_cast<std::size_t>(last) != a.nonzeros()) return {kind::last_offset, a.rows, last, 0};
    const std::size_t j =
        first_of(a.nonzeros(), is_outside{index_vector(a.column_indices), a.columns});
    if (j < a.nonzeros()) return {kind::column, j, index_at(a.column_indices, j), 0};
    return {};
  });
}

}  // namespace tally::backends::kokkos
