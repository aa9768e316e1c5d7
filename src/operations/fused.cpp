// Public updates with a sum.
#include <tally/error.hpp>
#include <tally/operations/fused.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"
#include "src/operands/pair_rules.hpp"
#include "src/operations/reduce.hpp"
#include "src/operations/transform.hpp"

namespace tally {
namespace {

check check_of(const fused_arguments& a) {
  return check{a.what == fused_sum::nrm2 ? "tally::waxpby_nrm2" : "tally::axpy_dot"};
}

dot_arguments dot_of(const fused_arguments& a) {
  return {a.update.z, a.v, a.conjugated, a.result, a.options};
}

reduce_arguments nrm2_of(const fused_arguments& a) {
  return {a.update.z, reduction::nrm2, a.result, a.options};
}

void check_arguments(const fused_arguments& a) {
  check{"tally::fused"}.enumerator("what", a.what, fused_sum::nrm2, "sums");
  const check check = check_of(a);
  const elementwise update = a.update.what;
  if (update != elementwise::axpy && update != elementwise::axpby &&
      update != elementwise::waxpby) {
    check.fail(errc::invalid_argument, "the update is element-wise function ",
               static_cast<int>(update), "; it can be axpy, axpby or waxpby");
  }
  check_arguments(check, a.update);
  const char* const z = detail::description_of(update).output;
  if (a.result.words) {
    check.fail(errc::invalid_argument, "the result is words; updates round their sum");
  }
  check.known_type("result", a.result.element);
  if (a.what == fused_sum::nrm2) {
    const auto [rule, widest] = results_of(reduction::nrm2, a.update.z.element);
    check.sum_type("the result", a.result.element, rule, widest, a.update.z.element,
                   a.update.z.element);
  } else {
    check.known_type("v", a.v.element);
    check.conjugated(a.conjugated);
    check.same_size(z, a.update.z, "v", a.v);
    check.vector("v", a.v);
    check_apart_or_same(check, "v", a.v, z, a.update.z);
    const pair_rules& pair = rules_of(a.update.z.element, a.v.element);
    check.sum_type("the result", a.result.element, pair.rule, pair.widest, a.update.z.element,
                   a.v.element);
  }
  check.pointer("result", a.result.data, a.result.element);
  if (a.update.z.size > 0) {
    check_apart(check, z, a.update.z, "result", {a.result.data, 1, 1, a.result.element});
  }
}

/// Pre: valid arguments, memory unchecked.
void run(const executor& where, const fused_arguments& a) {
  if (check::is_needed(where)) {
    const check check = check_of(a);
    check_reach(check, where, a.update);
    if (a.what != fused_sum::nrm2) check.reach(where, "v", a.v);
    check.result(where, a.result, a.options.wait);
  }
  if (a.update.z.size == 0) {
    return a.what == fused_sum::nrm2 ? reduce(where, nrm2_of(a)) : dot(where, dot_of(a));
  }
  const reduced_transform update = reduced(a.update);
  backends::fused(where, {update.arguments, update.computation, a.what,
                          a.what == fused_sum::nrm2 ? dot_of(a) : in_order(dot_of(a))});
}

}  // namespace

void fused(const executor& where, const fused_arguments& a) {
  const backends::default_environment environment;
  check_arguments(a);
  if (where.backend() != nullptr) return run(where, a);
  // y is z, or there is no v.
  const operand& other = a.what == fused_sum::dot ? a.v : a.update.y;
  if (const executor* on_host = choose_on_host(a.update.x, other, a.update.z)) {
    return run(*on_host, a);
  }
  run(choose(a.update.x, other, a.update.z), a);
}

}  // namespace tally
