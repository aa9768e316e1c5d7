// transform_reduce: the caller's own sum, r = reduce of map(x_i), map(x_i, y_i) or
// map(x_i, y_i, w_i).
//
// Promise: the order of <tally/numerics/order.hpp>, with `identity` for +0 and `reduce` for
// addition: a lane starts at `identity` and takes its terms in turn, all 64 lanes fold, chunks
// combine as a tree. The result has equal bits wherever `map` and `reduce` do. For example:
//
//   tally::transform_reduce(x, y, 0.0, std::plus<>(), std::multiplies<>()) == tally::dot(x, y)
//
// Terms are not contracted with additions, and -ffast-math reorders nothing across calls. Inside a
// function, and on a GPU: <tally/user_functions/functions.hpp>.
#pragma once

#include <tally/detail/arguments.hpp>
#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/numerics/order.hpp>
#include <tally/numerics/order_tree.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/result.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/dot.hpp>
#include <tally/operations/reduce.hpp>
#include <tally/user_functions/functions.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally {
namespace detail {

template <class R, class Reduce, class Terms>
class reduce_on_host {
 public:
  reduce_on_host(const R& identity, const Reduce& reduce, const Terms& terms)
      : result_(identity), identity_(identity), combine_{reduce}, terms_(terms) {}

  R run(const executor& where, const char* function, std::span<const operand> inputs,
        const void* result) {
    for_each_part(where, function, inputs, result, {this, run_part, prepare, finish});
    thrown_.rethrow();
    return canonical(result_);
  }

 private:
  struct combination {
    const Reduce& reduce;
    R operator()(const R& a, const R& b) const { return static_cast<R>(reduce(a, b)); }
  };
  using tree = order::tree<R, combination>;
  struct node {  // bool in a std::vector would share bytes
    R sum;
  };

  R sum_chunk(std::size_t first, std::size_t n) const {
    R lane[order::lanes], row[order::lanes];
    for (R& each : lane) each = identity_;
    for (std::size_t i = 0; i < n; i += order::lanes) {
      const std::size_t count = n - i < order::lanes ? n - i : order::lanes;
      // A separate loop with constant end: all terms are in memory before additions.
      if (count == order::lanes) {
        terms_.fill(first + i, order::lanes, row);
        keep(row);
        for (std::size_t l = 0; l < order::lanes; ++l) lane[l] = combine_(lane[l], row[l]);
      } else {
        terms_.fill(first + i, count, row);
        keep(row);
        for (std::size_t l = 0; l < count; ++l) lane[l] = combine_(lane[l], row[l]);
      }
      keep(lane);
    }
    for (std::size_t half = order::lanes / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) lane[l] = combine_(lane[l], lane[l + half]);
      keep(lane);
    }
    return lane[0];
  }

  static void prepare(void* self, std::size_t parts) {
    auto& call = *static_cast<reduce_on_host*>(self);
    call.parts_.assign(parts, {call.identity_});
  }
  static void run_part(void* self, std::size_t part, std::size_t first, std::size_t n) {
    auto& call = *static_cast<reduce_on_host*>(self);
    call.thrown_.from([&] {
      tree chunks(call.combine_);
      for (std::size_t i = 0; i < n; i += order::chunk) {
        R sum = call.sum_chunk(first + i, n - i < order::chunk ? n - i : order::chunk);
        keep(&sum);
        chunks.add(sum);
      }
      call.parts_[part].sum = chunks.total();
    });
  }
  static void finish(void* self) {
    auto& call = *static_cast<reduce_on_host*>(self);
    if (call.parts_.empty() || call.thrown_) return;
    call.thrown_.from([&] {
      tree parts(call.combine_);
      for (node& each : call.parts_) {
        keep(&each);
        parts.add(each.sum);
      }
      call.result_ = parts.total();
    });
  }

  R result_, identity_;
  combination combine_;
  const Terms& terms_;
  std::vector<node> parts_;
  first_exception thrown_;
};

/// Destination of one result, not null.
template <class P>
result_value_t<P>* required_result(P& result) {
  auto* const r = first_result("tally::transform_reduce", result);
  if (r == nullptr) throw error(errc::null_pointer, "tally::transform_reduce: result is null");
  return r;
}

}  // namespace detail
}  // namespace tally

#if TALLY_HAS_DEVICE_CODE
#include <tally/user_functions/transform_reduce.cuh>
#endif

namespace tally {
namespace detail {
inline namespace TALLY_CODE {

/// `result` null: the value is returned.
template <class R, class Reduce, class Map, class... V>
R run_reduce(const executor& where, const R& identity, const Reduce& reduce, const Map& map,
             R* result, const V&... vectors) {
  static constexpr char name[] = "tally::transform_reduce";
  const operand all[] = {as_operand(vectors)...};
#if TALLY_HAS_DEVICE_CODE || TALLY_HAS_KOKKOS_CODE
  const executor chosen = where.backend() != nullptr ? where : choose(as_operand(vectors)...);
#endif
#if TALLY_HAS_KOKKOS_CODE
  if constexpr (reduces_by_kokkos<R, Reduce, Map>) {
    if (is_device_of_kokkos(chosen)) {
      return reduce_on_kokkos<R, Reduce, Map, value_t<V>...>(chosen, name, identity, reduce, map,
                                                             all, result);
    }
  }
#endif
#if TALLY_HAS_DEVICE_CODE
  if constexpr (runs_on_device<R, Reduce, Map>) {
    if (chosen.name() == "cuda") {
      return reduce_on_device<R, Reduce, Map, value_t<V>...>(identity, reduce, map, all)
          .run(chosen, name, result);
    }
  }
  if constexpr (only_on_device<Reduce> || only_on_device<Map>) {
    refuse_on_host(name, chosen);
  } else
#endif
  {
    const auto each = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return values<R, Map, value_t<V>...>{map, {typed_vector<value_t<V>>(all[i])...}};
    }(std::index_sequence_for<V...>());
    const R r = reduce_on_host<R, Reduce, std::remove_cv_t<decltype(each)>>(identity, reduce, each)
                    .run(where, name, all, result);
    if (result != nullptr) *result = r;
    return r;
  }
}

/// Why values of R aren't reduced.
template <class R, class Reduce, class Map, class... V>
consteval wrong wrong_reduction() {
  if constexpr (only_on_device<Reduce> || only_on_device<Map>) {
    return wrong::nothing;
  } else if constexpr (!returns<R, Map, value_t<V>...>) {
    return wrong::map_takes_an_element_of_each_vector_and_returns_what_converts_to_identitys_type;
  } else {
    return unless(returns<R, Reduce, R, R>, wrong::reduce_takes_two_values_of_identitys_type);
  }
}

/// Types of a call, identity R among them.
template <class R, class Reduce, class Map, class... V>
struct reduce_types {
  static constexpr wrong operands =
      first_wrong<unless(std::semiregular<R>&& function<Map> && !result_place<Map>,
                         wrong::arguments_are_of_no_form_of_the_function),
                  wrong_vector<V>...,
                  unless(function<Reduce>, wrong::a_function_is_a_function_or_a_function_object)>;
  template <class Result>
  static consteval wrong in() {
    return wrong_reduction<Result, Reduce, Map, V...>();
  }
  using identity = R;
};
template <class... A>
struct reduce_types_of {};
template <class X, class R, class Reduce, class Map>
struct reduce_types_of<X, R, Reduce, Map> {
  using type = reduce_types<std::decay_t<R>, std::decay_t<Reduce>, std::decay_t<Map>, X>;
};
template <class X, class Y, class R, class Reduce, class Map>
struct reduce_types_of<X, Y, R, Reduce, Map> {
  using type = reduce_types<std::decay_t<R>, std::decay_t<Reduce>, std::decay_t<Map>, X, Y>;
};
template <class X, class Y, class W, class R, class Reduce, class Map>
struct reduce_types_of<X, Y, W, R, Reduce, Map> {
  using type = reduce_types<std::decay_t<R>, std::decay_t<Reduce>, std::decay_t<Map>, X, Y, W>;
};

struct transform_reduce_call : call<> {
  static constexpr bool has_results = true;

  template <class... A>
    requires(sizeof...(A) >= 4 && sizeof...(A) <= 6)
  static consteval wrong of() {
    return reduce_types_of<A...>::type::operands;
  }
  template <class... A>
  static consteval wrong returned() {
    using types = typename reduce_types_of<A...>::type;
    return types::template in<typename types::identity>();
  }
  template <class P, class... A>
  static consteval wrong result() {
    using types = typename reduce_types_of<A...>::type;
    if constexpr (!result_place<P>) {
      return wrong::a_result_is_a_pointer_or_memory_that_is_not_const;
    } else if constexpr (!std::is_convertible_v<typename types::identity, result_value_t<P>>) {
      return wrong::a_result_is_of_the_type_returned;
    } else {
      return types::template in<result_value_t<P>>();
    }
  }
};

}  // namespace TALLY_CODE
}  // namespace detail

inline namespace TALLY_CODE {

/// r = reduce of map(x_i), i = 0 ... n-1. Blocks.
///
/// @param where  any host executor, `cuda` only in sources compiled by nvcc, `kokkos` on OpenMP or
///               without threads, and on a device in sources compiled for it.
/// @param x      n elements of any element type (`vector_operand`).
/// @param identity start of every lane, and r if n = 0. R is any semiregular type; on `cuda`
///               trivially copyable and at most 128 bytes.
/// @param reduce reduce(a, b) of two R, a earlier in the order; associative and commutative up to
///               rounding.
/// @param map    map(element), converted to R. Both functions are called as const, concurrently.
/// @return       r; a NaN (also of complex<R>) is the positive quiet one with an empty payload.
/// @throws error as `dot`; invalid_argument if the executor can't run these functions. Their
///               exceptions reach the caller after all parts have ended.
template <std::semiregular R, class Reduce, detail::function Map, class X>
  requires detail::taken<detail::transform_reduce_call, X, R, Reduce, Map>
auto transform_reduce(const executor& where, const X& x, R identity, Reduce reduce, Map map) {
  return detail::run_reduce<R>(where, identity, reduce, map, nullptr, x);
}

/// r = reduce of map(x_i, y_i).
template <std::semiregular R, class Reduce, detail::function Map, class X, vector_operand Y>
  requires detail::taken<detail::transform_reduce_call, X, Y, R, Reduce, Map>
auto transform_reduce(const executor& where, const X& x, const Y& y, R identity, Reduce reduce,
                      Map map) {
  return detail::run_reduce<R>(where, identity, reduce, map, nullptr, x, y);
}

/// r = reduce of map(x_i, y_i, w_i).
template <std::semiregular R, class Reduce, detail::function Map, class X, vector_operand Y,
          vector_operand W>
  requires detail::taken<detail::transform_reduce_call, X, Y, W, R, Reduce, Map>
auto transform_reduce(const executor& where, const X& x, const Y& y, const W& w, R identity,
                      Reduce reduce, Map map) {
  return detail::run_reduce<R>(where, identity, reduce, map, nullptr, x, y, w);
}

/// result = r, in the type of `result`. Doesn't block, as `dot`.
/// @param result destination of one R (`result_place`).
template <class Reduce, detail::function Map, class X, result_place R>
  requires detail::taken<detail::transform_reduce_call, X, detail::result_value_t<R>, Reduce, Map,
                         R>
void transform_reduce(const executor& where, const X& x,
                      std::type_identity_t<detail::result_value_t<R>> identity, Reduce reduce,
                      Map map, R&& result) {
  (void)detail::run_reduce<detail::result_value_t<R>>(where, identity, reduce, map,
                                                      detail::required_result(result), x);
}

/// The same for two vectors.
template <class Reduce, detail::function Map, class X, vector_operand Y, result_place R>
  requires detail::taken<detail::transform_reduce_call, X, Y, detail::result_value_t<R>, Reduce,
                         Map, R>
void transform_reduce(const executor& where, const X& x, const Y& y,
                      std::type_identity_t<detail::result_value_t<R>> identity, Reduce reduce,
                      Map map, R&& result) {
  (void)detail::run_reduce<detail::result_value_t<R>>(where, identity, reduce, map,
                                                      detail::required_result(result), x, y);
}

/// The same for three vectors.
template <class Reduce, detail::function Map, class X, vector_operand Y, vector_operand W,
          result_place R>
  requires detail::taken<detail::transform_reduce_call, X, Y, W, detail::result_value_t<R>, Reduce,
                         Map, R>
void transform_reduce(const executor& where, const X& x, const Y& y, const W& w,
                      std::type_identity_t<detail::result_value_t<R>> identity, Reduce reduce,
                      Map map, R&& result) {
  (void)detail::run_reduce<detail::result_value_t<R>>(where, identity, reduce, map,
                                                      detail::required_result(result), x, y, w);
}

/// The returned form on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::transform_reduce_call, T...>
auto transform_reduce(T&&... arguments) {
  return transform_reduce(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::transform_reduce_call, T...>>
  requires detail::refused<why, T...>
void transform_reduce(T&&...) = delete;  // [where,] x, [y, [w,]] identity, reduce, map[, result]

}  // namespace TALLY_CODE
}  // namespace tally
