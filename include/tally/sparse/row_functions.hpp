// Functions of a sparse matrix's rows: diagonal, row_norms, scale_rows.
//
// Promise: equal bits on every executor, by the formulas below. A NaN is written as the positive
// quiet one with an empty payload.
//
// Matrices are as for `spmv` (<tally/sparse/spmv.hpp>), also of four arrays, but no transposes.
// Columns may be unsorted and repeat. Offsets and columns are the caller's responsibility, as
// there; `validate` checks them.
//
// Blocking: CPU backends return when the output is written, CUDA once the work is queued; but
// `row_norms` keeps magnitudes there in memory of its own, as many as values, and blocks. `kokkos`
// runs on the host alone, and a workspace not at all.
#pragma once

#include <tally/export.h>
#include <tally/detail/arguments.hpp>
#include <tally/executor.hpp>
#include <tally/numerics/exact.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/sparse/csr_view.hpp>
#include <tally/sparse/spmv.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tally {

/// Norms of rows.
enum class row_norm : std::uint8_t {
  one,       ///< the sum of magnitudes
  infinity,  ///< the largest magnitude
};

/// What `apply_to_rows` computes.
enum class row_function : std::uint8_t {
  diagonal,       ///< `diagonal`
  one_norm,       ///< `row_norms`
  infinity_norm,  ///< `row_norms`
  scale,          ///< `scale_rows`
};

/// Arguments with types erased.
struct row_function_arguments {
  csr_operand a;                               ///< A, not transposed
  row_function what = row_function::diagonal;  ///< the function
  operand factors = {};                        ///< of scale_rows, one per row
  output_operand z = {};                       ///< results
  tally::grade grade = {};                     ///< of sums of magnitudes
};

/// The functions with types erased.
TALLY_EXPORT void apply_to_rows(const executor& where, const row_function_arguments& arguments);

namespace detail {

template <class M>
constexpr bool is_plain_matrix() {
  if constexpr (is_matrix<M>()) {
    constexpr bool valid =
        requires(const M& a) { a.values; } && is_in<matrix_value_types>(type_of<matrix_value_t<M>>);
    static_assert(valid,
                  "functions of rows are of a tally::csr_view of floating-point or complex values, "
                  "not of a transpose");
    return valid;
  } else {
    return false;
  }
}

constexpr bool takes_diagonal(type value, type d) {
  return is_in<matrix_value_types>(d) && (is_complex(d) || !is_complex(value));
}
constexpr bool takes_norms(type value, type r) {
  return r == type::float64 || (r == type::float32 && part_of(value) != type::float64);
}
constexpr bool takes_factors(type value, type d) {
  return is_in<matrix_value_types>(d) && (is_complex(value) || !is_complex(d));
}

}  // namespace detail

/// d_i = a_ii, i = 0 ... min(m, n) - 1: the value stored for row and column i; of several their
/// sum, in the order stored, in the wider of the types of `sum` and d; without one 0. Rounded to
/// d's type.
/// @param a  a `tally::csr_view` of m rows and n columns.
/// @param d  min(m, n) writable elements, floating-point or complex, complex if the values are;
///           shares no memory with the matrix.
/// @throws error as `spmv`; invalid_argument for an executor that cannot.
template <class M, class D>
auto diagonal(const executor& where, const M& a, D&& d) {
  if constexpr (detail::is_plain_matrix<M>() && detail::is_output<D&>()) {
    constexpr bool valid = detail::takes_diagonal(type_of<matrix_value_t<M>>,
                                                  type_of<element_t<std::remove_cvref_t<D>>>);
    static_assert(valid, "d is floating-point or complex, and complex where A is");
    if constexpr (valid) {
      apply_to_rows(where, {as_operand(a), row_function::diagonal, {}, as_output(d)});
    }
  }
}

/// r_i = the sum of the magnitudes of row i, in the row order of `spmv`, or the largest one. Of
/// complex values magnitudes are `abs`, rounded to their real type. An empty row's norm is 0; a
/// NaN makes the norm NaN.
/// @param a      as above.
/// @param which  `row_norm::one` or `row_norm::infinity`.
/// @param r      m writable elements, double or, unless the values are of 64 bits, float; shares no
///               memory with the matrix.
/// @param g      `tally::exact` for correctly rounded sums.
template <class M, class R>
auto row_norms(const executor& where, const M& a, row_norm which, R&& r, grade g = {}) {
  if constexpr (detail::is_plain_matrix<M>() && detail::is_output<R&>()) {
    constexpr bool valid =
        detail::takes_norms(type_of<matrix_value_t<M>>, type_of<element_t<std::remove_cvref_t<R>>>);
    static_assert(valid, "norms are double or, unless A is of 64 bits, float");
    if constexpr (valid) {
      constexpr row_function none{255};  // which is refused
      const auto what = which == row_norm::one        ? row_function::one_norm
                        : which == row_norm::infinity ? row_function::infinity_norm
                                                      : none;
      apply_to_rows(where, {as_operand(a), what, {}, as_output(r), g});
    }
  }
}

/// z_k = a_k d_i for each value k of row i, as `mul` has it.
/// @param a  as above.
/// @param d  m elements, floating-point, or complex if the values are.
/// @param z  as many writable elements as A has values, of their type: the values themselves, or
///           sharing no memory with the matrix or d. With four arrays those in no row stay as they
///           are.
template <class M, class D, class Z>
auto scale_rows(const executor& where, const M& a, const D& d, Z&& z) {
  if constexpr (detail::is_plain_matrix<M>() && detail::is_vector<D>() && detail::is_output<Z&>()) {
    using V = matrix_value_t<M>;
    constexpr bool valid = detail::takes_factors(type_of<V>, type_of<element_t<D>>) &&
                           std::same_as<V, element_t<std::remove_cvref_t<Z>>>;
    static_assert(valid,
                  "factors of rows are floating-point, or complex where A is, and the results of "
                  "A's type");
    if constexpr (valid) {
      apply_to_rows(where, {as_operand(a), row_function::scale, as_operand(d), as_output(z)});
    }
  }
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<2, void, T...>>
  requires(!detail::on_executor<2, 2, T...>)
auto diagonal(T&&... arguments) {
  static_assert(valid, "diagonal(A, d) may begin with an executor");
  if constexpr (valid) return diagonal(automatic(), arguments...);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<3, grade, T...>>
  requires(!detail::on_executor<3, 4, T...>)
auto row_norms(T&&... arguments) {
  static_assert(valid,
                "row_norms(A, which, r) may begin with an executor and end with tally::exact");
  if constexpr (valid) return row_norms(automatic(), arguments...);
}

/// The same on `automatic()`.
template <class... T, bool valid = detail::is_call<3, void, T...>>
  requires(!detail::on_executor<3, 3, T...>)
auto scale_rows(T&&... arguments) {
  static_assert(valid, "scale_rows(A, d, z) may begin with an executor");
  if constexpr (valid) return scale_rows(automatic(), arguments...);
}

}  // namespace tally
