// Products of a matrix with several columns, for the simd and openmp backends: values and x of one
// real type of 32 or 64 bits, rows of x of adjacent elements, default grade.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/serial/serial.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <vector>

namespace tally::backends::simd {

/// Columns of one pass over the matrix; stacks have a limit.
inline constexpr std::size_t columns_at_once = 32;

/// Rows of adjacent elements, `stride` elements apart.
template <class W>
struct dense_rows {
  const W* data;
  std::ptrdiff_t stride;
  std::size_t columns;  ///< at most `columns_at_once`
};

template <class W>
struct column_kernels {
  /// Sums n rows from `first`, those of row i at `sums + i * stride`; canonical NaNs.
  void (*rows)(const csr_product& a, const dense_rows<W>& x, std::size_t first, std::size_t n,
               W* sums, std::ptrdiff_t stride) = nullptr;
  /// Sums a chunk of a long row, n terms from `first`.
  void (*chunk)(const csr_product& a, const dense_rows<W>& x, std::size_t first, std::size_t n,
                W* sums) = nullptr;
};

/// Null for values of another type than W, x's.
template <class W>
const column_kernels<W>* column_kernels_of(instruction_set set, const csr_product& a);

/// Sums of a node, by column.
template <class W>
struct column_sums {
  std::array<W, columns_at_once> of{};

  friend column_sums operator+(const column_sums& a, const column_sums& b) {
    column_sums sum;
    for (std::size_t j = 0; j < columns_at_once; ++j) sum.of[j] = a.of[j] + b.of[j];
    return sum;
  }
};

/// Rows of products in the default grade, as `ordered_rows`.
template <class W>
struct ordered_columns {
  using number = column_sums<W>;
  using part = std::vector<column_sums<W>>;
  using total = tree<column_sums<W>>;
  const column_kernels<W>& kernels;
  const csr_product& a;  ///< of column 0
  const csr_products& all;
  dense_rows<W> x;

  static part part_of(std::size_t terms) { return part((terms + order::chunk - 1) / order::chunk); }
  void multiply(std::size_t first, std::size_t n) const;
  [[gnu::noinline]] void sum(std::size_t begin, std::size_t end, part& to) const {
    for (column_sums<W>& chunk : to) {
      kernels.chunk(a, x, begin, std::min(order::chunk, end - begin), chunk.of.data());
      begin += order::chunk;
    }
  }
  static void add(total& row, const part& chunks) {
    for (const column_sums<W>& chunk : chunks) row.add(chunk);
  }
  number rounded(const total& row) const;
  void write(std::size_t row, const number& sums) const;
};

/// Fewer columns, and those that are not neighbours in rows of x, take as long one after another
/// (tuning/spmm.md).
inline constexpr std::size_t min_columns = 4;

/// Calls multiply(rows) for equal shares of the columns. Returns whether there are kernels.
template <class F>
bool with_columns(const executor& where, const csr_products& a, const F& multiply) {
  const csr_product& first = a.first;
  if (a.columns < min_columns || a.x_step != 1 || first.options.grade.is_exact()) return false;
  const auto run = [&]<class W>(const column_kernels<W>* kernels) {
    if (kernels == nullptr) return false;
    const std::size_t passes = (a.columns + columns_at_once - 1) / columns_at_once;
    for (std::size_t p = 0, j = 0; p < passes; ++p) {
      const std::size_t count = (a.columns - j) / (passes - p);
      const csr_products some = a.slice(j, count);
      const dense_rows<W> x{static_cast<const W*>(some.first.x.data), some.first.x.increment,
                            count};
      try {
        multiply(ordered_columns<W>{*kernels, some.first, some, x});
      } catch (const std::bad_alloc&) {  // as serial's
        if (p == 0) throw;
        for (std::size_t k = 0; k < count; ++k) {
          serial::instance.spmv(where, some.slice(k, 1).first);
        }
      }
      j += count;
    }
    return true;
  };
  return first.x.element == type::float64
             ? run(column_kernels_of<double>(where.instructions(), first))
         : first.x.element == type::float32
             ? run(column_kernels_of<float>(where.instructions(), first))
             : false;
}

}  // namespace tally::backends::simd
