// Row lengths in plans' descriptions.
#pragma once

#include "backends/common/sparse/csr.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace tally::backends {

struct row_lengths {
  std::size_t rows = 0;
  std::size_t terms = 0;
  std::size_t longest = 0;
  std::size_t empty = 0;
};

inline row_lengths lengths_of_rows(const csr_operand& a) {
  const row_bounds rows(a);
  row_lengths lengths{a.rows};
  for (std::size_t i = 0; i < a.rows; ++i) {
    const std::size_t n = rows.length(i);
    lengths.terms += n;
    lengths.longest = std::max(lengths.longest, n);
    lengths.empty += n == 0;
  }
  return lengths;
}

/// Such as "1000 rows of 5.2 terms, at most 17, 3 of them empty".
inline std::string describe(const row_lengths& lengths) {
  const std::size_t tenths = (10 * lengths.terms + lengths.rows / 2) / lengths.rows;
  std::string text = std::to_string(lengths.rows) + " rows of " + std::to_string(tenths / 10) +
                     "." + std::to_string(tenths % 10) + " terms, at most " +
                     std::to_string(lengths.longest);
  if (lengths.empty > 0) text += ", " + std::to_string(lengths.empty) + " of them empty";
  return text;
}

}  // namespace tally::backends
