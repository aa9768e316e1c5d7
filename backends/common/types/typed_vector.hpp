// A vector of run-time element type, for kernels of any combination of types.
#pragma once

#include "backends/common/elementwise/elementwise.hpp"
#include "backends/common/types/tables.hpp"

#include <tally/operands/operand.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends {

namespace typed {

template <class R, class T>
TALLY_HOST_DEVICE R number_at(const void* data, std::ptrdiff_t i) {
  return rounded<R>(static_cast<const detail::stored_t<T>*>(data)[i]);
}

template <class R>
TALLY_HOST_DEVICE R number_at(const void* data, std::ptrdiff_t i, type element) {
  return with_type<real_types>(element, [&]<class T>() { return number_at<R, T>(data, i); });
}

template <class T, class R>
TALLY_HOST_DEVICE void put_number(R value, void* data, std::ptrdiff_t i) {
  static_cast<T*>(data)[i] = rounded<T>(value);
}

/// The types that an R may be stored as.
template <class R>
using written_types = std::conditional_t<std::is_integral_v<R>, number_types, floating_point_types>;

template <class R>
TALLY_HOST_DEVICE void put_number(R value, void* data, std::ptrdiff_t i, type element) {
  with_type<written_types<R>>(element, [&]<class T>() { put_number<T>(value, data, i); });
}

}  // namespace typed

struct typed_vector {
  void* data = nullptr;
  std::ptrdiff_t increment = 1;  ///< in real numbers: a complex element is two
  type number = type::float64;
  bool complex = false;

  typed_vector() = default;
  explicit typed_vector(const operand& v)
      : data(const_cast<void*>(v.data)),
        increment(v.increment),
        number(part_of(v.element)),
        complex(is_complex(v.element)) {
    if (complex) increment *= 2;
  }

  template <class V>
  TALLY_HOST_DEVICE V get(std::size_t i) const {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * increment;
    if constexpr (std::is_arithmetic_v<V>) {
      return typed::number_at<V>(data, at, number);
    } else {
      using R = decltype(V::re);
      return {typed::number_at<R>(data, at, number),
              complex ? typed::number_at<R>(data, at + 1, number) : R{0}};
    }
  }
  template <class V>
  TALLY_HOST_DEVICE void put(std::size_t i, const V& value) const {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * increment;
    if constexpr (std::is_arithmetic_v<V>) {
      typed::put_number(value, data, at, number);
      if (complex) typed::put_number(V{0}, data, at + 1, number);
    } else {
      typed::put_number(value.re, data, at, number);
      if (complex) typed::put_number(value.im, data, at + 1, number);
    }
  }
  /// Writes 0 or 1 as any real type.
  TALLY_HOST_DEVICE void put_truth(std::size_t i, bool value) const {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * increment;
    with_type<real_types>(number,
                          [&]<class T>() { typed::put_number<T>(value ? 1.0f : 0.0f, data, at); });
  }
};

}  // namespace tally::backends
