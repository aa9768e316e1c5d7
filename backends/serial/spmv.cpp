// spmv in plain loops.
#include "backends/serial/spmv.hpp"
#include "backends/serial/serial.hpp"

#include "backends/backends.hpp"
#include "backends/common/sparse/csr_defects.hpp"
#include "backends/common/sparse/exact_rows.hpp"
#include "backends/common/sparse/row_kernels.hpp"
#include "backends/common/sparse/transpose.hpp"
#include "backends/serial/term.hpp"

#include <algorithm>
#include <new>

namespace tally::backends::serial {
namespace {

/// Stands for a vector of ones.
struct ones {};

template <class A, class V, class X>
struct kernel {
  const detail::stored_t<V>* values;
  const X* x;
  index_vector columns;
  std::ptrdiff_t increment;

  explicit kernel(const csr_product& a)
      : values(static_cast<const detail::stored_t<V>*>(a.a.values.data)),
        x(static_cast<const X*>(a.x.data)),
        columns(a.a.column_indices),
        increment(a.x.increment) {}

  /// Returns a function of j: the term `first + j`.
  auto terms(std::size_t first) const {
    return [this, first](std::size_t j) {
      if constexpr (std::is_same_v<X, ones>) {
        return term<A>(values[first + j], real_t<A>{1});
      } else {
        return term<A>(values[first + j], x[columns[first + j] * increment]);
      }
    };
  }

  static void rows(const csr_product& a, std::size_t first, std::size_t n, A* sums) {
    const kernel k(a);
    const row_bounds rows(a.a);
    for (std::size_t i = 0; i < n; ++i) {
      const auto terms = k.terms(rows.begin(first + i));
      sums[i] = finish(sum_row<dot_sum<A>>(rows.length(first + i), terms), a.conjugated);
    }
  }

  static dot_sum<A> part(const csr_product& a, std::size_t first, std::size_t n) {
    return sum_in_order<dot_sum<A>>(n, kernel(a).terms(first));
  }
};

template <class A, class V, class X>
constexpr row_kernels<A> kernels_of() {
  if constexpr (std::is_same_v<dot_result_t<V, X>, A>) {
    return {&kernel<A, V, X>::rows, &kernel<A, V, X>::part};
  } else {
    return {};
  }
}

template <class A>
using value_types =
    std::conditional_t<std::is_integral_v<A>, integer_types, detail::matrix_value_types>;

template <class A>
constexpr auto value_kernels = table_over<value_types<A>>([]<class V>() {
  row_kernels<A> made;
  if constexpr (std::is_same_v<dot_result_t<V, real_t<A>>, A>) {
    made.rows = &kernel<A, V, ones>::rows;
    made.part = &kernel<A, V, ones>::part;
  }
  return made;
});

template <class A>
constexpr auto kernels = table_over<detail::matrix_value_types>([]<class V>() {
  return table_over<detail::spmv_vector_types>([]<class X>() { return kernels_of<A, V, X>(); });
});

}  // namespace

template <class A>
row_kernels<A> row_kernels_of(const csr_product& a) {
  if (a.sums_values()) return value_kernels<A>[a.a.values.element];
  return kernels<A>[a.a.values.element][a.x.element];
}

void backend::spmv(const executor&, const csr_product& a) const {
  if (is_integer(a.a.values.element)) {
    return multiply_rows(value_kernels<std::int64_t>[a.a.values.element], a, 0, a.a.rows);
  }
  with_row_accumulator(a, [&]<class A>() {
    if (a.options.grade.is_exact()) return multiply_rows_exactly<A>(a, 0, a.a.rows, {add_exact});
    multiply_rows(row_kernels_of<A>(a), a, 0, a.a.rows);
  });
}

// For derived backends, too: when some columns are written, memory that runs out is done without.
void backend::spmm(const executor& where, const csr_products& a) const {
  for (std::size_t j = 0; j < a.columns; ++j) {
    const csr_product column = a.slice(j, 1).first;
    try {
      backends::spmv(where, column);
    } catch (const std::bad_alloc&) {
      if (j == 0) throw;
      backend::spmv(where, column);
    }
  }
}

std::shared_ptr<const spmv_analysis> backend::analyse(const executor&, const csr_operand&,
                                                      const planned_products&) const {
  auto analysis = std::make_shared<spmv_analysis>();
  analysis->description = "one thread, row after row";
  return analysis;
}

std::shared_ptr<const csr_transpose> backend::transpose(const executor&, const csr_operand& a,
                                                        bool keeps_values) const {
  return transpose_on_host(a, keeps_values);
}

csr_defect backend::find_defect(const executor&, const csr_operand& a) const {
  return first_defect(a,
                      [&](std::size_t n, csr_defects::search& search) { return search(a, 0, n); });
}

// For the simd backend: complex rows, and values of 16 bits.
template row_kernels<float> row_kernels_of(const csr_product&);
template row_kernels<double> row_kernels_of(const csr_product&);
template row_kernels<std::complex<float>> row_kernels_of(const csr_product&);
template row_kernels<std::complex<double>> row_kernels_of(const csr_product&);

}  // namespace tally::backends::serial
