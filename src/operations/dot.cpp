// Public `dot`.
#include <tally/error.hpp>
#include <tally/operations/dot.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"
#include "src/operands/pair_rules.hpp"

#include <algorithm>
#include <cstdint>

namespace tally {
namespace {

const check dot_check{"tally::dot"};

[[gnu::noinline]] void check_arguments(const dot_arguments& a) {
  dot_check.known_type("x", a.x.element);
  dot_check.known_type("y", a.y.element);
  dot_check.known_type("result", a.result.element);
  dot_check.conjugated(a.conjugated);
  dot_check.same_size("x", a.x, "y", a.y);
  dot_check.vector("x", a.x);
  dot_check.vector("y", a.y);
  const pair_rules& pair = rules_of(a.x.element, a.y.element);
  if (a.result.words) {
    return dot_check.words(a.result, is_complex(pair.rule), pair.rule);
  }
  dot_check.sum_type("the result", a.result.element, pair.rule, pair.widest, a.x.element,
                     a.y.element);
  dot_check.pointer("result", a.result.data, a.result.element);
}

[[gnu::noinline]] void check_reach(const executor& where, const dot_arguments& a) {
  dot_check.reach(where, "x", a.x);
  dot_check.reach(where, "y", a.y);
  dot_check.result(where, a.result, a.options.wait);
}

/// `check_arguments` in one test: short calls spend most time outside the kernel
/// (tuning/short_calls.md: plain).
bool plain(const dot_arguments& a) {
  const auto address = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
  };
  if (!is_listed(std::max(a.x.element, a.y.element))) return false;
  const pair_rules& pair = rules_of(a.x.element, a.y.element);
  return (a.result.element == pair.rule || a.result.element == pair.widest) && !a.result.words &&
         a.conjugated <= conjugate::y && a.x.size == a.y.size && check::has_reach(a.x) &&
         check::has_reach(a.y) && a.x.data != nullptr && a.y.data != nullptr &&
         a.result.data != nullptr &&
         ((address(a.x.data) & pair.x_misaligned) | (address(a.y.data) & pair.y_misaligned) |
          (address(a.result.data) & (alignment_of(a.result.element) - 1))) == 0;
}

/// Pre: valid arguments, memory unchecked. The environment is set only here, as the checks before
/// compare integers (tuning/short_calls.md: environment).
void run(const executor& where, const dot_arguments& a) {
  const backends::default_environment environment;
  if (check::is_needed(where)) check_reach(where, a);

  if (backends::is_exact(a.options, a.result)) {
    return backends::exact_dot(where, a);
  }

  if (in_order(a.x.element, a.y.element)) return backends::dot(where, a);
  backends::dot(where, in_order(a));
}

}  // namespace

void check_arguments(const executor& where, const dot_arguments& a) {
  check_arguments(a);
  if (check::is_needed(where)) check_reach(where, a);
}

void dot(const executor& where, const dot_arguments& a) {
  if (!plain(a)) check_arguments(a);
  if (where.backend() != nullptr) return run(where, a);
  if (const executor* on_host = choose_on_host(a.x, a.y)) return run(*on_host, a);
  run(choose(a.x, a.y), a);
}

}  // namespace tally
