// Rows with equal column - row differences (stencils).
#pragma once

#include <tally/sparse/spmv.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace tally::backends::simd {

struct row_pattern {
  std::int64_t lowest = 0;  ///< lowest difference
  std::size_t terms = 0;    ///< from 1 to row_order::short_row
  /// Difference of each term minus `lowest`, padded with zeros to a multiple of row_order::lanes.
  const std::int32_t* above = nullptr;
  std::size_t number = 0;  ///< from 1, in order of discovery
  bool triples = false;    ///< terms form triples of adjacent columns, and there are more than 8
};

/// Patterns of a matrix's rows, up to a limit.
class pattern_lists {
 public:
  /// At most this many differences in all, to stay in the L1 cache.
  static constexpr std::size_t max_kept = 4096;

  /// Returns the row's pattern, inserted if new; null beyond the limit.
  const row_pattern* keep(const csr_operand& a, std::size_t row);

 private:
  using list = std::tuple<std::int64_t, std::size_t, std::vector<std::int32_t>>;
  std::map<list, row_pattern> patterns_;
  std::size_t kept_ = 0;
};

/// Adjacent rows of one pattern: each reads x one element on, so columns need not be read.
struct pattern_range {
  std::size_t row = 0;   ///< first
  std::size_t rows = 0;  ///< at least 1
  const row_pattern* pattern = nullptr;

  std::size_t end() const { return row + rows; }
};

/// Returns a matrix's pattern ranges, in row order. Rows between them are empty, long, or beyond
/// the limit of patterns.
std::vector<pattern_range> pattern_ranges(const csr_operand& a, pattern_lists& lists);

}  // namespace tally::backends::simd
