#include "backends/common/sparse/transpose.hpp"

#include "backends/common/elementwise/moves.hpp"
#include "backends/common/sparse/csr_defects.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

namespace tally::backends {
namespace {

template <class Index>
struct host_transpose : csr_transpose {
  std::vector<Index> offsets;
  std::unique_ptr<Index[]> rows;
  std::unique_ptr<Index[]> value_at;    ///< permutation of values
  std::unique_ptr<std::byte[]> values;  ///< instead of `value_at` if kept
};

template <class F>
void for_each_term(const csr_operand& a, const F& f) {
  const row_bounds rows(a);
  for (std::size_t i = 0; i < a.rows; ++i) {
    const std::size_t end = rows.end(i);
    for (std::size_t j = rows.begin(i); j < end; ++j) f(i, j);
  }
}

/// Calls put(term, its index in the transpose).
template <class Index, class Column, class Put>
void place_terms(const csr_operand& a, const Column* columns, host_transpose<Index>& made,
                 const Put& put) {
  // next[c]: index of column c's next term; finally the begin of column c + 1.
  Index* const next = made.offsets.data();
  for_each_term(a, [&](std::size_t i, std::size_t j) {
    const auto at = static_cast<std::size_t>(next[columns[j]]++);
    made.rows[at] = static_cast<Index>(i);
    put(j, at);
  });
  for (std::size_t c = a.columns; c > 0; --c) next[c] = next[c - 1];
  next[0] = 0;
}

template <class Index>
std::shared_ptr<const csr_transpose> transposed(const csr_operand& a, bool keeps_values) {
  auto made = std::make_shared<host_transpose<Index>>();
  made->offsets.resize(a.columns + 1);
  csr_defects::with_index(a.column_indices, [&](const auto* columns) {
    std::vector<Index>& offsets = made->offsets;
    for_each_term(a, [&](std::size_t, std::size_t j) {
      ++offsets[static_cast<std::size_t>(columns[j]) + 1];
    });
    for (std::size_t c = 0; c < a.columns; ++c) offsets[c + 1] += offsets[c];
    const auto terms = static_cast<std::size_t>(offsets[a.columns]);
    made->rows.reset(new Index[terms]);
    csr_operand& matrix = made->matrix;
    matrix = {a.columns,
              a.rows,
              as_operand(offsets),
              {made->rows.get(), terms, 1, type_of<Index>},
              {nullptr, terms, 1, a.values.element}};
    if (!keeps_values) {
      made->value_at.reset(new Index[terms]);
      made->places = {made->value_at.get(), terms, 1, type_of<Index>};
      return place_terms(a, columns, *made, [&](std::size_t j, std::size_t at) {
        made->value_at[at] = static_cast<Index>(j);
      });
    }
    with_size(a.values.element, [&]<std::size_t size>() {
      made->values.reset(new std::byte[terms * size]);
      matrix.values.data = made->values.get();
      const auto* const from = static_cast<const std::byte*>(a.values.data);
      place_terms(a, columns, *made, [&](std::size_t j, std::size_t at) {
        std::memcpy(made->values.get() + at * size, from + j * size, size);
      });
    });
  });
  return made;
}

}  // namespace

std::shared_ptr<const csr_transpose> transpose_on_host(const csr_operand& a, bool keeps_values) {
  constexpr auto max_index = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  std::size_t terms = 0;  // with four arrays rows may share some
  for_each_term(a, [&](std::size_t, std::size_t) { ++terms; });
  return std::max({a.rows, a.columns, a.nonzeros(), terms}) <= max_index
             ? transposed<std::int32_t>(a, keeps_values)
             : transposed<std::int64_t>(a, keeps_values);
}

}  // namespace tally::backends
