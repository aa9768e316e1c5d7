// Public `multi_axpy`.
#include <tally/error.hpp>
#include <tally/operations/multi_axpy.hpp>

#include "backends/backend.hpp"
#include "backends/common/elementwise/multi_axpy.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"
#include "src/operations/transform.hpp"

#include <string>
#include <vector>

namespace tally {
namespace {

constexpr check check_of{"tally::multi_axpy"};

void check_rows(const operand_rows& x, const output_operand& y) {
  check_of.shape("x", x);
  check_rows_apart(check_of, "x", x, "y", y);
}

void check_list(std::span<const operand> list, const output_operand& y) {
  for (std::size_t j = 0; j < list.size(); ++j) {
    const operand& x = list[j];
    const std::string named = "vector " + std::to_string(j) + " of x";
    if (x.element != list[0].element) {
      check_of.known_type(named.c_str(), x.element);
      check_of.fail(errc::unsupported_type, named, " is ", name(x.element), ", the first one is ",
                    name(list[0].element));
    }
    check_of.same_size(named.c_str(), x, "y", y);
    check_of.vector(named.c_str(), x);
    check_apart(check_of, named.c_str(), x, "y", y);
  }
}

/// Pre: vectors.
void check_arguments(const multi_axpy_arguments& a) {
  scalar alpha;
  alpha.element = a.alpha.element;
  check_of.vector("alpha", a.alpha);
  check_arguments(check_of, {elementwise::axpby, alpha, a.beta, a.x[0], a.y, a.y});
  a.x.list.empty() ? check_rows(a.x.rows, a.y) : check_list(a.x.list, a.y);
  check_apart(check_of, "alpha", a.alpha, "y", a.y);
}

void check_reach(const executor& where, const multi_axpy_arguments& a, bool alpha_on_host) {
  if (a.x.list.empty()) check_of.reach(where, "x", a.x.rows.first);
  for (const operand& x : a.x.list) check_of.reach(where, "x", x);
  check_of.reach(where, "y", a.y);
  if (!alpha_on_host || where.backend()->is_on_host) check_of.reach(where, "alpha", a.alpha);
}

bool are_real(const operand& factors) {
  for (std::size_t j = 0; j < factors.size; ++j) {
    if (!backends::factor_at(factors, j).is_real()) return false;
  }
  return true;
}

/// Whether complex vectors may be processed as real: factors on the host, all real.
bool are_numbers(const multi_axpy_arguments& a, bool alpha_on_host) {
  if (!is_complex(a.y.element) || a.y.increment != 1 || !a.beta.is_real()) return false;
  for (std::size_t j = 0; j < a.x.size(); ++j) {
    if (a.x[j].element != a.y.element || a.x[j].increment != 1) return false;
  }
  return alpha_on_host && are_real(a.alpha);
}

/// Pre: vectors, not empty.
void run(const executor& where, const multi_axpy_arguments& given) {
  const backends::backend& on = *where.backend();
  const bool needs_check = check::is_needed(where);
  const bool alpha_on_host =
      on.is_on_host || !needs_check || locate(given.alpha.data).device == backends::place::none;
  if (needs_check) check_reach(where, given, alpha_on_host);
  multi_axpy_arguments a = given;
  type computation = detail::computation_type(elementwise::axpby, a.x.element(), a.y.element);
  std::vector<operand> list;
  if (are_numbers(a, alpha_on_host)) {
    for (const operand& x : a.x.list) list.push_back(numbers_of(x));
    a.x.list = list;
    a.x.rows.first = numbers_of(a.x.rows.first);
    a.x.rows.leading_dimension *= 2;
    a.x.rows.block_stride *= 2;
    a.y = numbers_of(a.y);
    computation = part_of(computation);
  }
  on.multi_axpy(where, a, computation, alpha_on_host);
}

}  // namespace

void multi_axpy(const executor& where, const multi_axpy_arguments& a) {
  const std::size_t k = a.x.size();
  const backends::default_environment environment;
  check_of.known_type("alpha", a.alpha.element);
  check_of.known_type("x", a.x.element());
  if (a.alpha.size != k) {
    check_of.fail(errc::size_mismatch, "alpha has ", a.alpha.size, " elements, x has ", k,
                  " vectors");
  }
  if (k == 0) {
    check_of.vector("y", a.y);
    check_arguments(check_of, {elementwise::axpby, a.beta, a.beta, a.y, a.y, a.y});
    if (where.backend() != nullptr && check::is_needed(where)) check_of.reach(where, "y", a.y);
    if (a.beta.is_zero()) return transform(where, {elementwise::fill, 0, {}, {}, {}, a.y});
    return transform(where, {elementwise::scal, a.beta, {}, a.y, {}, a.y});
  }
  check_arguments(a);
  if (a.y.size == 0) return;
  if (where.backend() != nullptr) return run(where, a);
  operand all = a.x[0];
  all.size *= k;
  run(choose(all, a.y), a);
}

}  // namespace tally
