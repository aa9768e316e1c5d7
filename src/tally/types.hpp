// The element types: the one list that instantiates, tests and benchmarks everything, and what is
// known of a type, as types and as data.
#pragma once

#include <tally/export.h>
#include <tally/cxx20.hpp>

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

// Types of other libraries with the layout of ours; see `tally::element_of`.
struct __half;
struct __nv_bfloat16;
namespace Kokkos {
template <class T>
class complex;
}

/// Memory-bound kernels with the same bits on every backend: see README.md and docs/contract.md.
namespace tally {

/// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits. Storage only; arithmetic is done in
/// `float`, to which the conversion is exact. Has the layout of `_Float16` and CUDA's `__half`.
struct float16 {
  std::uint16_t bits = 0;  ///< the number as it lies in memory

  float16() = default;
  /// Rounds to nearest, ties to even; overflows to infinity; a NaN stays a NaN.
  TALLY_HOST_DEVICE explicit constexpr float16(float value) : bits(round(value)) {}
  /// The same number.
  TALLY_HOST_DEVICE constexpr operator float() const;

 private:
  TALLY_HOST_DEVICE static constexpr std::uint16_t round(float value);
};

/// bfloat16: the upper half of a `float`. Storage only; the conversion to `float` is exact. Has the
/// layout of CUDA's `__nv_bfloat16`.
struct bfloat16 {
  std::uint16_t bits = 0;  ///< the number as it lies in memory

  bfloat16() = default;
  /// Rounds to nearest, ties to even; overflows to infinity; a NaN stays a NaN.
  TALLY_HOST_DEVICE explicit constexpr bfloat16(float value) : bits(round(value)) {}
  /// The same number.
  TALLY_HOST_DEVICE constexpr operator float() const {
    return __builtin_bit_cast(float, std::uint32_t{bits} << 16);
  }

 private:
  TALLY_HOST_DEVICE static constexpr std::uint16_t round(float value) {
    const auto word = __builtin_bit_cast(std::uint32_t, value);
    if ((word & 0x7fffffffu) > 0x7f800000u) {
      return static_cast<std::uint16_t>((word >> 16) | 0x40u);  // keep it a NaN, make it quiet
    }
    return static_cast<std::uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
};

namespace types {

/// A `bool` as it lies in memory, where any byte but 0 is true: C's flags and some Fortran
/// compilers' `.true.` are not 1. To read such a byte as a C++ `bool` is undefined behaviour, so
/// elements are read as these.
struct bool8 {
  std::uint8_t byte;

  TALLY_HOST_DEVICE constexpr operator bool() const { return byte != 0; }
};

/// What an element in memory is read as.
template <class T>
using stored_t = std::conditional_t<std::is_same_v<T, bool>, bool8, T>;

}  // namespace types

/// Types as one type.
template <class... T>
struct type_list {
  static constexpr std::size_t size = sizeof...(T);  ///< how many there are
};
/// Returns the types of both lists, in their order.
template <class... T, class... U>
consteval type_list<T..., U...> operator+(type_list<T...>, type_list<U...>) {
  return {};
}

/// An element type as a value. The C interface has the same numbers, so none ever changes: a new
/// type takes the next one.
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

/// Is an element type with its number.
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

/// This is the one list; real types come before complex ones. Tables, predicates and the lists
/// below are made of it, and what can't be made of it doesn't compile.
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

/// These are their names in messages and tables, in the same order. (A name can't be an argument of
/// `row`: nvcc takes no value of a class in the arguments of a kernel's template.)
inline constexpr std::array<std::string_view, listed::elements::size> listed_names = {
    "bool",     "int8",    "uint8",   "int32",     "int64",     "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128"};
static_assert(!listed_names.back().empty(), "every listed type has a name");

}  // namespace types

/// These are all element types. Any byte of a `bool` but 0 is true, and what is written is 0 or 1.
using element_types = types::listed::elements;

/// The types that sums are accumulated in and returned as.
using accumulator_types =
    type_list<std::int64_t, float, double, std::complex<float>, std::complex<double>>;

/// How many element types there are.
inline constexpr std::size_t type_count = element_types::size;

static_assert(
    [] {
      std::uint64_t seen = 0;
      for (const type number : types::listed::numbers)
        seen |= std::uint64_t{1} << static_cast<int>(number);
      return seen == (std::uint64_t{1} << type_count) - 1;
    }(),
    "the numbers of the listed types are 0, 1, ..., each once");

/// Says whether `t` is the number of an element type: values of `type` may come from outside.
constexpr bool is_listed(type t) { return static_cast<std::size_t>(t) < type_count; }

/// The element type that stands for `T`: `T` itself, or the one with the same layout. Specialise
/// it for a type of your own that has the layout of one of `element_types`.
template <class T>
struct element_of {
  using type = T;  ///< one of `element_types`
};
/// The other integer type of 64 bits: long long where std::int64_t is long.
template <std::signed_integral T>
  requires(sizeof(T) == 8 && !std::same_as<T, std::int64_t>)
struct element_of<T> {
  using type = std::int64_t;  ///< of the same layout
};
/// CUDA's type.
template <>
struct element_of<::__half> {
  using type = float16;  ///< of the same layout
};
/// CUDA's type.
template <>
struct element_of<::__nv_bfloat16> {
  using type = bfloat16;  ///< of the same layout
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
/// `element_of` as a type.
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

/// Is a complex number as its parts, with the layout of std::complex, which has no functions on
/// devices.
template <class R>
struct complex_number {
  R re, im;
};

template <template <class> class Property, class... T>
auto those_of(type_list<T...>)
    -> decltype((type_list<>{} + ... +
                 std::conditional_t<Property<T>::value, type_list<T>, type_list<>>{}));

/// Is the list of those types of `List` that have a property, in its order.
template <class List, template <class> class Property>
using those = decltype(those_of<Property>(List{}));

/// Is the place of an element type in the list; of any other type it is `type_count`.
template <class T>
inline constexpr std::size_t position = index_in<element_of_t<T>>(element_types{});

}  // namespace types

/// `T` is one of `element_types`, or stands for one.
template <class T>
concept element = types::position<T> < type_count;

/// The value of `tally::type` that stands for `T`.
template <element T>
inline constexpr type type_of = types::listed::numbers[types::position<T>];

/// Whether `T` is a std::complex.
template <class T>
inline constexpr bool is_complex_v = types::is_complex<T>::value;

/// `T` for a real type, the type of its parts for a complex one.
template <class T>
using real_t = typename types::real<T>::type;

using integer_types = types::those<element_types, std::is_integral>;                 ///< and bool
using floating_point_types = types::those<element_types, types::is_floating_point>;  ///< real ones
using real_types = types::those<element_types, types::is_real>;        ///< bool among them
using complex_types = types::those<element_types, types::is_complex>;  ///< std::complex of these
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

/// A number that no element type has.
inline constexpr auto no_type = static_cast<tally::type>(255);

/// What there is to know of an element type, as data; by default, of a number that is none.
struct traits {
  std::uint8_t bytes = 0;
  std::uint8_t alignment = 1;
  tally::type part = no_type;
  tally::type complex = no_type;
};

/// By number, those of no type behind the last; apart from the names, whose addresses would make
/// short calls slower.
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

/// Where a type is in these tables.
constexpr std::size_t row_of(tally::type t) {
  return is_listed(t) ? static_cast<std::size_t>(t) : type_count;
}

}  // namespace types

/// Says whether `t` is one of the types of a list. A value that is no element type is in none.
template <class List>
TALLY_HOST_DEVICE constexpr bool is_in(type t) {
  return types::has_number(List{}, t);
}
/// Says whether `t` is an integer type or bool.
TALLY_HOST_DEVICE constexpr bool is_integer(type t) { return is_in<integer_types>(t); }
/// Says whether `t` is a real floating-point type.
TALLY_HOST_DEVICE constexpr bool is_floating_point(type t) {
  return is_in<floating_point_types>(t);
}
/// Says whether `t` is a listed type that is not complex.
TALLY_HOST_DEVICE constexpr bool is_real(type t) { return is_in<real_types>(t); }
/// Says whether `t` is a complex type.
TALLY_HOST_DEVICE constexpr bool is_complex(type t) { return is_in<complex_types>(t); }

/// Returns the size of one element in bytes; 0 of a number that is no element type.
constexpr std::size_t size_of(type t) noexcept {
  return types::traits_by_number[types::row_of(t)].bytes;
}

/// Returns what the address of an element is a multiple of, in bytes; 1 of no element type.
constexpr std::size_t alignment_of(type t) noexcept {
  return types::traits_by_number[types::row_of(t)].alignment;
}

/// Returns the type of a complex element's parts, and a real type itself; of no element type none.
constexpr type part_of(type t) noexcept { return types::traits_by_number[types::row_of(t)].part; }

/// Returns the complex type whose parts have the real type of `t`, which is float32 or float64; of
/// no element type none.
constexpr type complex_of(type t) noexcept {
  return types::traits_by_number[types::row_of(t)].complex;
}

/// Returns the name of a type in messages and tables: "float64"; "no element type".
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

/// What the dot product of `X` and `Y` accumulates in and returns: `double` where either is;
/// `float` for other floating-point types, alone or with integers or `bool`; `int64_t` for integers
/// and `bool`; the complex of that rule where either is complex.
template <element X, element Y>
using dot_result_t = typename decltype(types::dot_rule<element_of_t<X>, element_of_t<Y>>())::type;

/// The widest accumulator that a caller may ask for instead: `double`, or `complex<double>`.
template <element X, element Y>
using dot_widest_t =
    std::conditional_t<is_complex_v<dot_result_t<X, Y>>, std::complex<double>, double>;

/// `A` can accumulate the dot product of `X` and `Y`.
template <class A, class X, class Y>
concept dot_accumulator =
    element<X> && element<Y> &&
    (std::same_as<A, dot_result_t<X, Y>> || std::same_as<A, dot_widest_t<X, Y>>);

namespace types {

/// A float as a double, by its bits: in the caller's code, where neither flushed subnormals nor
/// traps nor the compiler's flags may reach it.
TALLY_HOST_DEVICE constexpr double widened(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  std::uint64_t magnitude = bits & 0x7fffffffu;
  std::uint64_t bias = 1023 - 127;  // what the exponent's field grows by
  if (magnitude >= 0x7f800000u) {   // infinity, NaN: from all ones to all ones
    bias = 2047 - 255;
  } else if (magnitude == 0) {
    bias = 0;
  } else if (magnitude < 0x800000u) {  // subnormal: its first 1 becomes the field's
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
  if (exponent == 0) {  // zero and subnormals: fraction * 2^-24, exact in float
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
  if (magnitude > 0x7f800000u) {  // NaN: quiet, with the payload's upper bits
    return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // >= 65520
  if (magnitude < 0x38800000u) {  // below 2^-14: the result counts units of 2^-24
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
