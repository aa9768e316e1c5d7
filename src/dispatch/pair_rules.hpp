// What the public dot products check of their operands' types.
#pragma once

#include "src/core/types/tables.hpp"

#include <tally/types.hpp>

#include <cstdint>

namespace tally {

/// What a pair of element types allows: two accumulators, and addresses with none of these bits.
struct pair_rules {
  type rule{};
  type widest{};
  std::uint8_t x_misaligned = 0;
  std::uint8_t y_misaligned = 0;
  bool in_order = false;  ///< x is not after y in the list of types, as backends have it
};

inline constexpr auto all_pair_rules = backends::table_over([]<class X>() {
  return backends::table_over([]<class Y>() {
    return pair_rules{type_of<dot_result_t<X, Y>>, type_of<dot_widest_t<X, Y>>, alignof(X) - 1,
                      alignof(Y) - 1, types::position<X> <= types::position<Y>};
  });
});

inline const pair_rules& rules_of(type x, type y) { return all_pair_rules[x][y]; }

}  // namespace tally
