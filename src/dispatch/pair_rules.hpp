// What the public dot products check of their operands' types.
#pragma once

#include <tally/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace tally {

/// What a pair of element types allows: two accumulators, and addresses with none of these bits.
struct pair_rules {
  type rule;
  type widest;
  std::uint8_t x_misaligned;
  std::uint8_t y_misaligned;
};

template <class X, class... Y>
constexpr std::array<pair_rules, type_count> pair_rules_with(type_list<Y...>) {
  return {pair_rules{type_of<dot_result_t<X, Y>>, type_of<dot_widest_t<X, Y>>, alignof(X) - 1,
                     alignof(Y) - 1}...};
}

inline constexpr auto all_pair_rules = []<class... X>(type_list<X...> types) {
  return std::array{pair_rules_with<X>(types)...};
}(element_types{});

inline const pair_rules& rules_of(type x, type y) {
  return all_pair_rules[static_cast<std::size_t>(x)][static_cast<std::size_t>(y)];
}

}  // namespace tally
