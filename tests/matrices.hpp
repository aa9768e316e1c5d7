// Sparse patterns in CSR, and the location of matrix files.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace matrices {

/// Path of a real matrix, if present: in TALLY_MATRICES of the environment, else in the configured
/// folder.
inline std::filesystem::path file(const std::string& name) {
  const char* const elsewhere = std::getenv("TALLY_MATRICES");
  return std::filesystem::path(elsewhere != nullptr ? elsewhere : TALLY_MATRICES) /
         (name + ".mtx.gz");
}

struct pattern {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<std::int32_t> row_offsets = {0};
  std::vector<std::int32_t> column_indices;

  void end_row() {
    row_offsets.push_back(static_cast<std::int32_t>(column_indices.size()));
    ++rows;
  }
  std::size_t nonzeros() const { return column_indices.size(); }
};

/// A grid's stencil: neighbours at most `reach` coordinates apart. Reach 1: 5-point of nx x ny x 1,
/// 7-point; reach 3: 27-point.
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

/// n rows with this mean length; with skew > 0 a power law makes a few long.
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

/// n rows with min to max terms, whose columns are at random at most `reach` from the diagonal,
/// which goes from corner to corner, and in order.
inline pattern band(std::size_t n, std::size_t columns, int min, int max, std::ptrdiff_t reach,
                    std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> lengths(min, max);
  const auto last = static_cast<std::ptrdiff_t>(columns) - 1;
  pattern p;
  p.columns = columns;
  while (p.rows < n) {
    const auto middle = static_cast<std::ptrdiff_t>(p.rows * columns / n);
    std::uniform_int_distribution<std::ptrdiff_t> near(std::max(middle - reach, std::ptrdiff_t{0}),
                                                       std::min(middle + reach, last));
    const std::size_t begin = p.nonzeros();
    p.column_indices.resize(begin + static_cast<std::size_t>(lengths(random)));
    const std::span row = std::span(p.column_indices).subspan(begin);
    for (std::int32_t& column : row) column = static_cast<std::int32_t>(near(random));
    std::ranges::sort(row);
    p.end_row();
  }
  return p;
}

/// A graph of 2^scale vertices and `edges` edges by R-MAT with Graph500's parameters: power-law
/// degrees, many empty rows, no duplicates.
inline pattern rmat(int scale, std::size_t edges, std::uint64_t seed) {
  constexpr auto share = [](double p) { return static_cast<std::uint64_t>(p * 65536); };
  std::mt19937_64 random(seed);
  pattern p;
  p.columns = std::size_t{1} << scale;
  std::vector<std::pair<std::int32_t, std::int32_t>> all(edges);
  std::vector<std::size_t> ends(p.columns + 1);  // sorted by row, then column
  for (auto& edge : all) {
    std::int32_t row = 0, column = 0;
    std::uint64_t draws = 0;
    for (int bit = 0; bit < scale; ++bit, draws >>= 16) {
      if (bit % 4 == 0) draws = random();
      const std::uint64_t draw = draws % 65536;
      const bool lower = draw >= share(0.76);
      row = 2 * row + lower;
      column = 2 * column + ((draw >= share(0.57)) ^ lower ^ (draw >= share(0.95)));
    }
    edge = {row, column};
    ++ends[static_cast<std::size_t>(row) + 1];
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<std::int32_t> columns(edges);
  for (const auto& [row, column] : all) columns[ends[static_cast<std::size_t>(row)]++] = column;
  auto begin = columns.begin();
  while (p.rows < p.columns) {
    const auto end = columns.begin() + static_cast<std::ptrdiff_t>(ends[p.rows]);
    std::sort(begin, end);
    std::unique_copy(begin, end, std::back_inserter(p.column_indices));
    p.end_row();
    begin = end;
  }
  return p;
}

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
