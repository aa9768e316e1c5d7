#pragma once

#include "backends/cuda/histogram/sorted.cuh"

#include <type_traits>

namespace tally::backends::cuda {

template <class L, class Rule>
const void* find_histogram_kernel(counting where) {
  if constexpr (sizeof(L) == 1) {
    if (where == counting::spread) {
      return reinterpret_cast<const void*>(&count_kernel<L, Rule, spread_table>);
    }
  }
  if constexpr (sizeof(L) > 1) {
    if (where == counting::sorted) return reinterpret_cast<const void*>(&sort_kernel<L, Rule>);
  }
  return where == counting::tables
             ? reinterpret_cast<const void*>(&count_kernel<L, Rule, range_table>)
             : reinterpret_cast<const void*>(&count_kernel<L, Rule, cache_table>);
}

/// One-byte samples are counted as bytes, others by special rules where those are fast.
template <class L>
const void* histogram_kernel_of(bin_rule rule, counting where) {
  if constexpr (sizeof(L) == 1) {
    return find_histogram_kernel<L, by_byte>(where);
  } else {
    using S = number_t<L>;
    const auto in_tables = []<class Rule>(std::type_identity<Rule>) {
      return reinterpret_cast<const void*>(&count_kernel<L, Rule, range_table>);
    };
    switch (rule) {
      case bin_rule::linear_edges:
        return in_tables(std::type_identity<by_cell<S, true>>());
      case bin_rule::bitwise_edges:
        return in_tables(std::type_identity<by_cell<S, false>>());
      case bin_rule::keys:
        if constexpr (std::is_integral_v<S>) return find_histogram_kernel<L, by_key<S>>(where);
        break;
      case bin_rule::even:
        return in_tables(std::type_identity<by_width<S, even_bins>>());
      case bin_rule::whole_even:
        if constexpr (std::is_integral_v<S>) {
          return in_tables(std::type_identity<by_width<S, even_integer_bins>>());
        }
        break;
      default:
        break;
    }
    return find_histogram_kernel<L, by_any<S>>(where);
  }
}

}  // namespace tally::backends::cuda
