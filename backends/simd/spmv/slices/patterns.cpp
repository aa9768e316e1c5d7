#include "backends/simd/spmv/slices/patterns.hpp"

#include "backends/common/order/row_order.hpp"
#include "backends/common/sparse/csr.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tally::backends::simd {
namespace {

/// Whether a row's columns are those of the row before, plus one.
template <class I>
bool goes_on(const I* columns, std::size_t terms) {
  const I* const before = columns - terms;
  for (std::size_t k = 0; k < terms; ++k) {
    if (columns[k] - 1 != before[k]) return false;
  }
  return true;
}

/// Returns runs of rows of up to `short_row` terms, without patterns; none if they average under
/// two rows.
template <class I>
std::vector<pattern_range> runs_of(const csr_operand& a) {
  const row_bounds rows(a);
  const auto* const columns = static_cast<const I*>(a.column_indices.data);
  std::vector<pattern_range> runs;
  std::size_t last_terms = 0;  // of the previous row, if short
  for (std::size_t row = 0; row < a.rows; ++row) {
    const std::size_t begin = rows.begin(row), terms = rows.length(row);
    const bool is_short = terms > 0 && terms <= row_order::short_row;
    if (is_short && terms == last_terms && goes_on(columns + begin, terms)) {
      ++runs.back().rows;
    } else if (is_short) {
      runs.push_back({row, 1});
      if (runs.size() > a.rows / 2 + 8) return {};
    }
    last_terms = is_short ? terms : 0;
  }
  return runs;
}

/// Whether terms form triples of adjacent columns.
bool are_triples(const std::int32_t* above, std::size_t terms) {
  if (terms % 3 != 0) return false;
  for (std::size_t k = 0; k < terms; ++k) {
    if (k % 3 != 0 && above[k] != above[k - 1] + 1) return false;
  }
  return true;
}

}  // namespace

const row_pattern* pattern_lists::keep(const csr_operand& a, std::size_t row) {
  const row_bounds rows(a);
  const index_vector columns(a.column_indices);
  const std::size_t begin = rows.begin(row), terms = rows.length(row);
  std::int64_t lowest = columns[begin], highest = lowest;
  for (std::size_t k = 1; k < terms; ++k) {
    lowest = std::min(lowest, columns[begin + k]);
    highest = std::max(highest, columns[begin + k]);
  }
  if (highest - lowest > std::numeric_limits<std::int32_t>::max()) return nullptr;
  constexpr std::size_t lanes = row_order::lanes;
  std::vector<std::int32_t> above((terms + lanes - 1) / lanes * lanes);
  for (std::size_t k = 0; k < terms; ++k) {
    above[k] = static_cast<std::int32_t>(columns[begin + k] - lowest);
  }
  const list numbers{lowest - static_cast<std::int64_t>(row), terms, std::move(above)};
  if (const auto found = patterns_.find(numbers); found != patterns_.end()) return &found->second;
  if (kept_ + terms > max_kept) return nullptr;
  kept_ += terms;
  auto& [kept, pattern] = *patterns_.emplace(numbers, row_pattern{}).first;
  const std::int32_t* const kept_above = std::get<2>(kept).data();
  pattern = {std::get<0>(kept), terms, kept_above, patterns_.size(),
             terms > lanes && are_triples(kept_above, terms)};
  return &pattern;
}

std::vector<pattern_range> pattern_ranges(const csr_operand& a, pattern_lists& lists) {
  std::vector<pattern_range> runs =
      a.column_indices.element == type::int64 ? runs_of<std::int64_t>(a) : runs_of<std::int32_t>(a);
  for (pattern_range& run : runs) run.pattern = lists.keep(a, run.row);
  std::erase_if(runs, [](const pattern_range& run) { return run.pattern == nullptr; });
  return runs;
}

}  // namespace tally::backends::simd
