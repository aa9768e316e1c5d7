// CSR matrices for kernels with indices of any type.
#pragma once

#include "backends/common/types/tables.hpp"

#include <tally/operations/dot.hpp>
#include <tally/sparse/spmv.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends {

struct index_vector {
  const void* data = nullptr;
  bool wide = false;  ///< int64, else int32

  index_vector() = default;
  explicit index_vector(const operand& v) : data(v.data), wide(v.element == type::int64) {}

  TALLY_HOST_DEVICE std::int64_t operator[](std::size_t i) const {
    return wide ? static_cast<const std::int64_t*>(data)[i]
                : static_cast<const std::int32_t*>(data)[i];
  }
};

struct row_bounds {
  index_vector begins, ends;

  explicit row_bounds(const csr_operand& a)
      : begins(a.row_offsets), ends(a.row_ends ? *a.row_ends : a.row_offsets.slice(1, a.rows)) {}

  TALLY_HOST_DEVICE std::size_t begin(std::size_t row) const {
    return static_cast<std::size_t>(begins[row]);
  }
  TALLY_HOST_DEVICE std::size_t end(std::size_t row) const {
    return static_cast<std::size_t>(ends[row]);
  }
  TALLY_HOST_DEVICE std::size_t length(std::size_t row) const { return end(row) - begin(row); }

  /// Returns the first of `rows` rows with at least `work` rows plus terms before it, else `rows`.
  /// Pre: three arrays.
  std::size_t first_behind(std::size_t work, std::size_t rows) const {
    std::size_t first = 0;
    while (first < rows) {
      const std::size_t middle = first + (rows - first) / 2;
      if (middle + begin(middle) < work) {
        first = middle + 1;
      } else {
        rows = middle;
      }
    }
    return first;
  }
};

/// The transpose kept by a backend; a derived class owns the memory.
struct csr_transpose {
  csr_operand matrix;  ///< values null unless kept
  /// Permutation of the matrix's values, int32 or int64; empty if values are kept.
  operand places;

  virtual ~csr_transpose() = default;
};

/// A product for backends: `a` has the rows to sum, also for a transpose; no operation.
struct csr_product : spmv_arguments {
  /// Value indices of terms, int32 or int64; empty if the identity.
  operand places = {};
  conjugate conjugated = conjugate::none;  ///< `x` if values are conjugated

  bool is_permuted() const { return places.size > 0; }
  /// Whether terms are the values alone: without x, of which only the type counts, no columns are
  /// read. A value's term is its product with 1; integers are added to int64 as they are.
  bool sums_values() const { return x.data == nullptr; }
};

/// Products of one matrix with several vectors; the type's and the matrix's part is column 0's.
struct csr_products {
  csr_product first;          ///< of column 0
  std::size_t columns = 1;    ///< at least one
  std::ptrdiff_t x_step = 0;  ///< elements between columns of x
  std::ptrdiff_t y_step = 0;  ///< elements between columns of y

  /// Products of the columns [j, j + count).
  csr_products slice(std::size_t j, std::size_t count) const {
    csr_products some{first, count, x_step, y_step};
    const auto moved = [&](std::ptrdiff_t step, type element) {
      return static_cast<std::ptrdiff_t>(j) * step * static_cast<std::ptrdiff_t>(size_of(element));
    };
    some.first.x.data = static_cast<const char*>(first.x.data) + moved(x_step, first.x.element);
    some.first.y.data = static_cast<char*>(first.y.data) + moved(y_step, first.y.element);
    return some;
  }
};

template <class F>
void with_row_accumulator(const csr_product& a, F&& f) {
  // Equal types accumulate in themselves; 16-bit values never equal x's type.
  const bool same = a.a.values.element == a.x.element;
  with_type<detail::spmv_vector_types>(
      same ? a.x.element : detail::spmv_accumulator(a.a.values.element, a.x.element), f);
}

/// Calls f.operator()<C>() for the type of alpha * sum + beta * y.
template <class A, class F>
void with_combination(const csr_product& a, F&& f) {
  using outputs = std::conditional_t<is_complex_v<A>, complex_types, detail::spmv_vector_types>;
  with_type<outputs>(a.y.element, [&]<class Y>() { f.template operator()<dot_result_t<A, Y>>(); });
}

}  // namespace tally::backends
