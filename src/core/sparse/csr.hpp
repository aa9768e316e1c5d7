// A matrix in compressed sparse rows, for kernels that take indices of any types.
#pragma once

#include "src/core/types/tables.hpp"

#include <tally/dot.hpp>
#include <tally/spmv.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends {

/// Has row offsets or column indices, of either type.
struct index_vector {
  const void* data = nullptr;
  bool wide = false;  ///< whether they are int64, else int32

  index_vector() = default;
  explicit index_vector(const operand& v) : data(v.data), wide(v.element == type::int64) {}

  TALLY_HOST_DEVICE std::int64_t operator[](std::size_t i) const {
    return wide ? static_cast<const std::int64_t*>(data)[i]
                : static_cast<const std::int32_t*>(data)[i];
  }
};

/// Says where a matrix's rows begin and end among its terms.
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
};

/// A backend keeps this of a matrix whose transpose is multiplied: the transpose, row by row. It
/// owns the memory; what owns it derives from this.
struct csr_transpose {
  csr_operand matrix;  ///< its values point nowhere unless they are kept
  /// Where the matrix has the values, int32 or int64; of size 0 if they are kept.
  operand places;

  virtual ~csr_transpose() = default;
};

/// A product as backends are asked for it: `a` has the rows that are summed, also where the caller
/// asked for a transpose, and its operation is none.
struct csr_product : spmv_arguments {
  /// Term j has value places[j], int32 or int64; of size 0 where it has value j.
  operand places = {};
  conjugate conjugated = conjugate::none;  ///< of `x` where values are conjugated

  bool has_places() const { return places.size > 0; }
};

/// Calls f.operator()<A>() for the type that rows are summed in.
template <class F>
void with_row_accumulator(const csr_product& a, F&& f) {
  // Those of one type are summed in it, unless it has 16 bits; then x has another one.
  const bool same = a.a.values.element == a.x.element;
  with_type<spmvs::vector_types>(
      same ? a.x.element : spmvs::accumulator(a.a.values.element, a.x.element), f);
}

/// Calls f.operator()<C>() for the type that alpha * sum + beta * y is computed in.
template <class A, class F>
void with_combination(const csr_product& a, F&& f) {
  using outputs = std::conditional_t<is_complex_v<A>, complex_types, spmvs::vector_types>;
  with_type<outputs>(a.y.element, [&]<class Y>() { f.template operator()<dot_result_t<A, Y>>(); });
}

}  // namespace tally::backends
