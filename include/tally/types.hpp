// Element types: the one list that instantiates, tests and benchmarks everything, and traits.
#pragma once

#include <tally/export.h>
#include <tally/detail/cxx20.hpp>

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define TALLY_HOST_DEVICE __host__ __device__
#else
#define TALLY_HOST_DEVICE
#endif

// Types of other libraries with our layout; see `tally::element_of`.
struct __half;
struct __nv_bfloat16;
namespace Kokkos {
template <class T>
class complex;
}

/// Memory-bound kernels with the same bits on every backend: see docs/contract.md.
namespace tally {

/// IEEE 754 binary16. Storage only; converts exactly to `float`. Layout of `_Float16` and CUDA's
/// `__half`.
struct float16 {
  std::uint16_t bits = 0;  ///< representation

  float16() = default;
  /// Rounds to nearest even; overflows to infinity.
  TALLY_HOST_DEVICE explicit constexpr float16(float value) : bits(round(value)) {}
  /// Exact.
  TALLY_HOST_DEVICE constexpr operator float() const;

 private:
  TALLY_HOST_DEVICE static constexpr std::uint16_t round(float value);
};

/// The upper half of a `float`. Storage only. Layout of CUDA's `__nv_bfloat16`.
struct bfloat16 {
  std::uint16_t bits = 0;  ///< representation

  bfloat16() = default;
  /// Rounds to nearest even; overflows to infinity.
  TALLY_HOST_DEVICE explicit constexpr bfloat16(float value) : bits(round(value)) {}
  /// Exact.
  TALLY_HOST_DEVICE constexpr operator float() const {
    return __builtin_bit_cast(float, std::uint32_t{bits} << 16);
  }

 private:
  TALLY_HOST_DEVICE static constexpr std::uint16_t round(float value) {
    const auto word = __builtin_bit_cast(std::uint32_t, value);
    if ((word & 0x7fffffffu) > 0x7f800000u) {
      return static_cast<std::uint16_t>((word >> 16) | 0x40u);  // quiet NaN
    }
    return static_cast<std::uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
};

namespace types {

/// A `bool` in memory, true for any byte but 0, as C flags and some Fortran compilers have it; such
/// a C++ `bool` would be undefined behaviour.
struct bool8 {
  std::uint8_t byte;

  TALLY_HOST_DEVICE constexpr operator bool() const { return byte != 0; }
};

template <class T>
using stored_t = std::conditional_t<std::is_same_v<T, bool>, bool8, T>;

}  // namespace types

/// A list of types.
template <class... T>
struct type_list {
  static constexpr std::size_t size = sizeof...(T);  ///< number of types
};
/// Concatenates lists.
template <class... T, class... U>
consteval type_list<T..., U...> operator+(type_list<T...>, type_list<U...>) {
  return {};
}

/// An element type as a value. Numbers are the C interface's and never change.
enum class type : std::uint8_t {
  boolean = 0,
  int8 = 1,
  uint8 = 2,
  int32 = 3,
  int64 = 4,
  float16 = 5,
  bfloat16 = 6,
  float32 = 7,
  float64 = 8,
  complex64 = 9,
  complex128 = 10,
};

namespace types {

template <class T, tally::type number_>
struct row {
  using element = T;
  static constexpr tally::type number = number_;
};

template <class... Row>
struct rows {
  using elements = type_list<typename Row::element...>;
  static constexpr std::array numbers{Row::number...};
};

/// The one list, real types first; everything else derives from it.
using listed = rows<row<bool, type::boolean>,                   //
                    row<std::int8_t, type::int8>,               //
                    row<std::uint8_t, type::uint8>,             //
                    row<std::int32_t, type::int32>,             //
                    row<std::int64_t, type::int64>,             //
                    row<float16, type::float16>,                //
                    row<bfloat16, type::bfloat16>,              //
                    row<float, type::float32>,                  //
                    row<double, type::float64>,                 //
                    row<std::complex<float>, type::complex64>,  //
                    row<std::complex<double>, type::complex128>>;

/// Names, in the same order. (Not in `row`: nvcc takes no class-type template arguments of
/// kernels.)
inline constexpr std::array<std::string_view, listed::elements::size> listed_names = {
    "bool",     "int8",    "uint8",   "int32",     "int64",     "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128"};
static_assert(!listed_names.back().empty(), "every listed type has a name");

}  // namespace types

/// All element types. Any byte of a `bool` but 0 is true; 0 or 1 is written.
using element_types = types::listed::elements;

/// Types of sums.
using accumulator_types =
    type_list<std::int64_t, float, double, std::complex<float>, std::complex<double>>;

/// Number of element types.
inline constexpr std::size_t type_count = element_types::size;

static_assert(
    [] {
      std::uint64_t seen = 0;
      for (const type number : types::listed::numbers)
        seen |= std::uint64_t{1} << static_cast<int>(number);
      return seen == (std::uint64_t{1} << type_count) - 1;
    }(),
    "the numbers of the listed types are 0, 1, ..., each once");

/// Whether `t` is an element type: values may come from outside.
constexpr bool is_listed(type t) { return static_cast<std::size_t>(t) < type_count; }

/// The element type for `T`: `T`, or one of the same layout. Specialise it for your own types.
template <class T>
struct element_of {
  using type = T;  ///< one of `element_types`
};
/// long long where std::int64_t is long.
template <std::signed_integral T>
  requires(sizeof(T) == 8 && !std::same_as<T, std::int64_t>)
struct element_of<T> {
  using type = std::int64_t;  ///< same layout
};
/// CUDA's.
template <>
struct element_of<::__half> {
  using type = float16;  ///< same layout
};
/// CUDA's.
template <>
struct element_of<::__nv_bfloat16> {
  using type = bfloat16;  ///< same layout
};
#if defined(__FLT16_MANT_DIG__) && (!defined(__GNUC__) || defined(__clang__) || __GNUC__ >= 13)
template <>
struct element_of<_Float16> {
  using type = float16;
};
#endif
template <class T>
struct element_of<Kokkos::complex<T>> {
  using type = std::complex<T>;
};
/// `element_of` as an alias.
template <class T>
using element_of_t = typename element_of<std::remove_cv_t<T>>::type;

namespace types {

template <class T, class... U>
consteval std::size_t index_in(type_list<U...>) {
  std::size_t index = 0;
  (void)((std::same_as<T, U> ? true : (++index, false)) || ...);
  return index;
}

template <class T>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::true_type {};

template <class T>
struct is_floating_point : std::bool_constant<!std::is_integral_v<T> && !is_complex<T>::value> {};

template <class T>
struct is_real : std::bool_constant<!is_complex<T>::value> {};

template <class T>
struct real {
  using type = T;
};
template <class T>
struct real<std::complex<T>> {
  using type = T;
};

/// std::complex without functions, which devices lack.
template <class R>
struct complex_number {
  R re, im;
};

template <template <class> class Property, class... T>
auto those_of(type_list<T...>)
    -> decltype((type_list<>{} + ... +
                 std::conditional_t<Property<T>::value, type_list<T>, type_list<>>{}));

template <class List, template <class> class Property>
using those = decltype(those_of<Property>(List{}));

/// Index in the list of element types, or `type_count`.
template <class T>
inline constexpr std::size_t position = index_in<element_of_t<T>>(element_types{});

}  // namespace types

/// An element type, or a type that stands for one.
template <class T>
concept element = types::position<T> < type_count;

/// Type value of `T`.
template <element T>
inline constexpr type type_of = types::listed::numbers[types::position<T>];

/// Whether `T` is a std::complex.
template <class T>
inline constexpr bool is_complex_v = types::is_complex<T>::value;

/// `T` if real, else its parts' type.
template <class T>
using real_t = typename types::real<T>::type;

using integer_types = types::those<element_types, std::is_integral>;                 ///< with bool
using floating_point_types = types::those<element_types, types::is_floating_point>;  ///< real
using real_types = types::those<element_types, types::is_real>;                      ///< with bool
using complex_types = types::those<element_types, types::is_complex>;  ///< std::complex
static_assert(std::same_as<decltype(real_types{} + complex_types{}), element_types>,
              "real types come before complex ones");

namespace types {

template <class... T>
TALLY_HOST_DEVICE constexpr bool has_number(type_list<T...>, tally::type t) {
  return (... || (t == type_of<T>));
}

template <class T, class C = std::complex<real_t<T>>>
consteval tally::type complex_of() {
  if constexpr (element<C>) {
    return type_of<C>;
  } else {
    return type_of<T>;
  }
}

/// A value that is no element type.
inline constexpr auto no_type = static_cast<tally::type>(255);

struct traits {
  std::uint8_t bytes = 0;
  std::uint8_t alignment = 1;
  tally::type part = no_type;
  tally::type complex = no_type;
};

/// Traits by type value, then of none. Names are separate: their addresses would slow short calls.
inline constexpr auto traits_by_number = []<class... T>(type_list<T...>) {
  std::array<traits, sizeof...(T) + 1> table;
  ((table[static_cast<std::size_t>(type_of<T>)] = {sizeof(T), alignof(T), type_of<real_t<T>>,
                                                   complex_of<T>()}),
   ...);
  return table;
}(element_types{});

inline constexpr auto names_by_number = [] {
  std::array<std::string_view, type_count + 1> table;
  table.back() = "no element type";
  for (std::size_t i = 0; i < type_count; ++i) {
    table[static_cast<std::size_t>(listed::numbers[i])] = listed_names[i];
  }
  return table;
}();

constexpr std::size_t row_of(tally::type t) {
  return is_listed(t) ? static_cast<std::size_t>(t) : type_count;
}

}  // namespace types

/// Whether `t` is in a list.
template <class List>
TALLY_HOST_DEVICE constexpr bool is_in(type t) {
  return types::has_number(List{}, t);
}
/// Whether `t` is an integer type or bool.
TALLY_HOST_DEVICE constexpr bool is_integer(type t) { return is_in<integer_types>(t); }
/// Whether `t` is a real floating-point type.
TALLY_HOST_DEVICE constexpr bool is_floating_point(type t) {
  return is_in<floating_point_types>(t);
}
/// Whether `t` is a real element type.
TALLY_HOST_DEVICE constexpr bool is_real(type t) { return is_in<real_types>(t); }
/// Whether `t` is complex.
TALLY_HOST_DEVICE constexpr bool is_complex(type t) { return is_in<complex_types>(t); }

/// Bytes per element, or 0.
constexpr std::size_t size_of(type t) noexcept {
  return types::traits_by_number[types::row_of(t)].bytes;
}

/// Alignment of an element in bytes, or 1.
constexpr std::size_t alignment_of(type t) noexcept {
  return types::traits_by_number[types::row_of(t)].alignment;
}

/// Type of a complex element's parts; a real type itself.
constexpr type part_of(type t) noexcept { return types::traits_by_number[types::row_of(t)].part; }

/// Complex type with parts of type `t`, or none.
constexpr type complex_of(type t) noexcept {
  return types::traits_by_number[types::row_of(t)].complex;
}

/// Name of a type, such as "float64", or "no element type".
constexpr std::string_view name(type t) noexcept {
  return types::names_by_number[types::row_of(t)];
}

namespace types {

template <class X, class Y>
consteval auto dot_rule() {
  using RX = real_t<X>;
  using RY = real_t<Y>;
  constexpr bool any_double = std::same_as<RX, double> || std::same_as<RY, double>;
  constexpr bool integers = std::integral<RX> && std::integral<RY>;
  using Real =
      std::conditional_t<any_double, double, std::conditional_t<integers, std::int64_t, float>>;
  if constexpr (is_complex_v<X> || is_complex_v<Y>) {
    return std::type_identity<std::complex<Real>>{};
  } else {
    return std::type_identity<Real>{};
  }
}

}  // namespace types

/// Accumulator and result of a dot product: `double` where `X` or `Y` is; `float` for other
/// floating-point types, alone or with integers or `bool`; otherwise `int64_t`; complex where
/// either is.
template <element X, element Y>
using dot_result_t = typename decltype(types::dot_rule<element_of_t<X>, element_of_t<Y>>())::type;

/// Widest accumulator on request: `double` or `complex<double>`.
template <element X, element Y>
using dot_widest_t =
    std::conditional_t<is_complex_v<dot_result_t<X, Y>>, std::complex<double>, double>;

/// An accumulator of the dot product of `X` and `Y`.
template <class A, class X, class Y>
concept dot_accumulator =
    element<X> && element<Y> &&
    (std::same_as<A, dot_result_t<X, Y>> || std::same_as<A, dot_widest_t<X, Y>>);

namespace types {

/// A float as a double, bitwise, unaffected by the caller's environment and compiler flags.
TALLY_HOST_DEVICE constexpr double widened(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  std::uint64_t magnitude = bits & 0x7fffffffu;
  std::uint64_t bias = 1023 - 127;  // offset of the exponent field
  if (magnitude >= 0x7f800000u) {   // infinity, NaN
    bias = 2047 - 255;
  } else if (magnitude == 0) {
    bias = 0;
  } else if (magnitude < 0x800000u) {  // subnormal: normalise
    const int shift = __builtin_clz(static_cast<unsigned>(magnitude)) - 8;
    magnitude <<= shift;
    bias -= static_cast<std::uint64_t>(shift);
  }
  return __builtin_bit_cast(double,
                            std::uint64_t{bits >> 31} << 63 | ((magnitude << 29) + (bias << 52)));
}
TALLY_HOST_DEVICE constexpr double widened(double value) { return value; }

}  // namespace types

constexpr float16::operator float() const {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero, subnormals: fraction*2^-24, exact
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, magnitude) | sign);
  }
  const std::uint32_t wide = exponent == 0x1fu ? 0xffu : exponent + (127 - 15);
  return __builtin_bit_cast(float, sign | (wide << 23) | (fraction << 13));
}

constexpr std::uint16_t float16::round(float value) {
  const auto word = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t sign = (word >> 16) & 0x8000u;
  const std::uint32_t magnitude = word & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN: quiet, upper payload bits
    return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // >= 65520
  if (magnitude < 0x38800000u) {  // below 2^-14: units of 2^-24
    if (magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);  // below 2^-25
    const std::uint32_t exponent = magnitude >> 23;
    const std::uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t shift = 126 - exponent;  // 14 to 24
    const std::uint32_t kept = significand >> shift;
    const std::uint32_t rest = significand & ((1u << shift) - 1);
    const std::uint32_t half = 1u << (shift - 1);
    return static_cast<std::uint16_t>(sign |
                                      (kept + (rest > half || (rest == half && (kept & 1u)))));
  }
  const std::uint32_t rebased = magnitude - ((127u - 15u) << 23);
  return static_cast<std::uint16_t>(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
}

}  // namespace tally
