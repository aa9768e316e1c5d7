// A host backend's kernels for rows, for one combination of types.
#pragma once

#include "backends/common/order/dot_sum.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/common/sparse/gathered.hpp"
#include "backends/common/sparse/row_results.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace tally::backends {

template <class A>
struct row_kernels;
template <class A>
using slices_kernel = std::size_t(const csr_product& a, std::size_t first, std::size_t n,
                                  const row_kernels<A>& others, A* sums);

/// Pre: default environment, plain product.
template <class A>
struct row_kernels {
  /// Sums n rows from `first`; canonical NaNs.
  void (*rows)(const csr_product& a, std::size_t first, std::size_t n, A* sums) = nullptr;
  /// Sums a node of a long row: n terms from `first`.
  dot_sum<A> (*part)(const csr_product& a, std::size_t first, std::size_t n) = nullptr;
  /// Sums at most n rows from `first` by the plan's slices, returns how many. `others.rows` sums
  /// rows outside slices and partial scopes. Null without slices.
  slices_kernel<A>* slices = nullptr;
};

/// Whether terms are contiguous, row after row.
inline bool is_plain(const csr_product& a) { return !a.is_permuted() && !a.a.row_ends; }

/// Buffer of plain rows, or a part of one, gathered from permuted values and separate rows.
/// (Permuted values belong to a transpose, which has three arrays.)
class gathered_rows {
 public:
  explicit gathered_rows(const csr_product& a) : all_(a), some_(a), rows_(a.a) {
    some_.places = {};
    some_.a.row_ends.reset();
    some_.a.row_offsets = {offsets_.data(), 0, 1, type::int64};
    some_.a.values.data = values_;
  }

  /// Returns as many rows from `first` as fit, at most n, possibly none.
  const csr_product& rows(std::size_t first, std::size_t n) {
    const bool apart = all_.a.row_ends.has_value();
    std::size_t count = 0, terms = 0;
    for (; count < std::min(n, max_rows); ++count) {
      const std::size_t length = rows_.length(first + count);
      if (length > order::chunk - terms) break;
      offsets_[count] = static_cast<std::int64_t>(terms);
      if (apart) copy(rows_.begin(first + count), length, terms);
      terms += length;
    }
    offsets_[count] = static_cast<std::int64_t>(terms);
    if (!apart && count > 0) return part(rows_.begin(first), terms, count);
    some_.a.column_indices.data = columns_;
    return sized(count, terms);
  }
  /// Returns n terms from `first`, at most a chunk, as `rows` rows.
  const csr_product& part(std::size_t first, std::size_t n, std::size_t rows = 0) {
    if (all_.is_permuted()) {
      gathered(all_.a.values, index_vector(all_.places), first, n, values_);
      some_.a.column_indices.data = all_.a.column_indices.slice(first, n).data;
    } else {
      copy(first, n, 0);
      some_.a.column_indices.data = columns_;
    }
    return sized(rows, n);
  }

 private:
  void copy(std::size_t first, std::size_t n, std::size_t to) {
    const auto copy_some = [&](const operand& v, std::byte* copies) {
      const std::size_t size = size_of(v.element);
      if (n > 0) std::memcpy(copies + to * size, v.slice(first, n).data, n * size);
    };
    copy_some(all_.a.values, values_);
    copy_some(all_.a.column_indices, columns_);
  }
  const csr_product& sized(std::size_t rows, std::size_t terms) {
    some_.a.rows = rows;
    some_.a.row_offsets.size = rows + 1;
    some_.a.column_indices.size = some_.a.values.size = terms;
    return some_;
  }

  const csr_product& all_;
  csr_product some_;
  row_bounds rows_;
  static constexpr std::size_t max_rows = 128;  // small for small stacks

  std::array<std::int64_t, max_rows + 1> offsets_;
  alignas(64) std::byte columns_[order::chunk * sizeof(std::int64_t)];
  alignas(64) std::byte values_[order::chunk * sizeof(std::complex<double>)];
};

/// Sums as `kernels.part` does, for any product; at most a chunk.
template <class A>
dot_sum<A> sum_part(const row_kernels<A>& kernels, const csr_product& a, std::size_t first,
                    std::size_t n) {
  if (!a.is_permuted()) return kernels.part(a, first, n);
  return kernels.part(gathered_rows(a).part(first, n), 0, n);
}

/// Pre: not plain.
template <class A>
[[gnu::noinline]] void sum_gathered_rows(const row_kernels<A>& kernels, const csr_product& a,
                                         std::size_t first, std::size_t n, A* sums) {
  gathered_rows gathered(a);
  const row_bounds rows(a.a);
  for (std::size_t i = 0; i < n;) {
    const csr_product& some = gathered.rows(first + i, n - i);
    if (some.a.rows > 0) {
      kernels.rows(some, 0, some.a.rows, sums + i);
      i += some.a.rows;
      continue;
    }
    tree<dot_sum<A>> chunks;
    const std::size_t end = rows.end(first + i);
    for (std::size_t j = rows.begin(first + i); j < end; j += order::chunk) {
      const std::size_t terms = std::min(order::chunk, end - j);
      chunks.add(kernels.part(gathered.part(j, terms), 0, terms));
    }
    sums[i++] = finish(chunks.total(), a.conjugated);
  }
}

/// Sums n rows from `first` outside slices: plain ones, or gathered to be plain.
template <class A>
void sum_rows_alone(const row_kernels<A>& kernels, const csr_product& a, std::size_t first,
                    std::size_t n, A* sums) {
  is_plain(a) ? kernels.rows(a, first, n, sums) : sum_gathered_rows(kernels, a, first, n, sums);
}

/// Sums at most n rows from `first`, by a plan's slices if there are any; returns how many.
template <class A>
std::size_t sum_some_rows(const row_kernels<A>& kernels, const csr_product& a, std::size_t first,
                          std::size_t n, A* sums) {
  if (kernels.slices != nullptr) return kernels.slices(a, first, n, kernels, sums);
  sum_rows_alone(kernels, a, first, n, sums);
  return n;
}

template <std::size_t block, class A>
[[gnu::noinline]] void multiply_in_blocks(const row_kernels<A>& kernels, const csr_product& a,
                                          std::size_t first, std::size_t n) {
  std::array<A, block> sums;
  for (std::size_t i = 0; i < n;) {
    const std::size_t max_rows = std::min(block, n - i);
    const std::size_t count = sum_some_rows(kernels, a, first + i, max_rows, sums.data());
    write_rows(a, first + i, count, sums.data());
    i += count;
  }
}

template <class A>
void multiply_rows(const row_kernels<A>& kernels, const csr_product& a, std::size_t first,
                   std::size_t n) {
  if (are_sums<A>(a)) {
    A* const sums = static_cast<A*>(a.y.data) + first;
    for (std::size_t i = 0; i < n;) i += sum_some_rows(kernels, a, first + i, n - i, sums + i);
  } else if (kernels.slices != nullptr) {
    multiply_in_blocks<rows_of_scope>(kernels, a, first, n);
  } else {
    multiply_in_blocks<rows_of_block>(kernels, a, first, n);
  }
}

}  // namespace tally::backends
