// Lanes of columns: slices by number of lanes, and lanes used again by later blocks.
#include "backends/simd/spmv/scattered/column_lanes.hpp"

#include "backends/common/order/row_order.hpp"
#include "backends/common/sparse/csr_defects.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <span>

namespace tally::backends::simd {
namespace {

/// Terms from one fold to the next (tuning/spmv.md: terms_of_step).
constexpr std::size_t terms_of_step = std::size_t{1} << 14;

/// Bytes of lanes up to which none is used twice (tuning/spmv.md: max_bytes_apart).
constexpr std::size_t max_bytes_apart = std::size_t{1} << 21;

/// Bytes of terms up to which each has a lane of its own, if columns are short (tuning/spmv.md:
/// max_bytes_single).
constexpr std::size_t max_bytes_single = std::size_t{1} << 20;

/// Bytes of lanes above which terms are staged by block: written once more, but then added in the
/// L2 cache (tuning/spmv.md: max_bytes_unstaged).
constexpr std::size_t max_bytes_unstaged = std::size_t{1} << 23;

/// Free ranges of lanes.
class free_lanes {
 public:
  std::size_t end = 0;  ///< of all lanes ever taken

  /// Returns the first of n lanes.
  std::size_t take(std::size_t n) {
    const auto fits = [n](const auto& range) { return range.second >= n; };
    const auto found = std::ranges::find_if(ranges_, fits);
    if (found != ranges_.end()) {
      const auto [first, size] = *found;
      ranges_.erase(found);
      if (size > n) ranges_.emplace(first + n, size - n);
      return first;
    }
    std::size_t first = end;
    if (!ranges_.empty() &&
        std::prev(ranges_.end())->first + std::prev(ranges_.end())->second == end) {
      first = std::prev(ranges_.end())->first;
      ranges_.erase(first);
    }
    end = first + n;
    return first;
  }

  void give(std::size_t first, std::size_t n) {
    if (n == 0) return;
    auto at = ranges_.emplace(first, n).first;
    if (const auto next = std::next(at); next != ranges_.end() && first + n == next->first) {
      at->second += next->second;
      ranges_.erase(next);
    }
    if (at == ranges_.begin()) return;
    if (const auto before = std::prev(at); before->first + before->second == first) {
      before->second += at->second;
      ranges_.erase(at);
    }
  }

 private:
  std::map<std::size_t, std::size_t> ranges_;  // sizes by first lane; none touch
};

class lanes_maker {
 public:
  lanes_maker(column_lanes& l, const csr_operand& a, bool may_be_single)
      : l_(l),
        a_(a),
        rows_(a),
        columns_(a.columns),
        slice_(64 / size_of(a.values.element)),
        may_be_single_(may_be_single) {}

  void make() {
    const std::size_t size = size_of(a_.values.element);
    for_each_term(0, a_.rows, [this](std::size_t row, std::size_t, std::size_t c) {
      ++columns_[c].terms;
      columns_[c].last_row = row;
    });
    std::size_t in_order = 0;  // lanes that the row order needs
    for (const column& c : columns_) in_order += std::min(c.terms, row_order::lanes);
    const std::size_t terms = a_.nonzeros();
    l_.are_single = may_be_single_ && (terms == in_order ||
                                       (terms <= 2 * in_order && terms * size <= max_bytes_single));
    for (std::size_t first = 0; first < a_.columns; first += column_lanes::max_columns) {
      make_block(first, std::min(first + column_lanes::max_columns, a_.columns));
    }
    l_.blocks.push_back({a_.columns, l_.groups.size(), l_.listed.size(), l_.long_columns.size()});
    std::size_t all = 0;
    for (const block& b : blocks_) all += b.lanes;
    l_.clears = !l_.are_single || all * size > max_bytes_apart;
    place();
    l_.lanes = taken_.end;
    if (l_.are_single && l_.lanes * size > max_bytes_single) {  // too many at a time
      l_ = {};
      return lanes_maker(l_, a_, false).make();
    }
    const std::size_t max_lanes = std::ranges::max(blocks_, {}, &block::lanes).lanes;
    if (l_.lanes * size > max_bytes_unstaged &&
        max_lanes <= std::numeric_limits<std::uint16_t>::max()) {
      stage();
      l_.lanes = max_lanes;
    }
    if (l_.lanes > std::numeric_limits<std::int32_t>::max()) l_.to = {};
  }

 private:
  struct column {
    std::size_t terms = 0;
    std::size_t last_row = 0;
    std::size_t added = 0;  ///< terms placed so far
    std::size_t first = 0;  ///< first lane in the block
    std::size_t apart = 1;  ///< from one lane to the next

    bool is_long() const { return terms > row_order::short_row; }
    std::size_t lanes(bool are_single) const {
      const std::size_t at_once = is_long() ? order::lanes : row_order::lanes;
      if (are_single && (is_long() || terms > at_once)) {
        return (terms + at_once - 1) / at_once * at_once;
      }
      if (is_long()) return (terms + order::chunk - 1) / order::chunk * at_once;
      if (are_single || terms == 0) return terms;
      // Terms of the second half of a column's lanes are those that its fold adds to the first.
      return terms > at_once ? at_once : std::bit_ceil(terms + terms % 2) / 2;
    }
    /// Returns the lane of the next term.
    std::size_t next_lane(bool are_single) {
      const std::size_t k = added++;
      const std::size_t lane = are_single  ? k
                               : is_long() ? k / order::chunk * order::lanes + k % order::lanes
                                           : k % lanes(false);
      return first + lane * apart;
    }
  };

  struct block {
    std::size_t lanes = 0;
    std::size_t last_row = 0;
    bool has_place = false;
    std::size_t place = 0;
  };

  template <class F>
  void for_each_term(std::size_t first, std::size_t end, const F& f) const {
    csr_defects::with_index(a_.column_indices, [&](const auto* columns) {
      for (std::size_t i = first; i < end; ++i) {
        for (std::size_t j = rows_.begin(i); j < rows_.end(i); ++j) {
          f(i, j, static_cast<std::size_t>(columns[j]));
        }
      }
    });
  }

  void make_block(std::size_t first, std::size_t end) {
    l_.blocks.push_back({first, l_.groups.size(), l_.listed.size(), l_.long_columns.size()});
    block& made = blocks_.emplace_back();
    std::vector<std::size_t> sliced;
    for (std::size_t c = first; c < end; ++c) {
      made.last_row = std::max(made.last_row, columns_[c].last_row);
      if (!columns_[c].is_long()) sliced.push_back(c);
    }
    std::ranges::stable_sort(sliced, std::ranges::greater(),
                             [this](std::size_t c) { return columns_[c].lanes(l_.are_single); });
    const std::size_t per_group = slice_ * lane_group::max_slices;
    for (auto c = sliced.begin(); c != sliced.end();) {
      // As many lanes as the first; fewer only in the last slice.
      const std::size_t lanes = columns_[*c].lanes(l_.are_single);
      const auto next = std::find_if(c, sliced.end(), [&](std::size_t other) {
        return columns_[other].lanes(l_.are_single) < lanes;
      });
      auto some = std::min<std::size_t>(static_cast<std::size_t>(next - c), per_group);
      some = std::min((some + slice_ - 1) / slice_ * slice_,
                      static_cast<std::size_t>(sliced.end() - c));
      add_group({c, some}, lanes, first, made);
      c += static_cast<std::ptrdiff_t>(some);
    }
    for (std::size_t c = first; c < end; ++c) {
      column& each = columns_[c];
      if (!each.is_long()) continue;
      const std::size_t lanes = each.lanes(l_.are_single);
      l_.long_columns.push_back({static_cast<std::uint16_t>(c - first), lanes});
      each.first = made.lanes;
      made.lanes += lanes;
    }
  }

  void add_group(std::span<const std::size_t> columns, std::size_t lanes, std::size_t first,
                 block& to) {
    const bool are_adjacent = columns.size() % slice_ == 0 &&
                              columns.back() - columns.front() + 1 == columns.size() &&
                              std::ranges::is_sorted(columns);
    l_.groups.push_back({static_cast<std::uint8_t>(lanes),
                         static_cast<std::uint8_t>(columns.size()), are_adjacent});
    for (std::size_t i = 0; i < columns.size(); ++i) {
      l_.listed.push_back(static_cast<std::uint16_t>(columns[i] - first));
      columns_[columns[i]].first = to.lanes + i / slice_ * slice_ * lanes + i % slice_;
      columns_[columns[i]].apart = slice_;
    }
    to.lanes += (columns.size() + slice_ - 1) / slice_ * slice_ * lanes + slice_;
  }

  /// Gives terms their lanes, step by step.
  void place() {
    l_.to.resize(rows_.end(a_.rows - 1) + column_lanes::ahead + 4);
    std::vector<std::size_t> by_end(blocks_.size());
    std::iota(by_end.begin(), by_end.end(), std::size_t{0});
    std::ranges::stable_sort(by_end, {}, [this](std::size_t b) { return blocks_[b].last_row; });
    auto next = by_end.begin();
    for (std::size_t row = 0; row < a_.rows;) {
      std::size_t end = row + 1;
      while (end < a_.rows && rows_.end(end) - rows_.begin(row) <= terms_of_step) ++end;
      for_each_term(row, end, [this](std::size_t, std::size_t j, std::size_t c) {
        column& of = columns_[c];
        const std::size_t lane =
            place_of(c / column_lanes::max_columns) + of.next_lane(l_.are_single);
        l_.to[j] = static_cast<std::int32_t>(lane);
      });
      for (; next != by_end.end() && blocks_[*next].last_row < end; ++next) {
        const std::size_t first = place_of(*next);
        l_.folds.push_back({*next, first});
        if (l_.clears) taken_.give(first, blocks_[*next].lanes);
      }
      l_.steps.push_back({end, l_.folds.size()});
      row = end;
    }
  }

  /// Gives terms their indices among those staged.
  void stage() {
    l_.clears = true;
    l_.steps = {};
    l_.folds = {};
    l_.staged.resize(rows_.end(a_.rows - 1));
    for (std::size_t b = 0, terms = 0; b < blocks_.size(); ++b) {
      l_.blocks[b].term = terms;
      for (std::size_t c = l_.blocks[b].first; c < l_.blocks[b + 1].first; ++c) {
        terms += columns_[c].terms;
        columns_[c].added = 0;
      }
      l_.blocks[b + 1].term = terms;
    }
    std::vector<std::size_t> next(blocks_.size());
    std::ranges::transform(l_.blocks.begin(), l_.blocks.end() - 1, next.begin(),
                           &column_block::term);
    for_each_term(0, a_.rows, [&](std::size_t, std::size_t j, std::size_t c) {
      const std::size_t at = next[c / column_lanes::max_columns]++;
      l_.to[j] = static_cast<std::int32_t>(at);
      l_.staged[at] = static_cast<std::uint16_t>(columns_[c].next_lane(l_.are_single));
    });
  }

  std::size_t place_of(std::size_t b) {
    block& of = blocks_[b];
    if (!of.has_place) {
      of.place = taken_.take(of.lanes);
      of.has_place = true;
    }
    return of.place;
  }

  column_lanes& l_;
  const csr_operand& a_;
  row_bounds rows_;
  std::vector<column> columns_;
  std::size_t slice_;
  bool may_be_single_;
  std::vector<block> blocks_;
  free_lanes taken_;
};

}  // namespace

column_lanes::column_lanes(const csr_operand& a) { lanes_maker(*this, a, true).make(); }

}  // namespace tally::backends::simd
