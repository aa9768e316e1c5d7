// Element types: the one list that instantiates, tests and benchmarks everything, and traits.
#pragma once

#include <tally/export.h>
#include <tally/cxx20.hpp>
#include <tally/operands/half.hpp>

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

// Types of other libraries with our layout; see `tally::element_of`.
struct __half;
struct __nv_bfloat16;
namespace Kokkos {
template <class T>
class complex;
}

/// Memory-bound kernels with the same bits on every backend: see docs/contract.md.
namespace tally {

namespace detail {

/// A `bool` in memory, true for any byte but 0, as C flags and some Fortran compilers have it; such
/// a C++ `bool` would be undefined behaviour.
struct bool8 {
  std::uint8_t byte;

  TALLY_HOST_DEVICE constexpr operator bool() const { return byte != 0; }
};

template <class T>
using stored_t = std::conditional_t<std::is_same_v<T, bool>, bool8, T>;

}  // namespace detail

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

namespace detail {

template <class T, tally::type number_>
struct type_row {
  using element = T;
  static constexpr tally::type number = number_;
};

template <class... Row>
struct type_rows {
  using elements = type_list<typename Row::element...>;
  static constexpr std::array numbers{Row::number...};
};

/// The one list, real types first; everything else derives from it.
using listed = type_rows<type_row<bool, type::boolean>,                   //
                         type_row<std::int8_t, type::int8>,               //
                         type_row<std::uint8_t, type::uint8>,             //
                         type_row<std::int32_t, type::int32>,             //
                         type_row<std::int64_t, type::int64>,             //
                         type_row<float16, type::float16>,                //
                         type_row<bfloat16, type::bfloat16>,              //
                         type_row<float, type::float32>,                  //
                         type_row<double, type::float64>,                 //
                         type_row<std::complex<float>, type::complex64>,  //
                         type_row<std::complex<double>, type::complex128>>;

/// Names, in the same order. (Not in `type_row`: nvcc takes no class-type template arguments of
/// kernels.)
inline constexpr std::array<std::string_view, listed::elements::size> listed_names = {
    "bool",     "int8",    "uint8",   "int32",     "int64",     "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128"};
static_assert(!listed_names.back().empty(), "every listed type has a name");

}  // namespace detail

/// All element types. Any byte of a `bool` but 0 is true; 0 or 1 is written.
using element_types = detail::listed::elements;

/// Types of sums.
using accumulator_types =
    type_list<std::int64_t, float, double, std::complex<float>, std::complex<double>>;
/// Types of the parts of sums.
using real_accumulator_types = type_list<std::int64_t, float, double>;

/// Number of element types.
inline constexpr std::size_t type_count = element_types::size;

static_assert(
    [] {
      std::uint64_t seen = 0;
      for (const type number : detail::listed::numbers)
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

namespace detail {

template <class T, class... U>
consteval std::size_t index_in(type_list<U...>) {
  std::size_t index = 0;
  (void)((std::same_as<T, U> ? true : (++index, false)) || ...);
  return index;
}

template <class T>
struct complex_element : std::false_type {};
template <class T>
struct complex_element<std::complex<T>> : std::true_type {};

template <class T>
struct float_element : std::bool_constant<!std::is_integral_v<T> && !complex_element<T>::value> {};

template <class T>
struct real_element : std::bool_constant<!complex_element<T>::value> {};

template <class T>
struct real_part {
  using type = T;
};
template <class T>
struct real_part<std::complex<T>> {
  using type = T;
};

/// std::complex without functions, which devices lack.
template <class R>
struct complex_number {
  R re, im;
};

template <template <class> class Property, class... T>
TALLY_HOST_DEVICE auto those_of(type_list<T...>)
    -> decltype((type_list<>{} + ... +
                 std::conditional_t<Property<T>::value, type_list<T>, type_list<>>{}));

template <class List, template <class> class Property>
using those = decltype(those_of<Property>(List{}));

/// Index in the list of element types, or `type_count`.
template <class T>
inline constexpr std::size_t position = index_in<element_of_t<T>>(element_types{});

}  // namespace detail

/// An element type, or a type that stands for one.
template <class T>
concept element = detail::position<T> < type_count;

/// Type value of `T`.
template <element T>
inline constexpr type type_of = detail::listed::numbers[detail::position<T>];

/// Whether `T` is a std::complex.
template <class T>
inline constexpr bool is_complex_v = detail::complex_element<T>::value;

/// `T` if real, else its parts' type.
template <class T>
using real_t = typename detail::real_part<T>::type;

using integer_types = detail::those<element_types, std::is_integral>;              ///< with bool
using floating_point_types = detail::those<element_types, detail::float_element>;  ///< real
using real_types = detail::those<element_types, detail::real_element>;             ///< with bool
using complex_types = detail::those<element_types, detail::complex_element>;       ///< std::complex
static_assert(std::same_as<decltype(real_types{} + complex_types{}), element_types>,
              "real types come before complex ones");

namespace detail {

template <class... T>
TALLY_HOST_DEVICE constexpr bool has_number(type_list<T...>, tally::type t) {
  return (... || (t == type_of<T>));
}

template <class T, class C = std::complex<real_t<T>>>
consteval tally::type complex_type_of() {
  if constexpr (element<C>) {
    return type_of<C>;
  } else {
    return type_of<T>;
  }
}

/// A value that is no element type.
inline constexpr auto no_type = static_cast<tally::type>(255);

struct element_traits {
  std::uint8_t bytes = 0;
  std::uint8_t alignment = 1;
  tally::type part = no_type;
  tally::type complex = no_type;
};

/// Traits by type value, then of none. Names are separate: their addresses would slow short calls.
inline constexpr auto traits_by_number = []<class... T>(type_list<T...>) {
  std::array<element_traits, sizeof...(T) + 1> table;
  ((table[static_cast<std::size_t>(type_of<T>)] = {sizeof(T), alignof(T), type_of<real_t<T>>,
                                                   complex_type_of<T>()}),
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

}  // namespace detail

/// Whether `t` is in a list.
template <class List>
TALLY_HOST_DEVICE constexpr bool is_in(type t) {
  return detail::has_number(List{}, t);
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
  return detail::traits_by_number[detail::row_of(t)].bytes;
}

/// Alignment of an element in bytes, or 1.
constexpr std::size_t alignment_of(type t) noexcept {
  return detail::traits_by_number[detail::row_of(t)].alignment;
}

/// Type of a complex element's parts; a real type itself.
constexpr type part_of(type t) noexcept { return detail::traits_by_number[detail::row_of(t)].part; }

/// Complex type with parts of type `t`, or none.
constexpr type complex_of(type t) noexcept {
  return detail::traits_by_number[detail::row_of(t)].complex;
}

/// Name of a type, such as "float64", or "no element type".
constexpr std::string_view name(type t) noexcept {
  return detail::names_by_number[detail::row_of(t)];
}

namespace detail {

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

}  // namespace detail

/// Accumulator and result of a dot product: `double` where `X` or `Y` is; `float` for other
/// floating-point types, alone or with integers or `bool`; otherwise `int64_t`; complex where
/// either is.
template <element X, element Y>
using dot_result_t = typename decltype(detail::dot_rule<element_of_t<X>, element_of_t<Y>>())::type;

/// Widest accumulator on request: `double` or `complex<double>`.
template <element X, element Y>
using dot_widest_t =
    std::conditional_t<is_complex_v<dot_result_t<X, Y>>, std::complex<double>, double>;

/// An accumulator of the dot product of `X` and `Y`.
template <class A, class X, class Y>
concept dot_accumulator =
    element<X> && element<Y> &&
    (std::same_as<A, dot_result_t<X, Y>> || std::same_as<A, dot_widest_t<X, Y>>);

namespace detail {

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

}  // namespace detail

}  // namespace tally
