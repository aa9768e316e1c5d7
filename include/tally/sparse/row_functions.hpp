// Functions of a sparse matrix's rows: diagonal, row_norms, scale_rows.
//
// Promise: equal bits on every executor, by the formulas below. A NaN is written as the positive
// quiet one with an empty payload.
//
// Matrices are as for `spmv` (<tally/sparse/spmv.hpp>), also of four arrays, but no transposes.
// Columns may be unsorted and repeat. Offsets and columns are the caller's responsibility, as
// there; `validate` checks them.
//
// Blocking: CPU backends return when the output is written, CUDA and `kokkos` on a device once the
// work is queued; but `row_norms` keeps magnitudes there in memory of its own, as many as values,
// and blocks. A workspace does not run them.
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

constexpr bool takes_diagonal(type value, type d) {
  return is_in<matrix_value_types>(d) && (is_complex(d) || !is_complex(value));
}
constexpr bool takes_norms(type value, type r) {
  return r == type::float64 || (r == type::float32 && part_of(value) != type::float64);
}
constexpr bool takes_factors(type value, type d) {
  return is_in<matrix_value_types>(d) && (is_complex(value) || !is_complex(d));
}

template <class M>
inline constexpr wrong wrong_stored_matrix = [] {
  if constexpr (stored_matrix<M>) {
    return unless(is_in<matrix_value_types>(type_of<matrix_value_t<M>>),
                  wrong::a_matrix_is_a_tally_csr_view_and_no_transpose);
  } else {
    return first_wrong<wrong_matrix<M>, wrong::a_matrix_is_a_tally_csr_view_and_no_transpose>;
  }
}();

struct diagonal_call : call<> {
  template <class M, class D>
  static consteval wrong of() {
    constexpr wrong why = first_wrong<wrong_stored_matrix<M>, wrong_output<D>>;
    if constexpr (why == wrong::nothing) {
      return unless(takes_diagonal(type_of<matrix_value_t<M>>, type_of<element_t<D>>),
                    wrong::the_diagonal_is_complex_where_the_matrix_is);
    } else {
      return why;
    }
  }
};
struct row_norms_call : call<grade> {
  template <class M, class Which, class R>
  static consteval wrong of() {
    constexpr wrong why = first_wrong<wrong_stored_matrix<M>,
                                      unless(std::same_as<std::remove_cv_t<Which>, row_norm>,
                                             wrong::arguments_are_of_no_form_of_the_function),
                                      wrong_output<R>>;
    if constexpr (why == wrong::nothing) {
      return unless(takes_norms(type_of<matrix_value_t<M>>, type_of<element_t<R>>),
                    wrong::norms_of_rows_are_double);
    } else {
      return why;
    }
  }
};
struct scale_rows_call : call<> {
  template <class M, class D, class Z>
  static consteval wrong of() {
    constexpr wrong why = first_wrong<wrong_stored_matrix<M>, wrong_vector<D>, wrong_output<Z>>;
    if constexpr (why == wrong::nothing) {
      using V = matrix_value_t<M>;
      return unless(
          takes_factors(type_of<V>, type_of<element_t<D>>) && std::same_as<V, element_t<Z>>,
          wrong::factors_of_rows_are_real_or_the_matrix_and_the_results_of_its_type_are_complex);
    } else {
      return why;
    }
  }
};

}  // namespace detail

/// d_i = a_ii, i = 0 ... min(m, n) - 1: the value stored for row and column i; of several their
/// sum, in the order stored, in the wider of the types of `sum` and d; without one 0. Rounded to
/// d's type.
/// @param a  a `tally::csr_view` of m rows and n columns.
/// @param d  min(m, n) writable elements, floating-point or complex, complex if the values are;
///           shares no memory with the matrix.
/// @throws error as `spmv`; invalid_argument for an executor that cannot.
template <class M, class D>
  requires detail::taken<detail::diagonal_call, M, D>
void diagonal(const executor& where, const M& a, D&& d) {
  apply_to_rows(where, {as_operand(a), row_function::diagonal, {}, as_output(d)});
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
  requires detail::taken<detail::row_norms_call, M, row_norm, R>
void row_norms(const executor& where, const M& a, row_norm which, R&& r, grade g = {}) {
  constexpr row_function none{255};  // which is refused
  const auto what = which == row_norm::one        ? row_function::one_norm
                    : which == row_norm::infinity ? row_function::infinity_norm
                                                  : none;
  apply_to_rows(where, {as_operand(a), what, {}, as_output(r), g});
}

/// z_k = a_k d_i for each value k of row i, as `mul` has it.
/// @param a  as above.
/// @param d  m elements, floating-point, or complex if the values are.
/// @param z  as many writable elements as A has values, of their type: the values themselves, or
///           sharing no memory with the matrix or d. With four arrays those in no row stay as they
///           are.
template <class M, class D, class Z>
  requires detail::taken<detail::scale_rows_call, M, D, Z>
void scale_rows(const executor& where, const M& a, const D& d, Z&& z) {
  apply_to_rows(where, {as_operand(a), row_function::scale, as_operand(d), as_output(z)});
}

/// The same on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::diagonal_call, T...>
void diagonal(T&&... arguments) {
  diagonal(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::diagonal_call, T...>>
  requires detail::refused<why, T...>
void diagonal(T&&...) = delete;  // [where,] A, d

/// The same on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::row_norms_call, T...>
void row_norms(T&&... arguments) {
  row_norms(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::row_norms_call, T...>>
  requires detail::refused<why, T...>
void row_norms(T&&...) = delete;  // [where,] A, which, r[, grade]

/// The same on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::scale_rows_call, T...>
void scale_rows(T&&... arguments) {
  scale_rows(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::scale_rows_call, T...>>
  requires detail::refused<why, T...>
void scale_rows(T&&...) = delete;  // [where,] A, d, z

}  // namespace tally
