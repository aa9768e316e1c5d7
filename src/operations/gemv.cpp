// Public `gemv`: several dot products, whose results update y.
#include <tally/error.hpp>
#include <tally/operations/gemv.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"
#include "src/operands/pair_rules.hpp"

#include <utility>

namespace tally {
namespace {

using detail::transposed;

void check_matrix(const check& check, const operand_rows& a) {
  check.known_type("A", a.first.element);
  check.shape("A", a);
  if (!a.is_one_block()) {
    check.fail(errc::invalid_argument, "A has more than one block of rows");
  }
}

void check_types(const check& check, const gemv_arguments& a, type sum) {
  check.known_type("y", a.y.element);
  if (!detail::gives_gemv(sum, a.y.element)) {
    check.fail(errc::unsupported_type, "A is ", name(a.a.first.element), ", x ", name(a.x.element),
               ", y ", name(a.y.element),
               "; A or x is floating-point or complex, and y is float32, float64, or complex, and "
               "complex where one of the others is");
  }
  const type combination = detail::spmv_combination(sum, a.y.element);
  for (const auto& [name, factor] : {std::pair("alpha", &a.alpha), std::pair("beta", &a.beta)}) {
    check.known_type(name, factor->element);
    if (detail::multiplies(factor->element, combination)) continue;
    check.fail(errc::unsupported_type, name, " is ", tally::name(factor->element),
               "; the computation is in ", tally::name(combination));
  }
}

/// Returns the rows of op(A).
operand_rows checked_rows(const check& check, const gemv_arguments& a) {
  if (a.options.wait) {
    check.fail(errc::invalid_argument, "options.wait is set; there is no form that waits");
  }
  check.enumerator("operation", a.operation, matrix_operation::conjugate_transpose, "operations");
  check_matrix(check, a.a);
  check.known_type("x", a.x.element);
  check_types(check, a, rules_of(a.a.first.element, a.x.element).rule);
  const bool is_transposed = a.operation != matrix_operation::none;
  operand_rows rows = is_transposed ? transposed(a.a) : a.a;
  if (is_transposed && a.a.leading_dimension == 0) {
    if (a.a.rows > 1 && a.a.first.size > 0) {
      check.fail(errc::zero_increment, "A has leading dimension 0; its transpose has no increment");
    }
    rows.first.increment = 1;
  }
  const char* const of_matrix = is_transposed ? " elements, the transpose " : " elements, A ";
  if (a.x.size != rows.first.size) {
    check.fail(errc::size_mismatch, "x has ", a.x.size, of_matrix, rows.first.size, " columns");
  }
  if (a.y.size != rows.rows) {
    check.fail(errc::size_mismatch, "y has ", a.y.size, of_matrix, rows.rows, " rows");
  }
  check.vector("x", a.x);
  check.vector("y", a.y);
  operand row_of_a = a.a.first;
  if (is_transposed && row_of_a.increment == 0) row_of_a.increment = 1;  // of equal elements
  if (a.a.rows > 0) check.vector("A", row_of_a);
  if (rows.rows > 0) check.vector("A", rows.first);
  check_rows_apart(check, "A", rows, "y", a.y);
  check_apart(check, "x", a.x, "y", a.y);
  return rows;
}

executor choose(const operand_rows& rows, const gemv_arguments& a) {
  operand all = rows.first;
  all.size *= rows.rows;
  return choose(all, a.x, a.y);
}

}  // namespace

void gemv(const executor& where, const gemv_arguments& a) {
  const backends::default_environment environment;
  const check check{"tally::gemv"};
  const operand_rows rows = checked_rows(check, a);
  if (a.y.size == 0) return;
  const executor on = where.backend() != nullptr ? where : choose(rows, a);
  if (check::is_needed(on)) {
    check.reach(on, "A", rows.first);
    check.reach(on, "x", a.x);
    check.reach(on, "y", a.y);
  }
  const bool conjugated = a.operation == matrix_operation::conjugate_transpose;
  const bool in_order = backends::in_order(rows.first.element, a.x.element);
  const operand_rows x{a.x, rows.rows};
  backends::multi_sum all =
      multi_dot_arguments{{in_order ? rows : x, in_order ? x : rows},
                          !conjugated ? conjugate::none
                          : in_order  ? conjugate::x
                                      : conjugate::y,
                          {nullptr, rules_of(rows.first.element, a.x.element).rule},
                          a.options};
  all.update = {a.y, a.alpha, a.beta};
  backends::multi_dot(on, all);
}

}  // namespace tally
