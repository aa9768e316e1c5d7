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

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
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
    std::fill_n(lane, order::lanes, identity_);
    for (std::size_t i = 0; i < n; i += order::lanes) {
      const std::size_t count = (std::min)(order::lanes, n - i);
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
        R sum = call.sum_chunk(first + i, (std::min)(order::chunk, n - i));
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
      if constexpr (!returns<R, Map, value_t<V>...>) {
    static_assert(returns<R, Map, value_t<V>...>,
                  "transform_reduce's map, its last function, takes an element of x, and one of y "
                  "and of w if they are passed, is called as const, and returns what can be "
                  "converted to identity's type");
  } else if constexpr (!returns<R, Reduce, R, R>) {
    static_assert(returns<R, Reduce, R, R>,
                  "transform_reduce's reduce, its first function, takes two values of identity's "
                  "type, is called as const, and returns what can be converted to that type");
  } else {
    const auto each = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return values<R, Map, value_t<V>...>{map, {typed_vector<value_t<V>>(all[i])...}};
    }(std::index_sequence_for<V...>());
    const R r = reduce_on_host<R, Reduce, std::remove_cv_t<decltype(each)>>(identity, reduce, each)
                    .run(where, name, all, result);
    if (result != nullptr) *result = r;
    return r;
  }
}

template <class R, class Reduce, class Map, class... V>
R call_reduce(const executor& where, const R& identity, const Reduce& reduce, const Map& map,
              R* result, const V&... vectors) {
  if constexpr ((... && is_vector<V>())) {
    return run_reduce<R>(where, identity, reduce, map, result, vectors...);
  } else {
    return identity;
  }
}

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
auto transform_reduce(const executor& where, const X& x, R identity, Reduce reduce, Map map) {
  return detail::call_reduce<R>(where, identity, reduce, map, nullptr, x);
}

/// r = reduce of map(x_i, y_i).
template <std::semiregular R, class Reduce, detail::function Map, class X, vector_operand Y>
auto transform_reduce(const executor& where, const X& x, const Y& y, R identity, Reduce reduce,
                      Map map) {
  return detail::call_reduce<R>(where, identity, reduce, map, nullptr, x, y);
}

/// r = reduce of map(x_i, y_i, w_i).
template <std::semiregular R, class Reduce, detail::function Map, class X, vector_operand Y,
          vector_operand W>
auto transform_reduce(const executor& where, const X& x, const Y& y, const W& w, R identity,
                      Reduce reduce, Map map) {
  return detail::call_reduce<R>(where, identity, reduce, map, nullptr, x, y, w);
}

/// result = r, in the type of `result`. Doesn't block, as `dot`.
/// @param result destination of one R (`result_place`).
template <class Reduce, detail::function Map, class X, result_place R>
auto transform_reduce(const executor& where, const X& x,
                      std::type_identity_t<detail::result_value_t<R>> identity, Reduce reduce,
                      Map map, R&& result) {
  (void)detail::call_reduce<detail::result_value_t<R>>(where, identity, reduce, map,
                                                       detail::required_result(result), x);
}

/// The same for two vectors.
template <class Reduce, detail::function Map, class X, vector_operand Y, result_place R>
auto transform_reduce(const executor& where, const X& x, const Y& y,
                      std::type_identity_t<detail::result_value_t<R>> identity, Reduce reduce,
                      Map map, R&& result) {
  (void)detail::call_reduce<detail::result_value_t<R>>(where, identity, reduce, map,
                                                       detail::required_result(result), x, y);
}

/// The same for three vectors.
template <class Reduce, detail::function Map, class X, vector_operand Y, vector_operand W,
          result_place R>
auto transform_reduce(const executor& where, const X& x, const Y& y, const W& w,
                      std::type_identity_t<detail::result_value_t<R>> identity, Reduce reduce,
                      Map map, R&& result) {
  (void)detail::call_reduce<detail::result_value_t<R>>(where, identity, reduce, map,
                                                       detail::required_result(result), x, y, w);
}

/// The returned form on `automatic()`.
template <class... T,
          bool valid = (detail::is_call<4, void, T...> || detail::is_call<5, void, T...> ||
                        detail::is_call<6, void, T...>)>
  requires(!detail::on_executor<4, 7, T...>)
auto transform_reduce(const T&... arguments) {
  static_assert(
      valid,
      "transform_reduce(x, identity, reduce, map), with y, or y and w, after x, may begin "
      "with an executor, and then end with a result; the functions are functions or "
      "function objects, and identity is of the terms' type");
  return detail::on_automatic<valid>(
      [&](const auto& where) { return transform_reduce(where, arguments...); });
}

}  // namespace TALLY_CODE
}  // namespace tally
