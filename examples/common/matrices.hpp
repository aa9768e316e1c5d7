// Matrices to solve with.
#pragma once

#include <tally/tally.hpp>

#include <cstddef>
#include <cstdint>

namespace example {

/// 4 on the diagonal, -1 for each neighbour.
inline tally::csr_matrix<double> laplacian(int n) {
  tally::csr_matrix<double> a;
  a.rows = a.columns = static_cast<std::size_t>(n) * n;
  const auto add = [&](int i, int j, double value) {
    if (i < 0 || i == n || j < 0 || j == n) return;
    a.column_indices.push_back(i * n + j);
    a.values.push_back(value);
  };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      add(i - 1, j, -1);
      add(i, j - 1, -1);
      add(i, j, 4);
      add(i, j + 1, -1);
      add(i + 1, j, -1);
      a.row_offsets.push_back(static_cast<std::int32_t>(a.values.size()));
    }
  }
  return a;
}

}  // namespace example
