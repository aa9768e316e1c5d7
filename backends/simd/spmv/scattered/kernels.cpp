// Folds of lanes of columns, in every instruction set.
//
// Promise: sums in the row order.
#include "backends/common/order/dot_sum.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/simd/spmv/scattered/column_lanes.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#ifndef TALLY_BACKENDS_SIMD_SPMV_SCATTERED_KERNELS_CPP  // once per target
#define TALLY_BACKENDS_SIMD_SPMV_SCATTERED_KERNELS_CPP
namespace tally::backends::simd {
namespace {

struct implementation {
  instruction_set set;
  lanes_fold<float>* floats;
  lanes_fold<double>* doubles;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/spmv/scattered/kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/spmv/short_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// Folds a group of slices, and clears their lanes. `listed`: their columns. `count`: the lanes if
/// at most 8, else 8: the sums of those that are 8 apart.
template <std::size_t count, bool several, bool clears, class W>
HWY_NOINLINE void fold_group(const lane_group& group, const std::uint16_t* listed, W* lanes,
                             W* sums) {
  constexpr std::size_t slice = rows_of_slice<W>, half = row_order::lanes / 2;
  const std::size_t all = several ? group.lanes : count;
  constexpr hn::CappedTag<W, slice> d;
  const auto fold_slice = [&](W* to) HWY_ATTR {
    for (std::size_t c = 0; c < slice; c += hn::MaxLanes(d)) {
      auto sum = hn::Zero(d);
      if constexpr (count > 0) {
        hn::Vec<decltype(d)> lane[count];
        for (std::size_t l = 0; l < count; ++l) {
          lane[l] = hn::Load(d, lanes + l * slice + c);
          if (clears) hn::Store(hn::Zero(d), d, lanes + l * slice + c);
        }
        for (std::size_t first = count; several && first < all; first += count) {
          for (std::size_t l = 0; l < count; ++l) {
            W* const next = lanes + (first + l) * slice + c;
            lane[l] = hn::Add(lane[l], hn::Load(d, next));
            if (clears) hn::Store(hn::Zero(d), d, next);
          }
        }
        sum = hn::Add(fold_halves<half, count>(std::make_index_sequence<half>(), lane), sum);
      }
      const auto nan = hn::Set(d, std::numeric_limits<W>::quiet_NaN());
      hn::StoreU(hn::IfThenElse(hn::Eq(sum, sum), sum, nan), d, to + c);
    }
    lanes += all * slice;
  };
  if (group.are_adjacent) {
    for (std::size_t c = 0; c < group.columns; c += slice) fold_slice(sums + listed[0] + c);
    return;
  }
  HWY_ALIGN W folded[slice];
  std::size_t c = 0;
  for (; c + slice <= group.columns; c += slice) {
    fold_slice(folded);
    const auto columns = load_columns<slice>(listed + c);
    for (std::size_t i = 0; i < slice; ++i) sums[columns[i]] = folded[i];
  }
  if (c == group.columns) return;
  fold_slice(folded);
  for (std::size_t i = 0; c < group.columns; ++i, ++c) sums[listed[c]] = folded[i];
}

template <class W, bool clears, std::size_t... count>
constexpr std::array<void (*)(const lane_group&, const std::uint16_t*, W*, W*), sizeof...(count)>
folds_by_lanes(std::index_sequence<count...>) {
  return {&fold_group<count, false, clears, W>...};
}

/// Folds the lanes of a chunk, some of them or one for each term, as `dot` does; clears them.
template <class W>
W fold_chunk(W* lanes, std::size_t n) {
  for (std::size_t k = order::lanes; k < n; k += order::lanes) {
    for (std::size_t l = 0; l < order::lanes; ++l) lanes[l] += lanes[k + l];
  }
  for (std::size_t half = order::lanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  const W sum = lanes[0];
  std::fill_n(lanes, n, W{0});
  return sum;
}

template <class W>
void fold(const column_lanes& all, std::size_t block, W* lanes, W* sums) {
  constexpr std::make_index_sequence<row_order::lanes + 1> counts;
  constexpr auto clearing = folds_by_lanes<W, true>(counts),
                 leaving = folds_by_lanes<W, false>(counts);
  constexpr auto several_clearing = &fold_group<row_order::lanes, true, true, W>;
  constexpr auto several_leaving = &fold_group<row_order::lanes, true, false, W>;
  const auto& folds = all.clears ? clearing : leaving;
  const column_block &begin = all.blocks[block], &end = all.blocks[block + 1];
  const std::uint16_t* listed = all.listed.data() + begin.listed;
  for (std::size_t g = begin.group; g < end.group; ++g) {
    const lane_group& group = all.groups[g];
    const auto fold_this = group.lanes <= row_order::lanes ? folds[group.lanes]
                           : all.clears                    ? several_clearing
                                                           : several_leaving;
    fold_this(group, listed, lanes, sums);
    listed += group.columns;
    lanes += (group.slices<W>() * group.lanes + 1) * rows_of_slice<W>;
  }
  for (std::size_t i = begin.long_one; i < end.long_one; ++i) {
    const long_column& column = all.long_columns[i];
    tree<W> chunks;
    const std::size_t of_chunk = all.are_single ? order::chunk : order::lanes;
    for (std::size_t left = column.lanes; left > 0;) {
      const std::size_t n = std::min(of_chunk, left);
      chunks.add(fold_chunk(lanes, n));
      lanes += n;
      left -= n;
    }
    sums[column.column] = canonical(chunks.total() + W{0});
  }
}

}  // namespace

constexpr implementation this_target = {set_of(HWY_TARGET), &fold<float>, &fold<double>};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {

template <>
lanes_fold<float>* lanes_fold_of(instruction_set set) {
  return implementation_of(set).floats;
}
template <>
lanes_fold<double>* lanes_fold_of(instruction_set set) {
  return implementation_of(set).doubles;
}

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
