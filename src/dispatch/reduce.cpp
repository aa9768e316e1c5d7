// The public reductions: check their argument once, find the backend, call it.
#include <tally/error.hpp>
#include <tally/reduce.hpp>

#include "src/core/floating_point_environment.hpp"
#include "src/core/table.hpp"
#include "src/core/types/tables.hpp"
#include "src/dispatch/automatic.hpp"
#include "src/dispatch/check.hpp"
#include "src/dispatch/reduce.hpp"

#include <array>
#include <cstdint>

namespace tally {
namespace {

struct description {
  std::string_view function;
  backends::exact_term term;
};

/// In the order of `reduction`.
constexpr std::array descriptions = {
    description{"tally::sum", backends::exact_term::value},
    description{"tally::asum", backends::exact_term::magnitude},
    description{"tally::nrm2", backends::exact_term::square},
};

template <reduction what>
constexpr auto results_table = backends::table_over([]<class X>() {
  return reduce_results{type_of<reductions::rule_t<what, X>>,
                        type_of<reductions::widest_t<what, X>>};
});

constexpr std::array all_results = {results_table<reduction::sum>, results_table<reduction::asum>,
                                    results_table<reduction::nrm2>};

}  // namespace

const reduce_results& results_of(reduction what, type x) {
  return all_results[static_cast<std::size_t>(what)][x];
}

namespace {

check check_of(reduction what) {
  return check{descriptions[static_cast<std::size_t>(what)].function};
}

/// Throws what is wrong with them, if anything is.
[[gnu::noinline]] void check_arguments(const reduce_arguments& a) {
  if (static_cast<std::size_t>(a.what) >= descriptions.size()) {
    check{"tally::reduce"}.fail(errc::invalid_argument, "what is ", static_cast<int>(a.what),
                                "; there are ", descriptions.size(), " reductions");
  }
  const check check = check_of(a.what);
  check.known_type("x", a.x.element);
  check.known_type("result", a.result.element);
  check.vector("x", a.x);
  const reduce_results& allowed = results_of(a.what, a.x.element);
  if (a.result.element != allowed.rule && a.result.element != allowed.widest) {
    check.fail(errc::unsupported_type, "the result is ", name(a.result.element), "; ",
               name(a.x.element), " gives ", name(allowed.rule), " or ", name(allowed.widest));
  }
  check.pointer("result", a.result.data, a.result.element);
}

/// Whether `check_arguments` would find nothing: in one test, as in src/dispatch/dot.cpp.
bool plain(const reduce_arguments& a) {
  if (static_cast<std::size_t>(a.what) >= descriptions.size() || !is_listed(a.x.element)) {
    return false;
  }
  const reduce_results& allowed = results_of(a.what, a.x.element);
  return (a.result.element == allowed.rule || a.result.element == allowed.widest) &&
         check::has_reach(a.x) && a.x.data != nullptr && a.result.data != nullptr &&
         check::is_aligned(a.x.data, a.x.element) &&
         check::is_aligned(a.result.data, a.result.element);
}

/// The arguments are right but for where they are.
void run(const executor& where, const reduce_arguments& a) {
  if (check::is_needed(where)) {
    const check check = check_of(a.what);
    check.reach(where, "x", a.x);
    check.result(where, a.result, a.options.wait);
  }
  if (a.options.grade.is_exact() && a.result.element != type::int64) {
    const auto term = descriptions[static_cast<std::size_t>(a.what)].term;
    return where.backend()->exact(where, {term, a.x, {}, conjugate::none, a.result, a.options});
  }
  where.backend()->reduce(where, a);
}

}  // namespace

void reduce(const executor& where, const reduce_arguments& a) {
  const backends::default_environment environment;
  if (!plain(a)) check_arguments(a);
  if (where.backend() != nullptr) return run(where, a);
  if (const executor* on_host = choose_on_host(a.x)) return run(*on_host, a);
  run(choose(a.x), a);
}

}  // namespace tally
