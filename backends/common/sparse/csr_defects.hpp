// Defects of a matrix, on a host.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/sparse/csr.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tally::backends {

namespace csr_defects {

using kind = csr_defect::kind;

/// First i of [first, first + n) with is_bad(i), else first + n. By blocks without branches, to
/// vectorise.
template <class Bad>
std::size_t find(std::size_t first, std::size_t n, Bad is_bad) {
  constexpr std::size_t block = 1024;
  const std::size_t end = first + n;
  for (std::size_t i = first; i < end; i += block) {
    const std::size_t last = std::min(end, i + block);
    bool any = false;
    for (std::size_t j = i; j < last; ++j) any |= is_bad(j);
    if (!any) continue;
    while (!is_bad(i)) ++i;
    return i;
  }
  return end;
}

template <class F>
auto with_index(const operand& v, F&& f) {
  return v.element == type::int64 ? f(static_cast<const std::int64_t*>(v.data))
                                  : f(static_cast<const std::int32_t*>(v.data));
}

inline csr_defect in_offsets(const csr_operand& a, std::size_t first, std::size_t n) {
  return with_index(a.row_offsets, [&](const auto* offsets) -> csr_defect {
    const std::size_t i =
        find(first, n, [&](std::size_t j) { return offsets[j + 1] < offsets[j]; });
    if (i == first + n) return {};
    return {kind::decreasing_offset, i, offsets[i + 1], offsets[i]};
  });
}

inline csr_defect in_columns(const csr_operand& a, std::size_t first, std::size_t n) {
  return with_index(a.column_indices, [&]<class I>(const I* columns) -> csr_defect {
    // In the index type, so both sides have one width; negative indices become large.
    using U = std::make_unsigned_t<I>;
    constexpr auto max_columns = static_cast<std::size_t>(std::numeric_limits<I>::max()) + 1;
    const auto bound = static_cast<U>(std::min(a.columns, max_columns));
    const std::size_t i =
        find(first, n, [&](std::size_t j) { return static_cast<U>(columns[j]) >= bound; });
    if (i == first + n) return {};
    return {kind::column, i, columns[i], 0};
  });
}

/// Four arrays: a row's bounds, then its columns.
inline csr_defect in_rows(const csr_operand& a, std::size_t first, std::size_t n) {
  const row_bounds rows(a);
  for (std::size_t i = first; i < first + n; ++i) {
    const std::int64_t begin = rows.begins[i], end = rows.ends[i];
    if (begin < 0) return {kind::early_row, i, begin, 0};
    if (end < begin) return {kind::decreasing_offset, i, end, begin};
    if (end > static_cast<std::int64_t>(a.nonzeros())) return {kind::late_row, i, end, 0};
    const csr_defect defect = in_columns(a, rows.begin(i), rows.length(i));
    if (defect.what != kind::none) return defect;
  }
  return {};
}

using search = csr_defect(const csr_operand& a, std::size_t first, std::size_t n);

}  // namespace csr_defects

/// Pre: four arrays, the row has a defect. `index_at(v, i)` fetches an index to the host.
template <class IndexAt>
csr_defect defect_of_row(const csr_operand& a, std::size_t row, IndexAt index_at) {
  using csr_defects::kind;
  const std::int64_t begin = index_at(a.row_offsets, row), end = index_at(*a.row_ends, row);
  if (begin < 0) return {kind::early_row, row, begin, 0};
  if (end < begin) return {kind::decreasing_offset, row, end, begin};
  if (end > static_cast<std::int64_t>(a.nonzeros())) return {kind::late_row, row, end, 0};
  for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(end); ++j) {
    const std::int64_t column = index_at(a.column_indices, j);
    if (static_cast<std::size_t>(column) >= a.columns) return {kind::column, j, column, 0};
  }
  return {};
}

/// `in_parts(n, search)` returns the first defect in [0, n), in any partition.
template <class InParts>
csr_defect first_defect(const csr_operand& a, InParts in_parts) {
  using csr_defects::kind;
  if (a.row_ends) return in_parts(a.rows, csr_defects::in_rows);
  const index_vector offsets(a.row_offsets);
  if (offsets[0] != 0) return {kind::first_offset, 0, offsets[0], 0};
  const csr_defect defect = in_parts(a.rows, csr_defects::in_offsets);
  if (defect.what != kind::none) return defect;
  if (static_cast<std::size_t>(offsets[a.rows]) != a.nonzeros()) {
    return {kind::last_offset, a.rows, offsets[a.rows], 0};
  }
  return in_parts(a.nonzeros(), csr_defects::in_columns);
}

}  // namespace tally::backends
