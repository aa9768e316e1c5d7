// Element-wise functions with types erased: their names, factors, arguments and type rules.
#pragma once

#include <tally/export.h>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace tally {

/// Element-wise functions; `detail::descriptions` has a row for each.
enum class elementwise : std::uint8_t {
  fill,
  copy,
  scal,
  axpy,
  axpby,
  waxpby,
  add,
  sub,
  mul,
  axpbypcz,
  axypbz,
  relu,
  sigmoid,
  exp,
  // of one vector
  inv,
  abs,
  sqrt,
  log,
  tanh,
  sign,
  scale,
  add_constant,
  clamp,
  pow,
  compare_constant,
  // of two
  div,
  minimum,
  maximum,
  compare,
  // of three
  where,
  jacobi_step
};

/// x < y and so on, both converted to the computation's type: with a NaN only `not_equal` is true.
enum class comparison : std::uint8_t { less, less_equal, equal, not_equal, greater_equal, greater };

namespace detail {

/// The numbers that a function computes with; `field`: not integers.
enum class domain : std::uint8_t { all, real, floating_point, field };

struct description {
  std::string_view function;  ///< name in messages
  const char* output;         ///< its name
  int factors;
  domain inputs;
  /// The arguments in their order: x, y, w, inputs; f, a factor; z, written, also x or y if these
  /// are missing.
  std::string_view form;
  const char* names[3] = {"x", "y", "w"};  ///< of the inputs, in messages
  const char* factor_names[3] = {"alpha", "beta", "gamma"};
};
/// The functions, in the order of the enumerators.
inline constexpr description descriptions[] = {
    {"tally::fill", "z", 0, domain::all, "fz"},
    {"tally::copy", "y", 0, domain::all, "xz"},
    {"tally::scal", "x", 1, domain::all, "fz"},
    {"tally::axpy", "y", 1, domain::all, "fxz"},
    {"tally::axpby", "y", 2, domain::all, "fxfz"},
    {"tally::waxpby", "w", 2, domain::all, "fxfyz"},
    {"tally::add", "z", 0, domain::all, "xyz"},
    {"tally::sub", "z", 0, domain::all, "xyz"},
    {"tally::mul", "z", 0, domain::all, "xyz"},
    {"tally::axpbypcz", "z", 3, domain::all, "fxfyfz"},
    {"tally::axypbz", "z", 2, domain::all, "fxyfz"},
    {"tally::relu", "y", 0, domain::real, "xz"},
    {"tally::sigmoid", "y", 0, domain::floating_point, "xz"},
    {"tally::exp", "y", 0, domain::floating_point, "xz"},
    {"tally::inv", "z", 0, domain::field, "xz"},
    {"tally::abs", "z", 0, domain::all, "xz"},
    {"tally::sqrt", "z", 0, domain::floating_point, "xz"},
    {"tally::log", "z", 0, domain::floating_point, "xz"},
    {"tally::tanh", "z", 0, domain::floating_point, "xz"},
    {"tally::sign", "z", 0, domain::real, "xz"},
    {"tally::scale", "z", 1, domain::all, "fxz"},
    {"tally::add_constant", "z", 1, domain::all, "xfz", {"x"}, {"b"}},
    {"tally::clamp", "z", 2, domain::real, "xffz", {"x"}, {"low", "high"}},
    {"tally::pow", "z", 1, domain::all, "xfz", {"x"}, {"exponent"}},
    {"tally::compare", "z", 2, domain::real, "xffz", {"x"}, {"comparison", "y"}},
    {"tally::div", "z", 0, domain::field, "xyz"},
    {"tally::minimum", "z", 0, domain::real, "xyz"},
    {"tally::maximum", "z", 0, domain::real, "xyz"},
    {"tally::compare", "z", 1, domain::real, "xfyz", {"x", "y"}, {"comparison"}},
    {"tally::where", "z", 0, domain::all, "xywz", {"mask", "x", "y"}},
    {"tally::jacobi_step", "z", 1, domain::field, "xfywz", {"x", "y", "d"}},
};
inline constexpr std::size_t elementwise_count = std::size(descriptions);

constexpr const description& description_of(elementwise what) {
  return descriptions[static_cast<std::size_t>(what)];
}

}  // namespace detail

/// The last enumerator.
inline constexpr auto last_elementwise = static_cast<elementwise>(detail::elementwise_count - 1);

/// A factor, type erased. Made in the caller's environment, which might flush a subnormal: see
/// `detail::widened`.
struct scalar {
  type element = type::float64;      ///< original type
  std::int64_t integer = 0;          ///< value of an integer
  std::complex<double> number = {};  ///< value of any other type

  constexpr scalar() = default;
  /// A factor of any element type.
  template <tally::element T>
  constexpr scalar(const T& value) : element(type_of<T>) {
    if constexpr (is_complex_v<T>) {
      number = {detail::widened(value.real()), detail::widened(value.imag())};
    } else if constexpr (std::is_integral_v<T>) {
      integer = static_cast<std::int64_t>(value);
    } else if constexpr (std::is_same_v<T, double>) {
      number = value;
    } else {
      number = detail::widened(static_cast<float>(value));
    }
  }

  /// Returns the factor in the computation type, rounded by the environment that the library sets.
  template <class C>
  constexpr C as() const {
    using R = real_t<C>;
    if (is_integer(element)) return C(static_cast<R>(integer));
    if constexpr (is_complex_v<C>) {
      return C(static_cast<R>(number.real()), static_cast<R>(number.imag()));
    } else {
      return static_cast<C>(number.real());
    }
  }

  /// Whether the imaginary part is 0.
  constexpr bool is_real() const { return number.imag() == 0; }
  /// Whether the number is 0, unconverted.
  constexpr bool is_zero() const { return integer == 0 && number == 0.0; }
};

/// Arguments with types erased, checked at run time.
struct transform_arguments {
  elementwise what = elementwise::copy;  ///< the function
  scalar alpha;                          ///< factor of x; of fill, the value
  scalar beta;                           ///< factor of y; of axypbz, of z
  operand x;                             ///< first input, except for fill
  operand y;                             ///< second input, if any
  output_operand z;                      ///< output; axpbypcz and axypbz read it, too
  scalar gamma = {};                     ///< of axpbypcz, factor of z
  operand w = {};                        ///< third input, if any
};

/// The element-wise functions with types erased.
TALLY_EXPORT void transform(const executor& where, const transform_arguments& arguments);

/// `swap` with types erased.
TALLY_EXPORT void swap_elements(const executor& where, const output_operand& x,
                                const output_operand& y);

/// `choose` (<tally/operations/dot.hpp>) for three operands.
TALLY_EXPORT executor choose(const operand& x, const operand& y, const operand& z);
/// `choose` for four.
TALLY_EXPORT executor choose(const operand& x, const operand& y, const operand& w,
                             const operand& z);

namespace detail {

/// Whether there is a second input.
TALLY_HOST_DEVICE constexpr bool is_binary(elementwise what) {
  return (what >= elementwise::axpy && what <= elementwise::axypbz) || what >= elementwise::div;
}

/// Whether there is a third one, apart from the output.
TALLY_HOST_DEVICE constexpr bool is_ternary(elementwise what) { return what >= elementwise::where; }

TALLY_HOST_DEVICE constexpr bool reads_output(elementwise what) {
  return what == elementwise::axpbypcz || what == elementwise::axypbz;
}

/// Whether three elements are read, the output's or the third input's.
TALLY_HOST_DEVICE constexpr bool reads_three(elementwise what) {
  return reads_output(what) || is_ternary(what);
}

/// Whether the result for an integer depends on its sign; else it is that of its bits, unsigned.
TALLY_HOST_DEVICE constexpr bool depends_on_sign(elementwise what) {
  return what > elementwise::axypbz;
}

TALLY_HOST_DEVICE constexpr bool is_exponential(elementwise what) {
  return what == elementwise::sigmoid || what == elementwise::exp;
}

/// Whether the function is one of those that share kernels: a few operations an element.
TALLY_HOST_DEVICE constexpr bool is_short(elementwise what) { return what >= elementwise::inv; }

TALLY_HOST_DEVICE constexpr bool is_comparison(elementwise what) {
  return what == elementwise::compare || what == elementwise::compare_constant;
}

/// Number of a comparison as a factor: one bit for each of less, equal, greater and unordered; -1
/// of what is no enumerator.
constexpr int code_of(comparison c) {
  constexpr int codes[] = {1, 3, 2, 13, 6, 4};
  const auto place = static_cast<std::size_t>(c);
  return place < std::size(codes) ? codes[place] : -1;
}

/// Largest magnitude of an exponent of pow: more binary digits would not survive as a float.
inline constexpr std::int64_t max_exponent = std::int64_t{1} << 24;

constexpr int factors(elementwise what) { return description_of(what).factors; }
constexpr int inputs(elementwise what) {
  return what == elementwise::fill ? 0 : is_ternary(what) ? 3 : is_binary(what) ? 2 : 1;
}

/// Whether the function computes in `computation`.
constexpr bool takes(elementwise what, type computation) {
  const domain d = description_of(what).inputs;
  const bool no_integer = d == domain::floating_point || d == domain::field;
  const bool real = d == domain::real || d == domain::floating_point;
  return !(no_integer && is_integer(computation)) && !(real && is_complex(computation));
}

/// Computation type. One input: y is x; fill: x is the value's type; z counts where read, w where
/// there is one. A mask, x of `where`, doesn't count.
constexpr type computation_type(elementwise what, type x, type y, type z = type::boolean,
                                type w = type::boolean) {
  if (!reads_output(what)) z = is_ternary(what) ? w : type::boolean;
  if (what == elementwise::where) x = type::boolean;
  const auto either = [&](type t) { return x == t || y == t || z == t; };
  const bool wide = either(type::float64) || either(type::complex128);
  if (is_complex(x) || is_complex(y) || is_complex(z)) {
    return wide ? type::complex128 : type::complex64;
  }
  if (wide) return type::float64;
  if (is_integer(x) && is_integer(y) && is_integer(z)) return type::int64;
  return is_exponential(what) && x != type::float32 ? type::float64 : type::float32;
}

/// Whether a mask of this type keeps its zeros, and nothing else, when the computation converts it.
constexpr bool is_mask(type mask, type computation) {
  return is_integer(mask) || (!is_complex(mask) && !is_integer(computation) &&
                              (mask != type::float64 || computation == type::float64 ||
                               computation == type::complex128));
}

/// Whether a result computed in `c` can be written as `z`.
constexpr bool writes(elementwise what, type x, type c, type z) {
  if (is_comparison(what)) return !is_complex(z);
  if (z == type::boolean) return what <= elementwise::copy && x == z;
  if (what == elementwise::abs) c = part_of(c);
  return is_complex(z) || (!is_complex(c) && (!is_integer(z) || is_integer(c)));
}

/// Whether the result for x, y and w can be written as `z`.
constexpr bool gives(elementwise what, type x, type y, type z, type w = type::boolean) {
  return writes(what, x, computation_type(what, x, y, z, w), z);
}

constexpr bool multiplies(type s, type c) {
  return is_integer(s) || (!is_integer(c) && (is_complex(c) || !is_complex(s)));
}

}  // namespace detail
}  // namespace tally
