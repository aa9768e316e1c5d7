// Sparse matrices for tests and benchmarks: patterns in compressed sparse rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace matrices {

struct pattern {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<std::int32_t> row_offsets = {0};
  std::vector<std::int32_t> column_indices;

  /// Ends a row that consists of the columns pushed since the last one.
  void end_row() {
    row_offsets.push_back(static_cast<std::int32_t>(column_indices.size()));
    ++rows;
  }
  std::size_t nonzeros() const { return column_indices.size(); }
};

/// Grid points and those of their neighbours, `reach` of the coordinates apart at most, that are in
/// the grid: the 5-point stencil of nx x ny x 1 and the 7-point one with reach 1, the 27-point one
/// with reach 3.
inline pattern stencil(int nx, int ny, int nz, int reach) {
  pattern p;
  p.columns =
      static_cast<std::size_t>(nx) * static_cast<std::size_t>(ny) * static_cast<std::size_t>(nz);
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      for (int x = 0; x < nx; ++x) {
        for (int dz = -1; dz <= 1; ++dz) {
          for (int dy = -1; dy <= 1; ++dy) {
            for (int dx = -1; dx <= 1; ++dx) {
              if (std::abs(dx) + std::abs(dy) + std::abs(dz) > reach) continue;
              if (x + dx < 0 || x + dx >= nx || y + dy < 0 || y + dy >= ny || z + dz < 0 ||
                  z + dz >= nz) {
                continue;
              }
              p.column_indices.push_back(((z + dz) * ny + y + dy) * nx + x + dx);
            }
          }
        }
        p.end_row();
      }
    }
  }
  return p;
}

/// Rows of these lengths, columns at random.
inline pattern rows_of(const std::vector<std::size_t>& lengths, std::size_t columns,
                       std::uint64_t seed) {
  std::mt19937_64 random(seed);
  pattern p;
  p.columns = columns;
  for (const std::size_t length : lengths) {
    for (std::size_t j = 0; j < length; ++j) {
      p.column_indices.push_back(static_cast<std::int32_t>(random() % columns));
    }
    p.end_row();
  }
  return p;
}

/// n rows whose lengths have this mean; with skew > 0 a few are long, as a power law's.
inline pattern random_rows(std::size_t n, double mean, double skew, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<std::size_t> lengths(n);
  for (std::size_t& length : lengths) {
    const double factor =
        skew > 0 ? std::pow(1 - uniform(random), -skew) * (1 - skew) : 2 * uniform(random);
    length = std::min(n, static_cast<std::size_t>(mean * factor));
  }
  return rows_of(lengths, n, seed + 1);
}

/// A graph of 2^scale vertices and `edges` edges by R-MAT with the parameters of Graph500: degrees
/// follow a power law, many rows are empty. Edges that come twice are kept once.
inline pattern rmat(int scale, std::size_t edges, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::pair<std::int32_t, std::int32_t>> all(edges);
  for (auto& [row, column] : all) {
    for (int bit = 0; bit < scale; ++bit) {
      const std::uint64_t draw = random() % 100;
      row = 2 * row + (draw >= 76);
      column = 2 * column + ((draw >= 57 && draw < 76) || draw >= 95);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  pattern p;
  p.columns = std::size_t{1} << scale;
  std::size_t i = 0;
  while (p.rows < p.columns) {
    for (; i < all.size() && static_cast<std::size_t>(all[i].first) == p.rows; ++i) {
      p.column_indices.push_back(all[i].second);
    }
    p.end_row();
  }
  return p;
}

/// A full first row, a full first column and the diagonal.
inline pattern arrow(std::size_t n) {
  pattern p;
  p.columns = n;
  for (std::size_t j = 0; j < n; ++j) p.column_indices.push_back(static_cast<std::int32_t>(j));
  p.end_row();
  for (std::size_t i = 1; i < n; ++i) {
    p.column_indices.push_back(0);
    p.column_indices.push_back(static_cast<std::int32_t>(i));
    p.end_row();
  }
  return p;
}

}  // namespace matrices
