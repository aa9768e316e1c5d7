#pragma once

#include "backends/backend.hpp"
#include "backends/simd/sums/dot.hpp"

#include <array>
#include <cstddef>

namespace tally::backends::simd {

// For the openmp backend. The environment must be the default one.

/// At most this many pairs are summed side by side.
inline constexpr std::size_t side_by_side = 16;

/// Sums over a node of the order's tree.
template <class A>
struct multi_dot_sum {
  std::array<dot_sum<A>, side_by_side> of{};

  friend multi_dot_sum operator+(multi_dot_sum a, const multi_dot_sum& b) {
    for (std::size_t j = 0; j < side_by_side; ++j) a.of[j] = a.of[j] + b.of[j];
    return a;
  }
};

/// Returns the sums of terms [first, first + n), a node, of pairs [first_pair, first_pair + count).
/// Sums of absent pairs, and of pairs that end before, are +0.
template <class A>
multi_dot_sum<A> sum_side_by_side(const executor& where, const multi_sum& a, std::size_t first_pair,
                                  std::size_t count, std::size_t first, std::size_t n);

/// Writes the results of pairs [first, first + count).
void write_dots(const executor& where, const multi_sum& a, std::size_t first, std::size_t count);

/// Writes finished sums of pairs from `first` on, or the elements that they update.
template <class A>
void write_results(const multi_sum& a, std::size_t first, std::size_t count, const A* sums);

/// Pairs that are best summed together, in parts of a call.
std::size_t pairs_together(const multi_sum& a);

std::size_t longest(const dot_pairs& pairs, std::size_t first, std::size_t count);

}  // namespace tally::backends::simd
