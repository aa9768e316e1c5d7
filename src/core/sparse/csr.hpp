// A matrix in compressed sparse rows, for kernels that take indices of any types.
#pragma once

#include "src/core/types/tables.hpp"

#include <tally/spmv.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends {

/// Has row offsets or column indices, of either type.
struct index_vector {
  const void* data;
  bool wide;  ///< whether they are int64, else int32

  explicit index_vector(const operand& v) : data(v.data), wide(v.element == type::int64) {}

  TALLY_HOST_DEVICE std::int64_t operator[](std::size_t i) const {
    return wide ? static_cast<const std::int64_t*>(data)[i]
                : static_cast<const std::int32_t*>(data)[i];
  }
};

/// Calls f.operator()<A>() for the type that rows are summed in.
template <class F>
void with_row_accumulator(const spmv_arguments& a, F&& f) {
  with_type<spmvs::vector_types>(spmvs::accumulator(a.a.values.element, a.x.element), f);
}

/// Calls f.operator()<C>() for the type that alpha * sum + beta * y is computed in.
template <class A, class F>
void with_combination(const spmv_arguments& a, F&& f) {
  using outputs = std::conditional_t<is_complex_v<A>, complex_types, spmvs::vector_types>;
  with_type<outputs>(a.y.element, [&]<class Y>() { f.template operator()<dot_result_t<A, Y>>(); });
}

}  // namespace tally::backends
