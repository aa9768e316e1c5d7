// Public `csr_from_coo`.
#include <tally/error.hpp>
#include <tally/operations/elementwise.hpp>
#include <tally/sparse/assembly.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/sparse/assembly.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"
#include "src/sparse/assemble.hpp"
#if TALLY_HAS_CUDA
#include "backends/cuda/cuda.hpp"
#endif

#include <algorithm>
#include <cstdint>
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

void check_output(const char* name, const output_operand& v, std::size_t min_size) {
  check_of.vector(name, v);
  if (v.size < min_size) {
    check_of.fail(errc::size_mismatch, name, " has ", v.size, " elements; ", min_size,
                  " are needed");
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
  check_of.offsets("row_offsets", a.row_offsets.element, "values", entries);
  if (a.sorted_columns.element == type::int32 && a.columns > max_int32 + 1) {
    check_of.fail(errc::invalid_argument, "there are ", a.columns,
                  " columns, and sorted_columns is int32, which ends at ", max_int32);
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

using backends::assembled;

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
  const assembled made = assemble_on_host(serial(), copies);
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
  return where.backend()->is_on_host ? assemble_on_host(where, a) : assemble_copies(where, a);
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
