// Public `multi_axpy` and `multi_axpy_dot`.
#include <tally/error.hpp>
#include <tally/operations/multi_axpy.hpp>

#include "backends/backend.hpp"
#include "backends/common/elementwise/multi_axpy.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"
#include "src/operands/pair_rules.hpp"
#include "src/operations/transform.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tally {
namespace {

std::string name_of_vector(std::size_t j) { return "vector " + std::to_string(j) + " of x"; }

void check_list(const check& check, std::span<const operand> list, const output_operand& y) {
  for (std::size_t j = 0; j < list.size(); ++j) {
    const operand& x = list[j];
    const std::string named = name_of_vector(j);
    if (x.element != list[0].element) {
      check.known_type(named.c_str(), x.element);
      check.fail(errc::unsupported_type, named, " is ", name(x.element), ", the first one is ",
                 name(list[0].element));
    }
    check.same_size(named.c_str(), x, "y", y);
    check.vector(named.c_str(), x);
  }
}

/// Neither a vector nor alpha shares memory with z.
void check_all_apart(const check& check, const multi_axpy_arguments& a, const char* z_name,
                     const operand& z) {
  const std::span<const operand> list = a.x.list;
  if (list.empty()) check_rows_apart(check, "x", a.x.rows, z_name, z);
  for (std::size_t j = 0; j < list.size(); ++j) {
    check_apart(check, name_of_vector(j).c_str(), list[j], z_name, z);
  }
  check_apart(check, "alpha", a.alpha, z_name, z);
}

/// Pre: types of alpha and x are known.
void check_arguments(const check& check, const multi_axpy_arguments& a) {
  const std::size_t k = a.x.size();
  if (a.alpha.size != k) {
    check.fail(errc::size_mismatch, "alpha has ", a.alpha.size, " elements, x has ", k, " vectors");
  }
  if (k == 0) {
    check.vector("y", a.y);
    return check_arguments(check, {elementwise::axpby, 1, a.beta, a.y, a.y, a.y});
  }
  scalar alpha;
  alpha.element = a.alpha.element;
  check.vector("alpha", a.alpha);
  check_arguments(check, {elementwise::axpby, alpha, a.beta, a.x[0], a.y, a.y});
  a.x.list.empty() ? check.shape("x", a.x.rows) : check_list(check, a.x.list, a.y);
  check_all_apart(check, a, "y", a.y);
}

void check_reach(const check& check, const executor& where, const multi_axpy_arguments& a,
                 bool alpha_on_host) {
  if (a.x.list.empty()) check.reach(where, "x", a.x.rows.first);
  for (const operand& x : a.x.list) check.reach(where, "x", x);
  check.reach(where, "y", a.y);
  if (!alpha_on_host || where.backend()->is_on_host) check.reach(where, "alpha", a.alpha);
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

/// Arguments of backend::multi_axpy.
struct reduced_update {
  multi_axpy_arguments arguments;
  type computation;
  bool alpha_on_host;
  std::vector<operand> list = {};  ///< `arguments.x.list`, if of real numbers
};

/// Checks memory. Pre: vectors, not empty.
reduced_update reduced(const check& check, const executor& where, const multi_axpy_arguments& a) {
  const bool needs_check = check::is_needed(where);
  const bool alpha_on_host = where.backend()->is_on_host || !needs_check ||
                             locate(a.alpha.data).device == backends::place::none;
  if (needs_check) check_reach(check, where, a, alpha_on_host);
  reduced_update made = {
      a, detail::computation_type(elementwise::axpby, a.x.element(), a.y.element), alpha_on_host};
  if (are_numbers(a, alpha_on_host)) {
    multi_axpy_arguments& numbers = made.arguments;
    for (const operand& x : a.x.list) made.list.push_back(numbers_of(x));
    numbers.x.list = made.list;
    numbers.x.rows.first = numbers_of(numbers.x.rows.first);
    numbers.x.rows.leading_dimension *= 2;
    numbers.x.rows.block_stride *= 2;
    numbers.y = numbers_of(numbers.y);
    made.computation = part_of(made.computation);
  }
  return made;
}

/// Returns the executor, or the one chosen by memory and size.
executor chosen(const executor& where, const multi_axpy_arguments& a) {
  if (where.backend() != nullptr) return where;
  if (a.x.size() == 0) return choose(a.y);
  operand all = a.x[0];
  all.size *= a.x.size();
  return choose(all, a.y);
}

/// y = beta y. Pre: no vectors; valid arguments, but for memory.
void scale(const check& check, const executor& where, const multi_axpy_arguments& a) {
  const executor on = chosen(where, a);
  if (check::is_needed(on)) check.reach(on, "y", a.y);
  if (a.beta.is_zero()) return transform(on, {elementwise::fill, 0, {}, {}, {}, a.y});
  transform(on, {elementwise::scal, a.beta, {}, a.y, {}, a.y});
}

void check_types(const check& check, const multi_axpy_arguments& a) {
  check.known_type("alpha", a.alpha.element);
  check.known_type("x", a.x.element());
}

/// Pre: vectors; valid arguments of multi_axpy.
void check_results(const check& check, const multi_axpy_dot_arguments& a) {
  const output& to = a.results;
  const type x = a.update.x.element(), y = a.update.y.element;
  check.conjugated(a.conjugated);
  check.known_type("result", to.element);
  if (to.words) {
    check.fail(errc::invalid_argument, "the results are words; updates round their sums");
  }
  const std::size_t k = a.update.x.size();
  const pair_rules& rules = rules_of(x, y);
  check.sum_type("the result", to.element, rules.rule, rules.widest, x, y);
  check.pointer("result", to.data, to.element, k);
  const operand results = {to.data, k, 1, to.element};
  check_all_apart(check, a.update, "result", results);
  check_apart(check, "y", a.update.y, "result", results);
}

/// Products of the vectors with y in canonical order (src/operands/pair_rules.hpp); `list` is their
/// memory.
multi_dot_arguments dots_of(const multi_axpy_dot_arguments& a, std::vector<operand_pair>& list) {
  const operand_list& x = a.update.x;
  const operand y = a.update.y;
  multi_dot_arguments dots = {{}, a.conjugated, a.results, a.options};
  for (const operand& each : x.list) list.push_back({each, y});
  if (list.empty()) dots.pairs = {x.rows, {y, x.size()}};
  if (!in_order(x.element(), y.element)) {
    dots.conjugated = backends::swapped(dots.conjugated);
    std::swap(dots.pairs.x, dots.pairs.y);
    for (operand_pair& each : list) std::swap(each.x, each.y);
  }
  dots.pairs.list = list;
  return dots;
}

}  // namespace

void multi_axpy(const executor& where, const multi_axpy_arguments& a) {
  const backends::default_environment environment;
  constexpr check check{"tally::multi_axpy"};
  check_types(check, a);
  check_arguments(check, a);
  if (a.x.size() == 0) return scale(check, where, a);
  if (a.y.size == 0) return;
  const executor on = chosen(where, a);
  const reduced_update update = reduced(check, on, a);
  backends::multi_axpy(on, update.arguments, update.computation, update.alpha_on_host);
}

void multi_axpy_dot(const executor& where, const multi_axpy_dot_arguments& a) {
  const backends::default_environment environment;
  constexpr check check{"tally::multi_axpy_dot"};
  check_types(check, a.update);
  check_arguments(check, a.update);
  if (a.update.x.size() == 0) return scale(check, where, a.update);
  check_results(check, a);
  std::vector<operand_pair> list;
  const multi_dot_arguments dots = dots_of(a, list);
  const executor on = chosen(where, a.update);
  if (check::is_needed(on)) check.result(on, a.results, a.options.wait);
  if (a.update.y.size == 0) return backends::multi_dot(on, dots);
  const reduced_update update = reduced(check, on, a.update);
  backends::multi_axpy_dot(on, update.arguments, update.computation, update.alpha_on_host, dots);
}

}  // namespace tally
