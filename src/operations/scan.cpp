// Public scans.
#include <tally/error.hpp>
#include <tally/numerics/order.hpp>
#include <tally/operations/reduce.hpp>
#include <tally/operations/scan.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"
#include "src/operations/reduce.hpp"

#include <bit>

namespace tally {
namespace {

void check_arguments(const check& check, const scan_arguments& a) {
  check.known_type("x", a.x.element);
  check.known_type("y", a.y.element);
  const reduce_results& allowed = results_of(reduction::sum, a.x.element);
  check.sum_type("y", a.y.element, allowed.rule, allowed.widest, a.x.element, a.x.element);
  check.same_size("x", a.x, "y", a.y);
  check.vector("x", a.x);
  check.vector("y", a.y);
  // Real parts are scanned before imaginary ones.
  if (is_complex(a.x.element) && a.x.element != a.y.element) {
    check_apart(check, "x", a.x, "y", a.y);
  } else {
    check_apart_or_same(check, "x", a.x, "y", a.y);
  }
  if (a.chunks == 0) return;
  const auto max_chunks = static_cast<std::int64_t>(max_elements / order::chunk);
  if (a.chunks < 0 || a.chunks > max_chunks) {
    check.fail(errc::invalid_argument, "there are ", a.chunks, " chunks before x; there can be ",
               max_chunks);
  }
  const auto count = static_cast<std::size_t>(std::popcount(static_cast<std::uint64_t>(a.chunks)));
  check.vector("nodes", {a.nodes, count, 1, a.y.element});
  check.read_on_host("nodes", {a.nodes, count, 1, a.y.element});
}

}  // namespace

void scan(const executor& where, const scan_arguments& a) {
  const backends::default_environment environment;
  const check check{a.exclusive ? "tally::exclusive_scan" : "tally::inclusive_scan"};
  check_arguments(check, a);
  if (a.x.size == 0) return;
  const executor* const on_host = where.backend() == nullptr ? choose_on_host(a.x, a.y) : nullptr;
  const executor chosen = where.backend() != nullptr ? where
                          : on_host != nullptr       ? *on_host
                                                     : choose(a.x, a.y);
  if (check::is_needed(chosen)) {
    check.reach(chosen, "x", a.x);
    check.reach(chosen, "y", a.y);
  }
  backends::scan(chosen, a);
}

}  // namespace tally
