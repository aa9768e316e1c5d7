// spmv on one thread, in plain loops: the reference that is read first.
#include "backends/serial/spmv.hpp"

#include "backends/exact_rows.hpp"
#include "backends/floating_point_environment.hpp"
#include "backends/row_results.hpp"
#include "backends/serial/exact.hpp"
#include "backends/serial/term.hpp"

#include <algorithm>
#include <array>

namespace tally::backends::serial {
namespace {

template <class A, class V, class X>
void sum_rows_of(const spmv_arguments& a, std::size_t first, std::size_t n, A* sums) {
  const index_vector offsets(a.a.row_offsets), columns(a.a.column_indices);
  const auto* const values = static_cast<const V*>(a.a.values.data);
  const auto* const x = static_cast<const X*>(a.x.data);
  for (std::size_t i = 0; i < n; ++i) {
    const auto begin = static_cast<std::size_t>(offsets[first + i]);
    const auto end = static_cast<std::size_t>(offsets[first + i + 1]);
    const auto sum = sum_row<dot_sum<A>>(end - begin, [&](std::size_t j) {
      return term<A>(values[begin + j], x[columns[begin + j] * a.x.increment]);
    });
    sums[i] = finish(sum, conjugate::none);
  }
}

template <class A>
using row_summer = void(const spmv_arguments& a, std::size_t first, std::size_t n, A* sums);

template <class A, class V, class... X>
constexpr auto summers_of(type_list<X...>) {
  std::array<row_summer<A>*, type_count> table{};
  const auto one = [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<dot_result_t<V, T>, A>) {
      table[static_cast<std::size_t>(type_of<T>)] = &sum_rows_of<A, V, T>;
    }
  };
  (one(std::type_identity<X>{}), ...);
  return table;
}

template <class A>
constexpr auto summers = []<class... V>(type_list<V...>) {
  pair_table<row_summer<A>> table{};
  ((table[static_cast<std::size_t>(type_of<V>)] = summers_of<A, V>(spmv_vector_types{})), ...);
  return table;
}(csr_value_types{});

}  // namespace

template <class A>
void sum_rows(const spmv_arguments& a, std::size_t first, std::size_t n, A* sums) {
  at(summers<A>, a.a.values.element, a.x.element)(a, first, n, sums);
}

void spmv(const executor&, const spmv_arguments& a) {
  const default_environment environment;
  with_row_accumulator(a, [&]<class A>() {
    std::array<A, rows_of_block> sums;
    for (std::size_t first = 0; first < a.a.rows; first += rows_of_block) {
      const std::size_t n = std::min(rows_of_block, a.a.rows - first);
      a.exact ? sum_rows_exactly(a, first, n, add_exact, sums.data())
              : sum_rows(a, first, n, sums.data());
      write_rows(a, first, n, sums.data());
    }
  });
}

std::shared_ptr<const spmv_analysis> analyse(const executor&, const csr_operand&) {
  auto analysis = std::make_shared<spmv_analysis>();
  analysis->description = "one thread, row after row";
  return analysis;
}

csr_defect find_defect(const executor&, const csr_operand& a) {
  using kind = csr_defect::kind;
  const index_vector offsets(a.row_offsets), columns(a.column_indices);
  if (offsets[0] != 0) return {kind::first_offset, 0, offsets[0], 0};
  for (std::size_t i = 0; i < a.rows; ++i) {
    if (offsets[i + 1] < offsets[i]) {
      return {kind::decreasing_offset, i, offsets[i + 1], offsets[i]};
    }
  }
  if (static_cast<std::size_t>(offsets[a.rows]) != a.nonzeros()) {
    return {kind::last_offset, a.rows, offsets[a.rows], 0};
  }
  for (std::size_t j = 0; j < a.nonzeros(); ++j) {
    // A negative one is a large one too.
    if (static_cast<std::uint64_t>(columns[j]) >= a.columns) {
      return {kind::column, j, columns[j], 0};
    }
  }
  return {};
}

// The other columns of the host call these for types that have no kernel of their own there.
template void sum_rows<float>(const spmv_arguments&, std::size_t, std::size_t, float*);
template void sum_rows<double>(const spmv_arguments&, std::size_t, std::size_t, double*);
template void sum_rows<std::complex<float>>(const spmv_arguments&, std::size_t, std::size_t,
                                            std::complex<float>*);
template void sum_rows<std::complex<double>>(const spmv_arguments&, std::size_t, std::size_t,
                                             std::complex<double>*);

}  // namespace tally::backends::serial
