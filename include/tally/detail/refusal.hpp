// One-line compile errors for arguments that are no operands: a catch-all overload's static_assert
// states what the first wrong argument should have been. Trap: `requires { tally::dot(x, y); }` is
// then an error, not false; test `vector_operand` and the other concepts instead.
#pragma once

#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/types.hpp>

#include <type_traits>

namespace tally::refusals {

template <class...>
inline constexpr bool never = false;

// Kinds of arguments. Deduced return types, here and below, put this error before others.

struct vector {
  template <class T>
  static constexpr bool is = vector_operand<T>;
  template <class T>
  static auto say() {
    static_assert(
        never<T>,
        "an operand is memory with data() and size() (std::vector, std::span, an array; of a "
        "pointer std::span(p, n)), a tally::strided(p, n, increment), a rank-1 Kokkos::View or "
        "std::mdspan, or a vector, map, row or column of Eigen's (of an expression its eval(), of "
        "a "
        "matrix its reshaped()), and its elements are bool (but not std::vector<bool>, which packs "
        "bits), "
        "std::int8_t, std::uint8_t, std::int32_t, std::int64_t, tally::float16, tally::bfloat16, "
        "float, double or std::complex of float or double");
  }
};

/// A vector that is written. Constness of the argument itself is not seen here.
struct output {
  template <class T>
  static constexpr bool is = vector_output<T&>;
  template <class T>
  static auto say() {
    if constexpr (vector_operand<T>) {
      static_assert(never<T>, "an operand that is written has elements that are not const");
    } else {
      vector::say<T>();
    }
  }
};

struct factor {
  template <class T>
  static constexpr bool is = element<T>;
  template <class T>
  static auto say() {
    static_assert(never<T>,
                  "a factor or value is a number of an element type: bool, std::int8_t, "
                  "std::uint8_t, std::int32_t, std::int64_t, tally::float16, tally::bfloat16, "
                  "float, double or std::complex of float or double");
  }
};

/// Kinds of a function's arguments, after an executor and before optional ones.
template <class... Kind>
struct arguments {};

template <class Arguments, class... T>
struct first_wrong {
  static constexpr bool exists = false;
};
template <class Kind, class T>
struct wrong {
  static constexpr bool exists = true;
  static auto say() {
    Kind::template say<T>();
    return 0.0;
  }
};
template <class Kind, class... Kinds, class T, class... Ts>
struct first_wrong<arguments<Kind, Kinds...>, T, Ts...>
    : std::conditional_t<Kind::template is<T>, first_wrong<arguments<Kinds...>, Ts...>,
                         wrong<Kind, T>> {};

/// The same after the executor. Silent about too few arguments.
template <class Arguments, class... T>
struct of_call;
template <class... Kind, class... T>
struct of_call<arguments<Kind...>, T...>
    : std::conditional_t<(sizeof...(T) >= sizeof...(Kind)), first_wrong<arguments<Kind...>, T...>,
                         first_wrong<arguments<>>> {};
template <class... Kind, class... T>
struct of_call<arguments<Kind...>, executor, T...> : of_call<arguments<Kind...>, T...> {};

template <class Arguments, class... T>
concept refused = of_call<Arguments, T...>::exists;

/// Fails to compile. Returns a number: its use is no second error.
template <class Arguments, class... T>
auto refuse() {
  return of_call<Arguments, T...>::say();
}

}  // namespace tally::refusals
