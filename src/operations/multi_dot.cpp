// Public `multi_dot`, `batched_dot` and `sums`.
#include <tally/error.hpp>
#include <tally/operations/multi_dot.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"
#include "src/operands/pair_rules.hpp"
#include "src/operations/reduce.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace tally {
namespace {

void check_pair(const check& check, const dot_pairs& pairs, std::size_t j) {
  const auto& [x, y] = pairs.list[j];
  const auto& [x0, y0] = pairs.list[0];
  const auto is_plain = [](const operand& v, const operand& v0) {
    return v.element == v0.element && check::has_reach(v) &&
           (v.size == 0 || (v.data != nullptr && check::is_aligned(v.data, v.element)));
  };
  if (j > 0 && x.size == y.size && is_plain(x, x0) && is_plain(y, y0)) return;

  const std::string of_pair = " of pair " + std::to_string(j);
  const std::string x_name = "x" + of_pair, y_name = "y" + of_pair;
  check.known_type(x_name.c_str(), x.element);
  check.known_type(y_name.c_str(), y.element);
  const auto same_type = [&](const std::string& who, const operand& v, const operand& v0) {
    if (v.element != v0.element) {
      check.fail(errc::unsupported_type, who, " is ", name(v.element), ", of pair 0 it is ",
                 name(v0.element));
    }
  };
  same_type(x_name, x, x0);
  same_type(y_name, y, y0);
  check.same_size(x_name.c_str(), x, y_name.c_str(), y);
  check.vector(x_name.c_str(), x);
  check.vector(y_name.c_str(), y);
}

void check_rows(const check& check, const operand_rows& x, const operand_rows& y) {
  check.known_type("x", x.first.element);
  check.known_type("y", y.first.element);
  if (x.rows != y.rows) {
    check.fail(errc::size_mismatch, "x has ", x.rows, " rows, y has ", y.rows);
  }
  check.shape("x", x);
  check.shape("y", y);
  if (x.first.size != y.first.size) {
    check.fail(errc::size_mismatch, "the rows of x have ", x.first.size, " elements, y has ",
               y.first.size);
  }
  if (x.rows == 0) return;
  check.vector("x", x.first);
  check.vector("y", y.first);
}

operand vector_of(const output& results, std::size_t n) {
  return results.words ? operand{results.data, n * exact_words(results.element), 1, type::int64}
                       : operand{results.data, n, 1, results.element};
}

/// Results are written while later pairs are read.
void check_results_apart(const check& check, const multi_dot_arguments& a) {
  const operand results = vector_of(a.results, a.pairs.size());
  if (a.pairs.list.empty()) {
    check_rows_apart(check, "x", a.pairs.x, "result", results);
    check_rows_apart(check, "y", a.pairs.y, "result", results);
  }
  const extent all(results);
  for (std::size_t j = 0; j < a.pairs.list.size(); ++j) {
    const auto& [x, y] = a.pairs.list[j];
    if (x.size == 0 || !(extent(x).meets(all) || extent(y).meets(all))) continue;
    const std::string of_pair = " of pair " + std::to_string(j);
    check_apart(check, ("x" + of_pair).c_str(), x, "result", results);
    check_apart(check, ("y" + of_pair).c_str(), y, "result", results);
  }
}

void check_arguments(const check& check, const multi_dot_arguments& a) {
  const dot_pairs& pairs = a.pairs;
  if (pairs.list.empty()) {
    check_rows(check, pairs.x, pairs.y);
  } else {
    for (std::size_t j = 0; j < pairs.list.size(); ++j) check_pair(check, pairs, j);
  }
  check.conjugated(a.conjugated);
  if (pairs.size() == 0) return;
  check.known_type("result", a.results.element);
  const auto [x, y] = pairs[0];
  const pair_rules& rules = rules_of(x.element, y.element);
  if (a.results.words) {
    check.words(a.results, is_complex(rules.rule), rules.rule, pairs.size());
    return check_results_apart(check, a);
  }
  check.sum_type("the result", a.results.element, rules.rule, rules.widest, x.element, y.element);
  check.pointer("result", a.results.data, a.results.element, pairs.size());
  check_results_apart(check, a);
}

void check_reach(const check& check, const executor& where, const multi_dot_arguments& a) {
  if (a.pairs.list.empty()) {
    check.reach(where, "x", a.pairs.x.first);
    check.reach(where, "y", a.pairs.y.first);
  }
  for (const auto& [x, y] : a.pairs.list) {
    check.reach(where, "x", x);
    check.reach(where, "y", y);
  }
  check.result(where, a.results, a.options.wait);
}

/// Chooses by the memory of the first nonempty vector and the total size.
executor choose(const dot_pairs& pairs) {
  operand x = pairs[0].x, y = pairs[0].y;
  if (pairs.list.empty()) {
    x.size *= pairs.size();
    if (pairs.y.leading_dimension != 0) y.size *= pairs.size();
    return choose(x, y);
  }
  for (std::size_t j = 1; j < pairs.size(); ++j) {
    const operand_pair& next = pairs.list[j];
    if (x.size == 0) {
      x = next.x, y = next.y;
    } else {
      x.size += next.x.size;
    }
  }
  y.size = x.size;
  return choose(x, y);
}

/// Runs with x and y swapped, in canonical order (src/operands/pair_rules.hpp).
[[gnu::noinline]] void run_swapped(const executor& where, multi_dot_arguments a) {
  a.conjugated = backends::swapped(a.conjugated);
  std::swap(a.pairs.x, a.pairs.y);
  std::vector<operand_pair> list(a.pairs.list.begin(), a.pairs.list.end());
  for (operand_pair& each : list) std::swap(each.x, each.y);
  a.pairs.list = list;
  backends::multi_dot(where, a);
}

void run(const char* function, const executor& where, const multi_dot_arguments& a) {
  const check check{function};
  check_arguments(check, a);
  if (a.pairs.size() == 0) return;
  if (where.backend() == nullptr) return run(function, choose(a.pairs), a);
  if (check::is_needed(where)) check_reach(check, where, a);
  const auto [x, y] = a.pairs[0];
  if (!in_order(x.element, y.element)) return run_swapped(where, a);
  backends::multi_dot(where, a);
}

}  // namespace

void multi_dot(const executor& where, const multi_dot_arguments& a) {
  const backends::default_environment environment;
  run("tally::multi_dot", where, a);
}

void batched_dot(const executor& where, const multi_dot_arguments& a) {
  const backends::default_environment environment;
  run("tally::batched_dot", where, a);
}

void sums(const executor& where, const sums_arguments& a) {
  const backends::default_environment environment;
  const check check{"tally::sums"};
  check.known_type("x", a.x.first.element);
  check.shape("x", a.x);
  if (a.x.rows == 0) return;
  check.vector("x", a.x.first);
  check.known_type("result", a.results.element);
  const type x = a.x.first.element;
  const reduce_results& allowed = results_of(reduction::sum, x);
  if (a.results.words) {
    check.words(a.results, is_complex(allowed.rule), x, a.x.rows);
  } else {
    check.sum_type("the result", a.results.element, allowed.rule, allowed.widest, x, x);
    check.pointer("result", a.results.data, a.results.element, a.x.rows);
  }
  check_rows_apart(check, "x", a.x, "result", vector_of(a.results, a.x.rows));
  const auto run = [&](const executor& on) {
    if (check::is_needed(on)) {
      check.reach(on, "x", a.x.first);
      check.result(on, a.results, a.options.wait);
    }
    backends::multi_sum all = multi_dot_arguments{{a.x, {}}, conjugate::none, a.results, a.options};
    all.values = true;
    backends::multi_dot(on, all);
  };
  if (where.backend() != nullptr) return run(where);
  operand every = a.x.first;
  every.size *= a.x.rows;
  run(choose(every));
}

}  // namespace tally
