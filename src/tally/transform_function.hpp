// transform: an element-wise function of the caller's own, z_i = f(x_i) or f(x_i, y_i).
//
// Promise: element i of z is f's value, converted to z's type as static_cast does it, on every
// executor: its bits depend on f and its elements alone. So where f gives the same bits on two
// machines so does the call. A floating-point NaN (or the NaN of a complex element's part) is
// written as the positive quiet NaN with an empty payload, since processors make different ones.
//
// What the caller's compiler may do inside f, and how f runs on a GPU, stands in
// <tally/functions.hpp>; nothing is contracted across calls of f. On the CPU f is compiled with the
// caller's flags, and for vectors by the caller's compiler where those let it (GCC from -O3 on):
// `simd` runs it as `serial` does.
#pragma once

#include <tally/dot.hpp>
#include <tally/executor.hpp>
#include <tally/functions.hpp>
#include <tally/operand.hpp>
#include <tally/refusal.hpp>
#include <tally/transform.hpp>
#include <tally/types.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace tally {
namespace maps {

using functions::value_t;

/// f can be called, and its value converted.
template <class Z, class F, class... T>
concept callable = requires(const F& f, const T&... elements) { static_cast<Z>(f(elements...)); };

/// f's value as it is written.
template <class Z, class F>
struct written_value {
  const F& f;

  template <class... T>
  Z operator()(const T&... elements) const {
    return functions::canonical(static_cast<Z>(f(elements...)));
  }
};

/// One call on the host.
template <class Z, class Values>
class on_host {
 public:
  on_host(const Values& values, const output_operand& z) : values_(values), z_(z) {}

  void run(const executor& where, const char* function, const operand& x, const operand* y) {
    for_each_part(where, function, x, y, z_, {.context = this, .run = run_part});
    thrown_.rethrow();
  }

 private:
  static void run_part(void* self, std::size_t, std::size_t first, std::size_t n) {
    auto& call = *static_cast<on_host*>(self);
    call.thrown_.from([&] { call.write(first, n); });
  }
  void write(std::size_t first, std::size_t n) const {
    auto* const z = static_cast<Z*>(z_.data);
    if (z_.increment == 1) return values_.fill(first, n, z + first);
    constexpr std::size_t some = 64;  // so that values are computed as vectors still
    Z row[some];
    for (std::size_t end = first + n; first < end; first += some) {
      const std::size_t count = (std::min)(some, end - first);
      values_.fill(first, count, row);
      for (std::size_t i = 0; i < count; ++i) {
        z[static_cast<std::ptrdiff_t>(first + i) * z_.increment] = row[i];
      }
    }
  }

  const Values& values_;
  output_operand z_;
  functions::first_exception thrown_;
};

}  // namespace maps
}  // namespace tally

#if TALLY_HAS_DEVICE_CODE
#include <tally/transform_function.cuh>
#endif

namespace tally {
namespace maps {
inline namespace TALLY_CODE {

template <class F, class Z, class... V>
void call(const executor& where, const F& f, Z& z, const V&... vectors) {
  static constexpr char name[] = "tally::transform";
  const output_operand output = as_output(z);
  const operand all[] = {as_operand(vectors)...};
  const operand* const y = sizeof...(V) > 1 ? all + 1 : nullptr;
#if TALLY_HAS_DEVICE_CODE
  const executor chosen =
      where.backend() != nullptr ? where : choose(as_operand(vectors)..., output);
  if constexpr (functions::travels<F>) {
    if (chosen.name() == "cuda") {
      return on_device<F, value_t<Z>, value_t<V>...>(f).run(chosen, name, all[0], y, output);
    }
  }
  if constexpr (functions::only_on_device<F>) {
    functions::refuse_on_host(name, chosen);
  } else
#endif
      if constexpr (!callable<value_t<Z>, F, value_t<V>...>) {
    static_assert(callable<value_t<Z>, F, value_t<V>...>,
                  "transform's function takes an element of x, or one of x and one of y, is "
                  "called as const, and returns what can be converted to z's type");
  } else {
    const written_value<value_t<Z>, F> map{f};
    const auto each = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return functions::values<value_t<Z>, decltype(map), value_t<V>...>{
          map, {functions::vector<value_t<V>>(all[i])...}};
    }(std::index_sequence_for<V...>());
    on_host<value_t<Z>, std::remove_cv_t<decltype(each)>>(each, output).run(where, name, all[0], y);
  }
}

}  // namespace TALLY_CODE
}  // namespace maps

inline namespace TALLY_CODE {

/// z_i = f(x_i), i = 0 ... n-1.
///
/// @param where  the executor. On `kokkos` where its execution space is the host's: threads are
/// OpenMP's
///               or none; on `cuda` in sources compiled by nvcc.
/// @param x      a vector of n elements of any of the element types: a contiguous range, a
///               `tally::strided`, or a rank-1 `Kokkos::View`.
/// @param z      one of n elements of any of them that can be written. It may be x itself: the same
///               address, and as many bytes from one element to the next; otherwise it shares no
///               element with an input.
/// @param f      f(element), whose value can be converted to z's type. It is called as const, once
///               an element, in any order, from several threads at once. On `cuda` its bytes are
///               copied, so what it points at must be in memory that the device reaches.
///
/// On a CPU the call returns when z is written. On `cuda` it returns once the work is queued on the
/// executor's stream, and may be captured in a graph.
///
/// @throws error as the built-in functions (<tally/transform.hpp>), before anything is written; and
///               invalid_argument where the executor can't run f. What f throws on the host goes to
///               the caller, once no part runs any more: some elements of z are written then, and
///               others not.
template <vector_operand X, vector_output Z, functions::function F>
void transform(const executor& where, const X& x, Z&& z, F f) {
  maps::call(where, f, z, x);
}

/// z_i = f(x_i, y_i), x, y and z of equal length, in any types. z may be x or y or both.
template <vector_operand X, vector_operand Y, vector_output Z, functions::function F>
void transform(const executor& where, const X& x, const Y& y, Z&& z, F f) {
  maps::call(where, f, z, x, y);
}

/// As above, on `automatic()`.
template <vector_operand X, vector_output Z, functions::function F>
void transform(const X& x, Z&& z, F f) {
  maps::call(automatic(), f, z, x);
}

/// As above, on `automatic()`.
template <vector_operand X, vector_operand Y, vector_output Z, functions::function F>
void transform(const X& x, const Y& y, Z&& z, F f) {
  maps::call(automatic(), f, z, x, y);
}

}  // namespace TALLY_CODE
// --- What is no operand ---------------------------------------------------------------------------

namespace maps {

using for_transform = refusals::arguments<refusals::vector, refusals::vector>;

}  // namespace maps

/// Says what is no operand.
template <class... T>
  requires refusals::refused<maps::for_transform, T...>
auto transform(const T&...) {
  return refusals::refuse<maps::for_transform, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto transform(...) {
  static_assert(refusals::never<T...>,
                "transform(x, z, f) or transform(x, y, z, f) may begin with an executor; f is a "
                "function or a function object, and z is not const");
  return 0.0;
}

}  // namespace tally
