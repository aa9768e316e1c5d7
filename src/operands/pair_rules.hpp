// Type rules of dot products.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/types/tables.hpp"

#include <tally/operands/types.hpp>
#include <tally/operations/dot.hpp>

#include <cstdint>

namespace tally {

/// Two accumulators of a pair, and bits that aligned addresses lack.
struct pair_rules {
  type rule{};
  type widest{};
  std::uint8_t x_misaligned = 0;
  std::uint8_t y_misaligned = 0;
};

inline constexpr auto all_pair_rules = backends::table_over([]<class X>() {
  return backends::table_over([]<class Y>() {
    return pair_rules{type_of<dot_result_t<X, Y>>, type_of<dot_widest_t<X, Y>>, alignof(X) - 1,
                      alignof(Y) - 1};
  });
});

inline const pair_rules& rules_of(type x, type y) { return all_pair_rules[x][y]; }

using backends::in_order;

/// Returns the same dot product in canonical order.
inline dot_arguments in_order(const dot_arguments& a) {
  if (in_order(a.x.element, a.y.element)) return a;
  return {a.y, a.x, backends::swapped(a.conjugated), a.result, a.options};
}

void check_arguments(const executor& where, const dot_arguments& a);

}  // namespace tally
