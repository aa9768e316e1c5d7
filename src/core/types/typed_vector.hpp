// A typed_vector tells its element type apart at run time, element by element. It is for kernels
// that take any combination of types.
#pragma once

#include "src/core/elementwise/elementwise.hpp"

#include <tally/operand.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends {

namespace typed {

template <class R, class T>
TALLY_HOST_DEVICE R number_at(const void* data, std::ptrdiff_t i) {
  return rounded<R>(static_cast<const types::stored_t<T>*>(data)[i]);
}

template <class R>
TALLY_HOST_DEVICE R number_at(const void* data, std::ptrdiff_t i, type element) {
  switch (element) {
    case type::boolean:
      return number_at<R, bool>(data, i);
    case type::int8:
      return number_at<R, std::int8_t>(data, i);
    case type::uint8:
      return number_at<R, std::uint8_t>(data, i);
    case type::int32:
      return number_at<R, std::int32_t>(data, i);
    case type::int64:
      return number_at<R, std::int64_t>(data, i);
    case type::float16:
      return number_at<R, float16>(data, i);
    case type::bfloat16:
      return number_at<R, bfloat16>(data, i);
    case type::float32:
      return number_at<R, float>(data, i);
    default:
      return number_at<R, double>(data, i);
  }
}

template <class T, class R>
TALLY_HOST_DEVICE void put_number(R value, void* data, std::ptrdiff_t i) {
  static_cast<T*>(data)[i] = rounded<T>(value);
}

template <class R>
TALLY_HOST_DEVICE void put_number(R value, void* data, std::ptrdiff_t i, type element) {
  if constexpr (std::is_integral_v<R>) {
    switch (element) {
      case type::int8:
        return put_number<std::int8_t>(value, data, i);
      case type::uint8:
        return put_number<std::uint8_t>(value, data, i);
      case type::int32:
        return put_number<std::int32_t>(value, data, i);
      case type::int64:
        return put_number<std::int64_t>(value, data, i);
      default:
        break;
    }
  }
  switch (element) {
    case type::float16:
      return put_number<float16>(value, data, i);
    case type::bfloat16:
      return put_number<bfloat16>(value, data, i);
    case type::float32:
      return put_number<float>(value, data, i);
    default:
      return put_number<double>(value, data, i);
  }
}

}  // namespace typed

struct typed_vector {
  void* data = nullptr;
  std::ptrdiff_t increment = 1;  ///< counted in numbers; a complex element is two
  type number = type::float64;
  bool complex = false;

  typed_vector() = default;
  explicit typed_vector(const operand& v)
      : data(const_cast<void*>(v.data)),
        increment(v.increment),
        number(v.element == type::complex64    ? type::float32
               : v.element == type::complex128 ? type::float64
                                               : v.element),
        complex(transforms::is_complex(v.element)) {
    if (complex) increment *= 2;
  }

  /// Returns element i, in what elements are computed as.
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
      typed::put_number(value.im, data, at + 1, number);
    }
  }
};

}  // namespace tally::backends
