// A host's plan finds rows here that can be summed side by side.
#pragma once

#include <tally/spmv.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace tally::backends {

/// Rows have one pattern where they have the same list of differences column - row.
struct row_pattern {
  std::int64_t lowest = 0;              ///< the lowest difference
  std::size_t terms = 0;                ///< at least 1, at most row_order::short_row
  const std::int32_t* above = nullptr;  ///< of each term, how far its difference is above that;
                                        ///< zeros follow, to a multiple of row_order::lanes
  std::size_t number = 0;               ///< 1 for the pattern that was kept first, 2 for the next
  bool pairs = false;                   ///< whether two by two the terms are of adjacent columns
  bool triples = false;  ///< whether they are so three by three, and there are more than 8
};

/// The patterns of a matrix's rows, unless they are too many to be kept.
class pattern_lists {
 public:
  /// The lists have at most so many numbers: they are to stay in the first cache.
  static constexpr std::size_t most_kept = 4096;

  /// Keeps the pattern of a row, or finds it; null if there are too many.
  const row_pattern* keep(const csr_operand& a, std::size_t row);

 private:
  /// What is in a row_pattern, with numbers of its own.
  using list = std::tuple<std::int64_t, std::size_t, std::vector<std::int32_t>>;
  std::map<list, row_pattern> patterns_;
  std::size_t kept_ = 0;  ///< numbers in all lists
};

/// Adjacent rows of one pattern. Each reads x one element further on than the row before it does,
/// and columns need not be read at all.
struct pattern_run {
  std::size_t row = 0;   ///< the first one
  std::size_t rows = 0;  ///< how many there are, at least 1
  const row_pattern* pattern = nullptr;

  std::size_t end() const { return row + rows; }
};

/// The runs of a matrix in host memory, in order. Rows that are in none lie between them: empty and
/// long ones, and those whose patterns are too many to be kept.
class pattern_runs {
 public:
  /// Reads all columns of a matrix, and keeps its patterns in `lists`.
  pattern_runs(const csr_operand& a, pattern_lists& lists);

  const std::vector<pattern_run>& all() const { return runs_; }
  /// Returns the first run that ends behind a row, or the place behind the last one.
  const pattern_run* behind(std::size_t row) const;

 private:
  std::vector<pattern_run> runs_;
};

}  // namespace tally::backends
