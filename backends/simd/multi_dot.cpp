// Several dot products run on one thread: pair by pair over one tile, a node of the order's tree,
// then over the next tile. What pairs share stays in the cache meanwhile, so it comes from memory
// once; and nothing here can change a bit. A pair's turn is the kernel of `dot`. Where vectors of
// float or double have one y, four of them take a turn together.
#include "backends/simd/multi_dot.hpp"
#include "backends/simd/simd.hpp"

#include "backends/simd/exact.hpp"
#include "backends/simd/targets.hpp"
#include "src/core/order/each_dot.hpp"
#include "src/core/order/tree.hpp"
#include "src/core/types/tables.hpp"

#include <tally/order.hpp>

#include <algorithm>
#include <array>

#ifndef TALLY_BACKENDS_SIMD_MULTI_DOT_CPP  // this file is compiled once for every target
#define TALLY_BACKENDS_SIMD_MULTI_DOT_CPP
namespace tally::backends::simd {
namespace {

/// So many vectors are read in turn, one row of the order's lanes of each.
constexpr std::size_t in_turn = 4;

/// Returns the sums of `in_turn` vectors with y, over a node of whole chunks.
template <class W>
using against_one_node = void(const W* const* x, const W* y, std::size_t chunks, W* sums);

/// Is what one instruction set has.
struct implementation {
  instruction_set set;
  against_one_node<float>* floats;
  against_one_node<double>* doubles;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/multi_dot.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/kernel-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// Sums one chunk of each vector. The sums are kept in memory, since they are many: from there a
/// core still reads faster than it does from main memory.
template <class W>
void sum_chunk_against_one(const W* const* x, const W* y, W* sums) {
  constexpr tag<W> d;
  // So much is asked for ahead of what is read, into the second-level cache, which takes more at
  // once than the first. Prefetchers find that many streams late: 2^22 doubles against each of 16
  // take 25.8 ms so, 27.4 with prefetches into the first level and 29.3 without any; 26.2 with 768
  // bytes and 28.1 with 1536; pair by pair, in two streams, 39 to 44 (one core of Zen 4). Eight
  // vectors in turn are slower, and so are two rows at once. (AVX-512, with half the instructions,
  // takes 24.4: instruction_set.cpp says why Zen 4 isn't given it.)
  constexpr std::size_t ahead = 1024 / sizeof(W);
  constexpr std::size_t line = 64 / sizeof(W);
  HWY_ALIGN W lanes[in_turn][order::lanes] = {};
  for (std::size_t i = 0; i < order::chunk; i += order::lanes) {
#pragma GCC unroll 16
    for (std::size_t l = 0; l < order::lanes; l += width<W>) {
      const auto of_y = hn::LoadU(d, y + i + l);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < in_turn; ++j) {
        const W* const from = x[j] + i + l;
        if (l % line == 0) __builtin_prefetch(from + ahead, 0, 2);
        const auto term = hn::Mul(hn::LoadU(d, from), of_y);
        hn::Store(hn::Add(hn::Load(d, lanes[j] + l), term), d, lanes[j] + l);
      }
    }
  }
  for (std::size_t j = 0; j < in_turn; ++j) {
    for (std::size_t half = order::lanes / 2; half >= width<W>; half /= 2) {
      for (std::size_t l = 0; l < half; l += width<W>) {
        const auto far = hn::Load(d, lanes[j] + l + half);
        hn::Store(hn::Add(hn::Load(d, lanes[j] + l), far), d, lanes[j] + l);
      }
    }
    sums[j] = fold_vector<W>(d, hn::Load(d, lanes[j]));
  }
}

template <class W>
void sum_against_one(const W* const* x, const W* y, std::size_t chunks, W* sums) {
  std::array<tree<W>, in_turn> trees;
  for (std::size_t i = 0; i < chunks * order::chunk; i += order::chunk) {
    std::array<const W*, in_turn> from;
    std::array<W, in_turn> of_chunk;
    for (std::size_t j = 0; j < in_turn; ++j) from[j] = x[j] + i;
    sum_chunk_against_one(from.data(), y + i, of_chunk.data());
    for (std::size_t j = 0; j < in_turn; ++j) trees[j].add(of_chunk[j]);
  }
  for (std::size_t j = 0; j < in_turn; ++j) sums[j] = trees[j].total();
}

}  // namespace

constexpr implementation this_target = {set_of(HWY_TARGET), &sum_against_one<float>,
                                        &sum_against_one<double>};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/implementations-inl.hpp"

namespace tally::backends::simd {
namespace {

template <class W>
against_one_node<W>* against_one_node_of(instruction_set set) {
  const implementation& chosen = implementation_of(set);
  if constexpr (std::is_same_v<W, float>) {
    return chosen.floats;
  } else {
    return chosen.doubles;
  }
}

/// A pair's turn takes so many terms. With 32 chunks, a y of doubles takes a quarter of Zen 4's
/// second-level cache. Pair by pair, turns must be longer, since each begins with a wait for
/// memory: for 2^22 doubles against each of 16, turns of 32 chunks take 39.8 ms, turns of 128,
/// where the kernel of `dot` has two streams, 32.8.
constexpr std::size_t tile_in_turn = 64 * order::chunk;
constexpr std::size_t tile_by_pair = 128 * order::chunk;

/// Vectors of so many bytes and more are read in turn, `in_turn` at a time. While they are in a
/// cache, the kernel of `dot`, with its sums in registers, is faster.
constexpr std::size_t in_turn_from_bytes = std::size_t{4} << 20;

/// Says whether these are contiguous vectors of `A` against one that are not in a cache.
template <class A>
bool in_turn_is_faster(const std::array<operand_pair, side_by_side>& pair, std::size_t count) {
  const operand& y = pair[0].y;
  for (std::size_t j = 0; j < count; ++j) {
    if (pair[j].y.data != y.data || pair[j].y.size != y.size || pair[j].x.increment != 1)
      return false;
  }
  return pair[0].x.element == type_of<A> && y.element == type_of<A> && y.increment == 1 &&
         count >= in_turn && count * y.size * sizeof(A) >= in_turn_from_bytes;
}

}  // namespace

std::size_t longest(const dot_pairs& pairs, std::size_t first, std::size_t count) {
  if (pairs.list.empty()) return pairs.x.first.size;
  std::size_t size = 0;
  for (std::size_t j = first; j < first + count; ++j) size = std::max(size, pairs.list[j].x.size);
  return size;
}

template <class A>
multi_dot_sum<A> sum_side_by_side(instruction_set set, const dot_pairs& pairs,
                                  std::size_t first_pair, std::size_t count, std::size_t first,
                                  std::size_t n) {
  std::array<operand_pair, side_by_side> pair;
  for (std::size_t j = 0; j < count; ++j) pair[j] = pairs[first_pair + j];
  auto* const node = node_of<A>(set, pair[0].x.element, pair[0].y.element);
  bool together = false;
  if constexpr (std::is_floating_point_v<A>) together = in_turn_is_faster<A>(pair, count);

  const auto sums = [&](std::size_t begin, std::size_t most) {
    multi_dot_sum<A> s;
    std::size_t j = 0;
    if constexpr (std::is_floating_point_v<A>) {
      const auto at = [&](const operand& v) {
        return static_cast<const A*>(v.slice(begin, most).data);
      };
      for (; together && most % order::chunk == 0 && j + in_turn <= count; j += in_turn) {
        const std::array x = {at(pair[j].x), at(pair[j + 1].x), at(pair[j + 2].x),
                              at(pair[j + 3].x)};
        std::array<A, in_turn> four;
        against_one_node_of<A>(set)(x.data(), at(pair[j].y), most / order::chunk, four.data());
        for (std::size_t i = 0; i < in_turn; ++i) s.of[j + i].value = four[i];
      }
    }
    for (; j < count; ++j) {
      const auto& [x, y] = pair[j];
      if (begin == 0 && x.size <= most) {
        s.of[j] = node(x, y);
        continue;
      }
      if (x.size <= begin) continue;
      const std::size_t terms = std::min(most, x.size - begin);
      s.of[j] = node(x.slice(begin, terms), y.slice(begin, terms));
    }
    return s;
  };
  const std::size_t tile = together ? tile_in_turn : tile_by_pair;
  multi_dot_sum<A> all;
  sum_in_tree(first, n, tile, sums, all);
  return all;
}

void write_dots(const executor& where, const multi_dot_arguments& a, std::size_t first,
                std::size_t count) {
  if (wants_exact(a)) {
    for (std::size_t j = first; j < first + count; ++j) exact(where, as_exact(dot_of_pair(a, j)));
    return;
  }
  with_type<accumulator_types>(a.results.element, [&]<class A>() {
    auto* const results = static_cast<A*>(a.results.data);
    for (std::size_t j = first; j < first + count; j += side_by_side) {
      const std::size_t some = std::min(side_by_side, first + count - j);
      const std::size_t n = longest(a.pairs, j, some);
      const auto sums = sum_side_by_side<A>(where.instructions(), a.pairs, j, some, 0, n);
      for (std::size_t i = 0; i < some; ++i) results[j + i] = finish(sums.of[i], a.conjugated);
    }
  });
}

void multi_dot(const executor& where, const multi_dot_arguments& a) {
  write_dots(where, a, 0, a.pairs.size());
}

// The openmp column calls these on its threads' shares.
template <class A>
using summing = multi_dot_sum<A>(instruction_set, const dot_pairs&, std::size_t, std::size_t,
                                 std::size_t, std::size_t);
template summing<std::int64_t> sum_side_by_side<std::int64_t>;
template summing<float> sum_side_by_side<float>;
template summing<double> sum_side_by_side<double>;
template summing<std::complex<float>> sum_side_by_side<std::complex<float>>;
template summing<std::complex<double>> sum_side_by_side<std::complex<double>>;

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
