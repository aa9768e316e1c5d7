// Public reductions.
#include <tally/error.hpp>
#include <tally/operations/reduce.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/types/tables.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"
#include "src/operations/reduce.hpp"

#include <array>
#include <cstdint>

namespace tally {
namespace {

/// Function names in the order of `reduction`.
constexpr std::array functions = {"tally::sum", "tally::asum", "tally::nrm2"};

template <reduction what>
constexpr auto results_table = backends::table_over([]<class X>() {
  return reduce_results{type_of<detail::reduction_rule_t<what, X>>,
                        type_of<detail::reduction_widest_t<what, X>>};
});

constexpr std::array all_results = {results_table<reduction::sum>, results_table<reduction::asum>,
                                    results_table<reduction::nrm2>};

}  // namespace

const reduce_results& results_of(reduction what, type x) {
  return all_results[static_cast<std::size_t>(what)][x];
}

namespace {

check check_of(reduction what) { return check{functions[static_cast<std::size_t>(what)]}; }

[[gnu::noinline]] void check_arguments(const reduce_arguments& a) {
  check{"tally::reduce"}.enumerator("what", a.what, reduction::nrm2, "reductions");
  const check check = check_of(a.what);
  check.known_type("x", a.x.element);
  check.known_type("result", a.result.element);
  check.vector("x", a.x);
  const reduce_results& allowed = results_of(a.what, a.x.element);
  if (a.result.words) {
    return check.words(a.result, is_complex(allowed.rule), a.x.element);
  }
  check.sum_type("the result", a.result.element, allowed.rule, allowed.widest, a.x.element,
                 a.x.element);
  check.pointer("result", a.result.data, a.result.element);
}

/// See src/operations/dot.cpp.
bool plain(const reduce_arguments& a) {
  if (static_cast<std::size_t>(a.what) >= functions.size() || !is_listed(a.x.element)) {
    return false;
  }
  const reduce_results& allowed = results_of(a.what, a.x.element);
  return (a.result.element == allowed.rule || a.result.element == allowed.widest) &&
         !a.result.words && check::has_reach(a.x) && a.x.data != nullptr &&
         a.result.data != nullptr && check::is_aligned(a.x.data, a.x.element) &&
         check::is_aligned(a.result.data, a.result.element);
}

void check_reach(const executor& where, const reduce_arguments& a) {
  if (!check::is_needed(where)) return;
  const check check = check_of(a.what);
  check.reach(where, "x", a.x);
  check.result(where, a.result, a.options.wait);
}

void run(const executor& where, const reduce_arguments& a) {
  check_reach(where, a);
  if (backends::is_exact(a.options, a.result)) {
    return where.backend()->exact(where, backends::exact_of(a));
  }
  where.backend()->reduce(where, a);
}

}  // namespace

void check_arguments(const executor& where, const reduce_arguments& a) {
  check_arguments(a);
  check_reach(where, a);
}

void reduce(const executor& where, const reduce_arguments& a) {
  const backends::default_environment environment;
  if (!plain(a)) check_arguments(a);
  if (where.backend() != nullptr) return run(where, a);
  if (const executor* on_host = choose_on_host(a.x)) return run(*on_host, a);
  run(choose(a.x), a);
}

}  // namespace tally
