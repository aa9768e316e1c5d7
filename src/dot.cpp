// The public dot: checks its arguments once, finds the backend, calls it.
#include <tally/dot.hpp>
#include <tally/error.hpp>

#include "backends/backend.hpp"
#include "backends/pairs.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"

namespace tally {
namespace {

struct accumulators {
  type rule;
  type widest;
};

template <class X, class... Y>
constexpr std::array<accumulators, type_count> accumulators_with(type_list<Y...>) {
  return {accumulators{type_of<dot_result_t<X, Y>>, type_of<dot_widest_t<X, Y>>}...};
}

template <class... X>
constexpr std::array<std::array<accumulators, type_count>, type_count> all_accumulators(type_list<X...> types) {
  return {accumulators_with<X>(types)...};
}

accumulators accumulators_of(type x, type y) {
  static constexpr auto table = all_accumulators(element_types{});
  return table[static_cast<std::size_t>(x)][static_cast<std::size_t>(y)];
}

}  // namespace

void dot(const executor& where, const operand& x, const operand& y, conjugate conjugated,
         const output& result, bool wait) {
  const check check{conjugated == conjugate::none ? "tally::dot" : "tally::dotc"};
  check.known_type("x", x.element);
  check.known_type("y", y.element);
  check.known_type("result", result.element);
  check.same_size("x", x, "y", y);
  check.vector("x", x);
  check.vector("y", y);
  const auto [rule, widest] = accumulators_of(x.element, y.element);
  if (result.element != rule && result.element != widest) {
    check.fail(errc::unsupported_type, "the result is ", name(result.element), "; ", name(x.element),
               " and ", name(y.element), " give ", name(rule), " or ", name(widest));
  }
  check.pointer("result", result.data, result.element);

  const executor on = where.backend() ? where : choose(x, y);
  check.reach(on, "x", x);
  check.reach(on, "y", y);
  if (!wait) check.reach(on, "result", result.data);

  // Symmetric in its operands, so backends have each pair of types once, the lower type first.
  if (x.element <= y.element) {
    on.backend()->dot(on, {x, y, conjugated, result, wait});
  } else {
    const conjugate swapped = conjugated == conjugate::x   ? conjugate::y
                              : conjugated == conjugate::y ? conjugate::x
                                                           : conjugate::none;
    on.backend()->dot(on, {y, x, swapped, result, wait});
  }
}

}  // namespace tally
