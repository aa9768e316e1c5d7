// Calls of the element-wise functions: why arguments are not taken, and the way to the kernels.
#pragma once

#include <tally/detail/arguments.hpp>
#include <tally/detail/level_one.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/elementwise.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tally::detail {

/// Why a function doesn't give a Z for X, Y and W, with factors of types S.
template <elementwise what, class X, class Y, class W, class Z, class... S>
consteval wrong wrong_transform() {
  constexpr wrong why = first_wrong<wrong_vector<X>, wrong_vector<Y>, wrong_vector<W>,
                                    wrong_output<Z>, wrong_factor<S>...>;
  if constexpr (why == wrong::nothing) {
    constexpr type x = type_of<element_t<X>>, y = type_of<element_t<Y>>, w = type_of<element_t<W>>,
                   z = type_of<element_t<Z>>;
    constexpr domain inputs = description_of(what).inputs;
    constexpr type computation = computation_type(what, x, y, z, w);
    if (!takes(what, computation)) {
      return inputs == domain::real ? wrong::the_function_is_of_real_numbers
             : inputs == domain::floating_point
                 ? wrong::the_function_is_of_real_floating_point_numbers
                 : wrong::the_function_is_not_of_integers;
    }
    if (what == elementwise::where && !is_mask(x, computation)) {
      return wrong::a_mask_is_of_bool_or_integers;
    }
    return gives(what, x, y, z, w) && (... && multiplies(type_of<S>, computation))
               ? wrong::nothing
               : wrong::numbers_do_not_fit_into_the_output;
  } else {
    return why;
  }
}

/// z = what(x ...) by a kernel of level one, if the call is one of these; returns whether it ran.
template <class T, class Z, class... X>
bool run_short(const executor& where, elementwise what, const T (&factors)[3], Z& z,
               const X&... x) {
  const auto short_way = [&](const level_one<T>& kernels, std::size_t n, T* to, const auto*... in) {
    if (!(... && is_same_or_apart<T>(in, to, n))) return false;
    const T* const from[] = {in..., to};  // fill has none
    if (what == elementwise::copy) {
      std::memmove(to, from[0], n * sizeof(T));
    } else if constexpr (std::floating_point<T>) {
      kernels.transform[static_cast<std::size_t>(what)](factors[0], factors[1], factors[2], from[0],
                                                        from[sizeof...(in) > 1 ? 1 : 0],
                                                        from[sizeof...(in) > 2 ? 2 : 0], to, n);
    }
    return true;
  };
  return with_level_one<T>(where, short_way, z, x...);
}

/// Whether kernels of level one take a factor of type S.
template <elementwise what, class T, class S>
constexpr bool takes_short =
    what == elementwise::pow ? std::integral<S> && !std::same_as<S, bool>
                             : std::same_as<S, comparison> || std::same_as<S, T>;

/// Returns whether the factor is valid.
template <elementwise what, class T, class S>
bool read_factor(const S& factor, T& number) {
  if constexpr (std::same_as<S, T>) {
    number = factor;
    return true;
  } else {
    std::int64_t integer;
    if constexpr (std::same_as<S, comparison>) {
      integer = code_of(factor);
    } else {
      integer = static_cast<std::int64_t>(factor);
    }
    if (integer > max_exponent || integer < (what == elementwise::pow ? -max_exponent : 0)) {
      return false;
    }
    number = static_cast<T>(integer);
    return true;
  }
}

/// The same with typed factors; y and w count where the function has them.
template <elementwise what, class X, class Y, class W, class Z, class... S>
bool run_short(const executor& where, const X& x, const Y& y, const W& w, Z& z,
               const S&... factors) {
  using output = std::remove_const_t<Z>;
  using T = element_t<output>;
  constexpr bool is_function = what == elementwise::copy || std::floating_point<T>;
  if constexpr (is_function && contiguous<output> && (... && takes_short<what, T, S>)) {
    T numbers[3] = {};
    [[maybe_unused]] T* number = numbers;
    if (!(... && read_factor<what>(factors, *number++))) return false;
    if constexpr (inputs(what) == 0) {
      return run_short(where, what, numbers, z);
    } else if constexpr (inputs(what) == 1) {
      return run_short(where, what, numbers, z, x);
    } else if constexpr (inputs(what) == 2) {
      return run_short(where, what, numbers, z, x, y);
    } else {
      return run_short(where, what, numbers, z, x, y, w);
    }
  } else {
    return false;
  }
}

/// Place of an argument in a function's form.
constexpr std::size_t place_in(std::string_view form, char argument, std::size_t otherwise) {
  const std::size_t place = form.find(argument);
  return place == std::string_view::npos ? otherwise : place;
}
/// Place of factor i.
constexpr std::size_t factor_in(std::string_view form, std::size_t i) {
  std::size_t place = form.find('f');
  while (i-- > 0) place = form.find('f', place + 1);
  return place;
}

/// Calls of a function with its arguments in the order of its form.
template <elementwise what>
class elementwise_call : public call<> {
 public:
  template <class... A>
  static consteval wrong of() {
    std::size_t place = 0;
    if (sizeof...(A) != form.size() || (... || (form[place++] != 'f' && is_number<A>))) {
      return wrong::arguments_are_of_no_form_of_the_function;
    }
    if constexpr (sizeof...(A) == form.size()) {
      return wrong_of<std::tuple<A...>>(factor_indices());
    }
  }

  template <class... A>
  static void run(const executor& where, A&... arguments) {
    const auto all = std::tie(arguments...);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      const auto& x = std::get<x_place>(all);
      const auto& y = std::get<y_place>(all);
      const auto& w = std::get<w_place>(all);
      auto& z = std::get<z_place>(all);
      if (run_short<what>(where, x, y, w, z, std::get<factor_in(form, i)>(all)...)) return;
      const scalar factors[3] = {number(std::get<factor_in(form, i)>(all))...};
      constexpr int n = inputs(what);
      transform(where, {what, factors[0], factors[1], n > 0 ? as_operand(x) : operand(),
                        n > 1 ? as_operand(y) : operand(), as_output(z), factors[2],
                        n > 2 ? as_operand(w) : operand()});
    }(factor_indices());
  }

 private:
  static constexpr std::string_view form = description_of(what).form;
  using factor_indices = std::make_index_sequence<std::size_t(description_of(what).factors +
                                                              (what == elementwise::fill ? 1 : 0))>;

  static constexpr std::size_t z_place = form.size() - 1;
  static constexpr std::size_t x_place = place_in(form, 'x', z_place);
  static constexpr std::size_t y_place = place_in(form, 'y', is_binary(what) ? z_place : x_place);
  static constexpr std::size_t w_place = place_in(form, 'w', x_place);

  template <class A>
  static constexpr bool is_number = element<A> || std::same_as<std::remove_cv_t<A>, comparison>;
  template <class A>
  using factor_type =
      std::conditional_t<std::same_as<std::remove_cv_t<A>, comparison>, bool, std::remove_cv_t<A>>;

  static scalar number(comparison c) { return std::int32_t{code_of(c)}; }
  template <element S>
  static scalar number(const S& factor) {
    return factor;
  }

  template <class All, std::size_t... i>
  static consteval wrong wrong_of(std::index_sequence<i...>) {
    using Z = std::tuple_element_t<z_place, All>;
    if constexpr (what != elementwise::fill) {
      return wrong_transform<what, std::tuple_element_t<x_place, All>,
                             std::tuple_element_t<y_place, All>, std::tuple_element_t<w_place, All>,
                             Z, factor_type<std::tuple_element_t<factor_in(form, i), All>>...>();
    } else {
      using S = std::tuple_element_t<0, All>;
      if constexpr (!element<S>) {
        return wrong_factor<S>;
      } else {
        using values = strided_view<const S>;
        return wrong_transform<what, values, values, values, Z>();
      }
    }
  }
};

/// A function with an executor, or on `automatic()`.
template <elementwise what, class First, class... A>
void call_elementwise(First& first, A&... arguments) {
  if constexpr (is_placed<First>) {
    elementwise_call<what>::run(first, arguments...);
  } else {
    elementwise_call<what>::run(automatic(), first, arguments...);
  }
}

/// Why a function doesn't take these, with an executor or without.
template <elementwise what, class... A>
inline constexpr wrong wrong_elementwise = [] {
  if constexpr (has_vectors<A...>) {
    return wrong_call<elementwise_call<what>, A...>;
  } else {
    return wrong::nothing;  // exp(x) of a half is <cmath>'s
  }
}();
template <elementwise what, class... A>
concept computes = has_vectors<A...> && wrong_elementwise<what, A...> == wrong::nothing;

}  // namespace tally::detail
