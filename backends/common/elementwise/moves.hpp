// Elements moved bit by bit.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/elementwise/elementwise.hpp"
#include "backends/common/types/tables.hpp"

#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>

#include <cstddef>
#include <cstring>

namespace tally::backends {

/// Returns a scalar as an element of type `z`, rounded once.
inline element_bytes bytes_of(const scalar& value, type z) {
  element_bytes made;
  with_type<element_types>(z, [&]<class Z>() {
    const auto part = [&](double number) {
      using R = std::conditional_t<std::is_same_v<Z, bool>, std::uint8_t, real_t<Z>>;
      if (is_integer(value.element)) return rounded<R>(value.integer);
      if constexpr (std::is_integral_v<R>) {
        return R{};  // unreachable, see `detail::gives`
      } else {
        return rounded<R>(canonical(number));
      }
    };
    if constexpr (is_complex_v<Z>) {
      const Z element(part(value.number.real()),
                      is_integer(value.element) ? real_t<Z>{} : part(value.number.imag()));
      std::memcpy(made.bytes, &element, sizeof element);
    } else {
      const auto element = part(value.number.real());
      std::memcpy(made.bytes, &element, sizeof element);
    }
  });
  return made;
}

/// The number of a listed type at an address, aligned or not.
inline scalar scalar_at(const void* value, type element) {
  scalar result;
  with_type<element_types>(element, [&]<class T>() {
    detail::stored_t<T> stored;
    std::memcpy(&stored, value, sizeof stored);
    result = T(stored);
  });
  return result;
}

template <class F>
void with_size(type element, const F& f) {
  switch (size_of(element)) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 4:
      return f.template operator()<4>();
    case 8:
      return f.template operator()<8>();
    default:
      return f.template operator()<16>();
  }
}

struct moved_vector {
  std::byte* data;
  std::ptrdiff_t stride;  ///< in bytes

  explicit moved_vector(const output_operand& v)
      : data(static_cast<std::byte*>(v.data)),
        stride(v.increment * static_cast<std::ptrdiff_t>(size_of(v.element))) {}

  TALLY_HOST_DEVICE std::byte* at(std::size_t i) const {
    return data + static_cast<std::ptrdiff_t>(i) * stride;
  }
};

inline bool copies_bits(const transform_arguments& a) {
  return a.what == elementwise::copy && a.x.element == a.z.element;
}

/// Copies elements of equal types byte by byte.
inline void copy_elements(const operand& x, const output_operand& z) {
  const auto size = static_cast<std::ptrdiff_t>(size_of(x.element));
  const auto* from = static_cast<const std::byte*>(x.data);
  auto* to = static_cast<std::byte*>(z.data);
  if (x.increment == 1 && z.increment == 1) {
    std::memmove(to, from, x.size * static_cast<std::size_t>(size));
    return;
  }
  with_size(x.element, [&]<std::size_t bytes>() {
    for (std::size_t i = 0; i < x.size; ++i, from += x.increment * size, to += z.increment * size) {
      std::memmove(to, from, bytes);
    }
  });
}

/// The same, but bools become 0 and 1.
inline void copy_bits(const operand& x, const output_operand& z) {
  if (x.element != type::boolean) return copy_elements(x, z);
  const auto* const flags = static_cast<const detail::bool8*>(x.data);
  auto* const copies = static_cast<detail::bool8*>(z.data);
  const auto n = static_cast<std::ptrdiff_t>(x.size);
  for (std::ptrdiff_t i = 0; i < n; ++i) copies[i * z.increment] = copied(flags[i * x.increment]);
}

inline void fill_bits(const element_bytes& value, const output_operand& z) {
  const moved_vector to(z);
  with_size(z.element, [&]<std::size_t size>() {
    for (std::size_t i = 0; i < z.size; ++i) std::memcpy(to.at(i), value.bytes, size);
  });
}

inline void swap_bits(const output_operand& x, const output_operand& y) {
  const moved_vector first(x), second(y);
  with_size(x.element, [&]<std::size_t size>() {
    for (std::size_t i = 0; i < x.size; ++i) {
      std::byte held[size];
      std::memcpy(held, first.at(i), size);
      std::memcpy(first.at(i), second.at(i), size);
      std::memcpy(second.at(i), held, size);
    }
  });
}

}  // namespace tally::backends
