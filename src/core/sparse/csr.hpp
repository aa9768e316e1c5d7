// A matrix in compressed sparse rows, for kernels that take indices of any types.
#pragma once

#include <tally/spmv.hpp>

#include <cstddef>
#include <cstdint>

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
  switch (spmvs::accumulator(a.a.values.element, a.x.element)) {
    case type::float32:
      return f.template operator()<float>();
    case type::float64:
      return f.template operator()<double>();
    case type::complex64:
      return f.template operator()<std::complex<float>>();
    default:
      return f.template operator()<std::complex<double>>();
  }
}

/// Calls f.operator()<C>() for the type that alpha * sum + beta * y is computed in.
template <class A, class F>
void with_combination(const spmv_arguments& a, F&& f) {
  switch (a.y.element) {
    case type::float32:
      if constexpr (!is_complex_v<A>) f.template operator()<dot_result_t<A, float>>();
      return;
    case type::float64:
      if constexpr (!is_complex_v<A>) f.template operator()<dot_result_t<A, double>>();
      return;
    case type::complex64:
      return f.template operator()<dot_result_t<A, std::complex<float>>>();
    default:
      return f.template operator()<dot_result_t<A, std::complex<double>>>();
  }
}

/// Rows may have values of these types, and these are the types of the vectors that they are
/// multiplied by and written to.
using csr_value_types =
    type_list<float16, bfloat16, float, double, std::complex<float>, std::complex<double>>;
using spmv_vector_types = type_list<float, double, std::complex<float>, std::complex<double>>;

/// Returns the place of an element type in a list that begins with `First` and has all types in
/// their order.
template <class First, class... T>
constexpr std::size_t index_of(type_list<First, T...>, type element) {
  return static_cast<std::size_t>(element) - static_cast<std::size_t>(type_of<First>);
}

}  // namespace tally::backends
