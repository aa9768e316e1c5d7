// Public `csr_from_coo`.
#include <tally/error.hpp>
#include <tally/numerics/exact_sum.hpp>
#include <tally/operations/elementwise.hpp>
#include <tally/sparse/assembly.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/order/dot_sum.hpp"
#include "backends/common/sparse/assembly.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/common/types/typed_vector.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"
#if TALLY_HAS_CUDA
#include "backends/cuda/cuda.hpp"
#endif

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace tally {
namespace {

constexpr check check_of{"tally::csr_from_coo"};

bool is_index(type t) { return t == type::int32 || t == type::int64; }

void check_input(const char* name, const operand& v, std::size_t entries) {
  check_of.vector(name, v);
  if (v.size != entries) {
    check_of.fail(errc::size_mismatch, name, " has ", v.size, " elements, values has ", entries);
  }
}

void check_output(const char* name, const output_operand& v, std::size_t least) {
  check_of.vector(name, v);
  if (v.size < least) {
    check_of.fail(errc::size_mismatch, name, " has ", v.size, " elements; ", least, " are needed");
  }
  if (v.increment != 1) {
    check_of.fail(errc::invalid_argument, "the matrix's arrays must be contiguous");
  }
}

void check_index_type(const char* name, type element) {
  check_of.known_type(name, element);
  if (is_index(element)) return;
  check_of.fail(errc::unsupported_type, name, " is ", tally::name(element),
                "; it may be int32 or int64");
}

void check_arguments(const coo_arguments& a) {
  check_index_type("row_indices", a.row_indices.element);
  check_index_type("column_indices", a.column_indices.element);
  check_index_type("row_offsets", a.row_offsets.element);
  check_index_type("sorted_columns", a.sorted_columns.element);
  check_of.known_type("values", a.values.element);
  check_of.known_type("sorted_values", a.sorted_values.element);
  if (!is_in<detail::matrix_value_types>(a.values.element)) {
    check_of.fail(errc::unsupported_type, "values is ", name(a.values.element),
                  "; it may be a floating-point or complex type");
  }
  if (a.sorted_values.element != a.values.element) {
    check_of.fail(errc::unsupported_type, "sorted_values is ", name(a.sorted_values.element),
                  ", values ", name(a.values.element));
  }
  if (a.rows >= max_elements || a.columns >= max_elements) {
    check_of.fail(errc::invalid_argument, "the matrix has ", a.rows, " rows and ", a.columns,
                  " columns; there can be ", max_elements);
  }
  const std::size_t entries = a.values.size;
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (a.row_offsets.element == type::int32 && entries > most) {
    check_of.fail(errc::invalid_argument, "values has ", entries,
                  " elements, and row_offsets is int32, which ends at ", most);
  }
  if (a.sorted_columns.element == type::int32 && a.columns > most + 1) {
    check_of.fail(errc::invalid_argument, "there are ", a.columns,
                  " columns, and sorted_columns is int32, which ends at ", most);
  }
  check_input("values", a.values, entries);
  check_input("row_indices", a.row_indices, entries);
  check_input("column_indices", a.column_indices, entries);
  check_output("row_offsets", a.row_offsets, a.rows + 1);
  check_output("sorted_columns", a.sorted_columns, entries);
  check_output("sorted_values", a.sorted_values, entries);
  const std::pair<const char*, operand> written[] = {{"row_offsets", a.row_offsets},
                                                     {"sorted_columns", a.sorted_columns},
                                                     {"sorted_values", a.sorted_values}};
  check_apart(check_of, "row_offsets", a.row_offsets, "sorted_columns", a.sorted_columns);
  check_apart(check_of, "row_offsets", a.row_offsets, "sorted_values", a.sorted_values);
  check_apart(check_of, "sorted_columns", a.sorted_columns, "sorted_values", a.sorted_values);
  for (const auto& [name, z] : written) {
    check_apart(check_of, "values", a.values, name, z);
    check_apart(check_of, "row_indices", a.row_indices, name, z);
    check_apart(check_of, "column_indices", a.column_indices, name, z);
  }
}

std::int64_t index_at(const operand& v, std::size_t i) {
  return backends::index_vector(
      v)[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(i) * v.increment)];
}

void put_index(const output_operand& v, std::size_t i, std::size_t index) {
  if (v.element == type::int64) {
    static_cast<std::int64_t*>(v.data)[i] = static_cast<std::int64_t>(index);
  } else {
    static_cast<std::int32_t*>(v.data)[i] = static_cast<std::int32_t>(index);
  }
}

/// A search of the first index that is not below `size`.
struct index_search {
  const operand& indices;
  std::size_t size;
  std::atomic<std::size_t> first;  ///< the least found so far

  void among(std::size_t i, std::size_t end) {
    while (i < end && static_cast<std::uint64_t>(index_at(indices, i)) < size) ++i;
    std::size_t least = first;
    while (i < end && i < least && !first.compare_exchange_weak(least, i)) {
    }
  }
};

/// Returns the first index that is not below `size`, or v.size. Runs on the threads of `host`.
std::size_t first_outside(const executor& host, const operand& v, std::size_t size) {
  index_search search{v, size, v.size};
  const part_calls calls{&search, [](void* context, std::size_t, std::size_t first, std::size_t n) {
                           static_cast<index_search*>(context)->among(first, first + n);
                         }};
  host.backend()->for_each_part(host, "tally::csr_from_coo", v.size, calls);
  return search.first;
}

/// Entries by row, then column, those of one place in their order.
struct sorted_entries {
  std::vector<std::size_t> offsets;  ///< of rows, among `order`
  std::vector<std::size_t> order;

  explicit sorted_entries(const coo_arguments& a) : offsets(a.rows + 1), order(a.values.size) {
    for (std::size_t i = 0; i < order.size(); ++i) ++offsets[row(a, i) + 1];
    for (std::size_t r = 0; r < a.rows; ++r) offsets[r + 1] += offsets[r];
    std::vector<std::size_t> next(offsets.begin(), offsets.end() - 1);
    for (std::size_t i = 0; i < order.size(); ++i) order[next[row(a, i)]++] = i;
    const auto column = [&](std::size_t i) { return index_at(a.column_indices, i); };
    for (std::size_t r = 0; r < a.rows; ++r) {
      const auto begin = order.begin() + static_cast<std::ptrdiff_t>(offsets[r]);
      const auto end = order.begin() + static_cast<std::ptrdiff_t>(offsets[r + 1]);
      if (!std::ranges::is_sorted(begin, end, {}, column)) {
        std::ranges::sort(begin, end, {}, [&](std::size_t i) { return std::pair(column(i), i); });
      }
    }
  }

 private:
  static std::size_t row(const coo_arguments& a, std::size_t i) {
    return static_cast<std::size_t>(index_at(a.row_indices, i));
  }
};

/// Sums a real part of some entries.
template <class A, class Part>
A summed(std::size_t count, bool exact, const Part& part) {
  if (exact) {
    exact_sum<double> sum;
    for (std::size_t k = 0; k < count; ++k) sum.add(part(k));
    return sum.template round<A>();
  }
  A sum = part(0);
  for (std::size_t k = 1; k < count; ++k) sum = sum + part(k);
  return backends::canonical(sum);
}

/// Writes the sum of the entries entries[0] ... entries[count - 1] as value `to`.
void put_sum(const coo_arguments& a, const std::size_t* entries, std::size_t count,
             std::size_t to) {
  const std::size_t size = size_of(a.values.element);
  auto* const out = static_cast<std::byte*>(a.sorted_values.data) + to * size;
  if (count == 1) {
    std::memcpy(out, a.values.slice(entries[0], 1).data, size);
    return;
  }
  const backends::typed_vector values(a.values), sums{operand(a.sorted_values)};
  const auto sum_in = [&]<class A>(A) {
    using backends::complex_number;
    const auto part = [&](bool imaginary) {
      return summed<A>(count, a.sums.is_exact(), [&](std::size_t k) {
        const auto value = values.get<complex_number<A>>(entries[k]);
        return imaginary ? value.im : value.re;
      });
    };
    if (values.complex) {
      sums.put(to, complex_number<A>{part(false), part(true)});
    } else {
      sums.put(to, part(false));
    }
  };
  values.number == type::float64 ? sum_in(double{}) : sum_in(float{});
}

using backends::assembled;

/// Assembles in host memory.
assembled assemble_here(const executor& host, const coo_arguments& a) {
  for (const bool is_row : {true, false}) {
    const operand& indices = is_row ? a.row_indices : a.column_indices;
    const std::size_t i = first_outside(host, indices, is_row ? a.rows : a.columns);
    if (i == indices.size) continue;
    return {is_row ? assembled::defect::row : assembled::defect::column, i, index_at(indices, i)};
  }
  const sorted_entries sorted(a);
  std::size_t stored = 0;
  put_index(a.row_offsets, 0, 0);
  for (std::size_t r = 0; r < a.rows; ++r) {
    for (std::size_t i = sorted.offsets[r], next = i; i < sorted.offsets[r + 1]; i = next) {
      const std::int64_t column = index_at(a.column_indices, sorted.order[i]);
      while (next < sorted.offsets[r + 1] &&
             index_at(a.column_indices, sorted.order[next]) == column) {
        ++next;
      }
      put_index(a.sorted_columns, stored, static_cast<std::size_t>(column));
      put_sum(a, &sorted.order[i], next - i, stored);
      ++stored;
    }
    put_index(a.row_offsets, r + 1, stored);
  }
  return {assembled::defect::none, stored, 0};
}

/// Assembles copies in host memory.
assembled assemble_copies(const executor& where, const coo_arguments& a) {
  const backends::backend& on = *where.backend();
  std::vector<std::vector<std::byte>> memory;
  const auto copied = [&](const operand& v) {
    if (v.size == 0) return v;
    const extent all(v);
    const auto* const first = reinterpret_cast<const std::byte*>(all.first);
    auto& bytes = memory.emplace_back(all.bytes);
    on.copy_bytes(where, first, bytes.data(), bytes.size());
    operand copy = v;
    copy.data = bytes.data() + (static_cast<const std::byte*>(v.data) - first);
    return copy;
  };
  const auto room = [&](const output_operand& v, std::size_t n) {
    output_operand copy = v;
    copy.data = memory.emplace_back(n * size_of(v.element)).data();
    return copy;
  };
  coo_arguments copies = a;
  copies.row_indices = copied(a.row_indices);
  copies.column_indices = copied(a.column_indices);
  copies.values = copied(a.values);
  copies.row_offsets = room(a.row_offsets, a.rows + 1);
  copies.sorted_columns = room(a.sorted_columns, a.values.size);
  copies.sorted_values = room(a.sorted_values, a.values.size);
  const assembled made = assemble_here(serial(), copies);
  if (made.what != assembled::defect::none) return made;
  const auto put = [&](const output_operand& from, const output_operand& to, std::size_t n) {
    if (n > 0) on.copy_bytes(where, from.data, to.data, n * size_of(to.element));
  };
  put(copies.row_offsets, a.row_offsets, a.rows + 1);
  put(copies.sorted_columns, a.sorted_columns, made.n);
  put(copies.sorted_values, a.sorted_values, made.n);
  return made;
}

assembled assemble(const executor& where, const coo_arguments& a) {
#if TALLY_HAS_CUDA
  if (where.backend() == &backends::cuda::instance) return backends::cuda::assemble(where, a);
#endif
  return where.backend()->reaches(where, backends::place{}) ? assemble_here(where, a)
                                                            : assemble_copies(where, a);
}

void check_reach(const executor& where, const coo_arguments& a) {
  check_of.reach(where, "row_indices", a.row_indices);
  check_of.reach(where, "column_indices", a.column_indices);
  check_of.reach(where, "values", a.values);
  check_of.reach(where, "row_offsets", a.row_offsets);
  check_of.reach(where, "sorted_columns", a.sorted_columns);
  check_of.reach(where, "sorted_values", a.sorted_values);
}

}  // namespace

std::size_t csr_from_coo(const executor& where, const coo_arguments& a) {
  const backends::default_environment environment;
  check_arguments(a);
  const executor on = where.backend() != nullptr
                          ? where
                          : choose(a.row_indices, a.column_indices, a.values, a.row_offsets);
  if (check::is_needed(on)) check_reach(on, a);
  const assembled made = assemble(on, a);
  if (made.what == assembled::defect::none) return made.n;
  const bool is_row = made.what == assembled::defect::row;
  check_of.fail(errc::invalid_argument, is_row ? "row_indices[" : "column_indices[", made.n,
                "] is ", made.index, "; there are ", is_row ? a.rows : a.columns,
                is_row ? " rows" : " columns");
}

}  // namespace tally
