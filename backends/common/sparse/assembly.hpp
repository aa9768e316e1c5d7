// What a backend returns of csr_from_coo.
#pragma once

#include <tally/sparse/assembly.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends {

/// The values stored, or the first entry outside the matrix; rows are checked first.
struct assembled {
  enum class defect : std::uint8_t { none, row, column };
  defect what = defect::none;
  std::size_t n = 0;       ///< values, or the number of the entry
  std::int64_t index = 0;  ///< its row or column
};

}  // namespace tally::backends
