// Public extrema.
#include <tally/error.hpp>
#include <tally/operations/extremum.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"

#include <array>

namespace tally {
namespace {

/// Function names in the order of `extreme`.
constexpr std::array<std::string_view, 4> functions = {"tally::min", "tally::max", "tally::minmax",
                                                       "tally::iamax"};

check check_of(extreme what) { return check{functions[static_cast<std::size_t>(what)]}; }

operand result_of(const extremum_arguments& a) {
  constexpr std::array<std::size_t, 4> words = {2, 2, 4, 1};  // by `extreme`
  return {a.result, words[static_cast<std::size_t>(a.what)], 1, type::int64};
}

[[gnu::noinline]] void check_arguments(const extremum_arguments& a) {
  check{"tally::find_extremum"}.enumerator("what", a.what, extreme::iamax, "extremes");
  const check check = check_of(a.what);
  check.known_type("x", a.x.element);
  check.vector("x", a.x);
  if (a.what != extreme::iamax) {
    if (is_complex(a.x.element)) {
      check.fail(errc::unsupported_type, "x is ", name(a.x.element),
                 "; complex numbers have no order");
    }
    if (a.x.size == 0) check.fail(errc::no_elements, "x has 0 elements and should have at least 1");
  }
  check.pointer("result", a.result, type::int64);
  check_apart(check, "x", a.x, "result", result_of(a));
}

/// See src/operations/dot.cpp.
bool plain(const extremum_arguments& a) {
  return static_cast<std::size_t>(a.what) < functions.size() && is_listed(a.x.element) &&
         (a.what == extreme::iamax || !is_complex(a.x.element)) && a.x.size > 0 &&
         check::has_reach(a.x) && a.x.data != nullptr && a.result != nullptr &&
         check::is_aligned(a.x.data, a.x.element) && check::is_aligned(a.result, type::int64) &&
         !extent(a.x).meets(extent(result_of(a)));
}

/// Pre: valid arguments, memory unchecked.
void run(const executor& where, const extremum_arguments& a) {
  if (check::is_needed(where)) {
    const check check = check_of(a.what);
    check.reach(where, "x", a.x);
    check.result(where, {a.result, type::int64}, a.options.wait);
  }
  backends::extremum(where, a);
}

}  // namespace

void find_extremum(const executor& where, const extremum_arguments& a) {
  const backends::default_environment environment;
  if (!plain(a)) check_arguments(a);
  if (where.backend() != nullptr) return run(where, a);
  if (const executor* on_host = choose_on_host(a.x)) return run(*on_host, a);
  run(choose(a.x), a);
}

}  // namespace tally
