// transform: the caller's own element-wise function, z_i = f(x_i), f(x_i, y_i) or
// f(x_i, y_i, w_i).
//
// Promise: element i of z is f's value, converted by static_cast: equal bits wherever f has equal
// bits. A floating-point NaN (also in a complex part) is written as the positive quiet one with an
// empty payload, since processors differ.
//
// f is compiled with the caller's flags, without contraction across calls, and vectorised by the
// caller's compiler (GCC from -O3 on): `simd` runs f as `serial` does. Inside f, and on a GPU:
// <tally/user_functions/functions.hpp>.
#pragma once

#include <tally/detail/arguments.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/dot.hpp>
#include <tally/operations/elementwise.hpp>
#include <tally/user_functions/functions.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace tally {
namespace detail {

template <class Z, class F>
struct written_value {
  const F& f;

  template <class... T>
  Z operator()(const T&... elements) const {
    return canonical(static_cast<Z>(f(elements...)));
  }
};

template <class Z, class Values>
class map_on_host {
 public:
  map_on_host(const Values& values, const output_operand& z) : values_(values), z_(z) {}

  void run(const executor& where, const char* function, std::span<const operand> inputs) {
    for_each_part(where, function, inputs, z_, {.context = this, .run = run_part});
    thrown_.rethrow();
  }

 private:
  static void run_part(void* self, std::size_t, std::size_t first, std::size_t n) {
    auto& call = *static_cast<map_on_host*>(self);
    call.thrown_.from([&] { call.write(first, n); });
  }
  void write(std::size_t first, std::size_t n) const {
    auto* const z = static_cast<Z*>(z_.data);
    if (z_.increment == 1) return values_.fill(first, n, z + first);
    constexpr std::size_t some = 64;  // computed in blocks, to be vectorised
    Z row[some];
    for (std::size_t end = first + n; first < end; first += some) {
      const std::size_t count = end - first < some ? end - first : some;
      values_.fill(first, count, row);
      for (std::size_t i = 0; i < count; ++i) {
        z[static_cast<std::ptrdiff_t>(first + i) * z_.increment] = row[i];
      }
    }
  }

  const Values& values_;
  output_operand z_;
  first_exception thrown_;
};

}  // namespace detail
}  // namespace tally

#if TALLY_HAS_DEVICE_CODE
#include <tally/user_functions/transform_function.cuh>
#endif

namespace tally {
namespace detail {
inline namespace TALLY_CODE {

/// Why F doesn't map elements of V to those of Z.
template <class Z, class F, class... V>
consteval wrong wrong_map() {
  constexpr wrong why =
      first_wrong<wrong_vector<V>..., wrong_output<Z>,
                  unless(function<F>, wrong::a_function_is_a_function_or_a_function_object)>;
  if constexpr (why != wrong::nothing || only_on_device<F>) {
    return why;
  } else if constexpr (!returns<value_t<Z>, F, value_t<V>...>) {
    return wrong::the_function_takes_an_element_of_each_vector_and_returns_what_converts_to_z;
  } else {
    using value = std::invoke_result_t<const F&, const value_t<V>&...>;
    constexpr bool fits = !std::is_integral_v<value_t<Z>> || std::is_integral_v<value> ||
                          !std::is_convertible_v<value, double>;
    return unless(fits, wrong::the_function_returns_no_integers_but_z_is_of_integers);
  }
}

struct transform_call : call<void, transform_arguments> {
  template <class X, class Z, class F>
  static consteval wrong of() {
    return wrong_map<Z, std::decay_t<F>, X>();
  }
  template <class X, class Y, class Z, class F>
  static consteval wrong of() {
    return wrong_map<Z, std::decay_t<F>, X, Y>();
  }
  template <class X, class Y, class W, class Z, class F>
  static consteval wrong of() {
    return wrong_map<Z, std::decay_t<F>, X, Y, W>();
  }
};

template <class F, class Z, class... V>
void call_map(const executor& where, const F& f, Z& z, const V&... vectors) {
  static constexpr char name[] = "tally::transform";
  const output_operand output = as_output(z);
  const operand all[] = {as_operand(vectors)...};
#if TALLY_HAS_DEVICE_CODE || TALLY_HAS_KOKKOS_CODE
  const executor chosen =
      where.backend() != nullptr ? where : choose(as_operand(vectors)..., output);
#endif
#if TALLY_HAS_KOKKOS_CODE
  if constexpr (travels_by_kokkos<F>) {
    if (is_device_of_kokkos(chosen)) {
      return map_on_kokkos<F, value_t<Z>, value_t<V>...>(chosen, name, f, all, output);
    }
  }
#endif
#if TALLY_HAS_DEVICE_CODE
  if constexpr (travels<F>) {
    if (chosen.name() == "cuda") {
      return map_on_device<F, value_t<Z>, value_t<V>...>(f, all, output).run(chosen, name);
    }
  }
  if constexpr (only_on_device<F>) {
    refuse_on_host(name, chosen);
  } else
#endif
  {
    const written_value<value_t<Z>, F> map{f};
    const auto each = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return values<value_t<Z>, decltype(map), value_t<V>...>{
          map, {typed_vector<value_t<V>>(all[i])...}};
    }(std::index_sequence_for<V...>());
    map_on_host<value_t<Z>, std::remove_cv_t<decltype(each)>>(each, output).run(where, name, all);
  }
}

}  // namespace TALLY_CODE
}  // namespace detail

inline namespace TALLY_CODE {

/// z_i = f(x_i), i = 0 ... n-1. On a CPU the call returns when z is written; `cuda` doesn't block,
/// as `dot` into a result.
///
/// @param where  as for `transform_reduce`.
/// @param x      n elements of any element type (`vector_operand`).
/// @param z      n writable elements: x itself (same address and byte stride), or sharing none with
///               an input.
/// @param f      f(element), convertible to z's type; called as const, once per element, in any
///               order, concurrently. On `cuda` its bytes are copied: pointers in it must be valid
///               there.
/// @throws error as <tally/operations/transform.hpp>; invalid_argument if the executor can't run f.
///               Exceptions of f on the host reach the caller after all parts have ended; z is
///               then partly written.
template <class X, class Z, class F>
  requires detail::taken<detail::transform_call, X, Z, F>
void transform(const executor& where, const X& x, Z&& z, F f) {
  detail::call_map(where, f, z, x);
}

/// z_i = f(x_i, y_i), of any types. z may be x, y or both.
template <class X, class Y, class Z, class F>
  requires detail::taken<detail::transform_call, X, Y, Z, F>
void transform(const executor& where, const X& x, const Y& y, Z&& z, F f) {
  detail::call_map(where, f, z, x, y);
}

/// z_i = f(x_i, y_i, w_i), of any types. z may be any of the three.
template <class X, class Y, class W, class Z, class F>
  requires detail::taken<detail::transform_call, X, Y, W, Z, F>
void transform(const executor& where, const X& x, const Y& y, const W& w, Z&& z, F f) {
  detail::call_map(where, f, z, x, y, w);
}

/// The same on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::transform_call, T...>
void transform(T&&... arguments) {
  transform(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::transform_call, T...>>
  requires detail::refused<why, T...>
void transform(T&&...) = delete;  // [where,] x, [y, [w,]] z, f

}  // namespace TALLY_CODE
}  // namespace tally
