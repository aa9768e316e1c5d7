// transform_reduce: a sum of the caller's own making, r = reduce of map(x_i) or map(x_i, y_i).
//
// Promise: `reduce` and `map` are applied in the fixed order of the contract (<tally/order.hpp>),
// with `identity` in the place of +0 and `reduce` in that of the addition: a lane starts at
// `identity` and takes its terms one by one, all 64 lanes fold, chunks combine as a tree. So the
// executor, the number of threads, the stride and the alignment decide nothing, and where `map` and
// `reduce` give the same bits on two machines so does the whole. `dot` is one case of it:
//
//   tally::transform_reduce(x, y, 0.0, std::plus<>(), std::multiplies<>()) == tally::dot(x, y)
//
// No term is contracted with the addition of it (a fused multiply-add), and -ffast-math reorders
// nothing across calls of the functions; what the caller's compiler may do inside one, and how
// functions run on a GPU, stands in <tally/functions.hpp>. The bytes of the result travel, too.
#pragma once

#include <tally/dot.hpp>
#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/functions.hpp>
#include <tally/operand.hpp>
#include <tally/order.hpp>
#include <tally/order_tree.hpp>
#include <tally/reduce.hpp>
#include <tally/refusal.hpp>
#include <tally/result.hpp>
#include <tally/types.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally {
namespace transform_reduction {

using functions::canonical;
using functions::keep;
using functions::value_t;

/// One call on the host.
template <class R, class Reduce, class Terms>
class on_host {
 public:
  on_host(const R& identity, const Reduce& reduce, const Terms& terms)
      : result_(identity), identity_(identity), combine_{reduce}, terms_(terms) {}

  R run(const executor& where, const char* function, const operand& x, const operand* y,
        const void* result) {
    for_each_part(where, function, x, y, result, {this, run_part, prepare, finish});
    thrown_.rethrow();
    return canonical(result_);
  }

 private:
  struct combination {
    const Reduce& reduce;
    R operator()(const R& a, const R& b) const { return static_cast<R>(reduce(a, b)); }
  };
  using tree = order::tree<R, combination>;
  struct node {  // bool in a std::vector would share bytes with others
    R sum;
  };

  R sum_chunk(std::size_t first, std::size_t n) const {
    R lane[order::lanes], row[order::lanes];
    std::fill_n(lane, order::lanes, identity_);
    for (std::size_t i = 0; i < n; i += order::lanes) {
      const std::size_t count = (std::min)(order::lanes, n - i);
      // A loop of its own, and its end in sight: terms are in memory before any is added.
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
    auto& call = *static_cast<on_host*>(self);
    call.parts_.assign(parts, {call.identity_});
  }
  static void run_part(void* self, std::size_t part, std::size_t first, std::size_t n) {
    auto& call = *static_cast<on_host*>(self);
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
    auto& call = *static_cast<on_host*>(self);
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
  functions::first_exception thrown_;
};

/// f can be called, and its value converted to R.
template <class R, class F, class... T>
concept callable = requires(const F& f, T... values) { static_cast<R>(f(values...)); };

/// Where one result goes.
template <class P>
results::value_t<P>* required(P& result) {
  auto* const r = results::first("tally::transform_reduce", result);
  if (r == nullptr) throw error(errc::null_pointer, "tally::transform_reduce: result is null");
  return r;
}

}  // namespace transform_reduction
}  // namespace tally

#if TALLY_HAS_DEVICE_CODE
#include <tally/transform_reduce.cuh>
#endif

namespace tally {
namespace transform_reduction {
inline namespace TALLY_CODE {

/// One call. `result` null: the value is returned.
template <class R, class Reduce, class Map, class... V>
R call(const executor& where, const R& identity, const Reduce& reduce, const Map& map, R* result,
       const V&... vectors) {
  static constexpr char name[] = "tally::transform_reduce";
  const operand all[] = {as_operand(vectors)...};
  const operand* const y = sizeof...(V) > 1 ? all + 1 : nullptr;
#if TALLY_HAS_DEVICE_CODE
  const executor chosen = where.backend() != nullptr ? where : choose(as_operand(vectors)...);
  if constexpr (runs_on_device<R, Reduce, Map>) {
    if (chosen.name() == "cuda") {
      return on_device<R, Reduce, Map, value_t<V>...>(identity, reduce, map)
          .run(chosen, name, all[0], y, result);
    }
  }
  if constexpr (functions::only_on_device<Reduce> || functions::only_on_device<Map>) {
    functions::refuse_on_host(name, chosen);
  } else
#endif
      if constexpr (!callable<R, Map, value_t<V>...>) {
    static_assert(callable<R, Map, value_t<V>...>,
                  "transform_reduce's map, its last function, takes an element of x, or one of x "
                  "and one of y, is called as const, and returns what can be converted to "
                  "identity's type");
  } else if constexpr (!callable<R, Reduce, R, R>) {
    static_assert(callable<R, Reduce, R, R>,
                  "transform_reduce's reduce, its first function, takes two values of identity's "
                  "type, is called as const, and returns what can be converted to that type");
  } else {
    const auto each = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return functions::values<R, Map, value_t<V>...>{map,
                                                      {functions::vector<value_t<V>>(all[i])...}};
    }(std::index_sequence_for<V...>());
    const R r = on_host<R, Reduce, std::remove_cv_t<decltype(each)>>(identity, reduce, each)
                    .run(where, name, all[0], y, result);
    if (result != nullptr) *result = r;
    return r;
  }
}

}  // namespace TALLY_CODE
}  // namespace transform_reduction

inline namespace TALLY_CODE {

/// r = reduce of the terms map(x_i), i = 0 ... n-1, in the order of the contract.
///
/// @param where    the executor. On `kokkos` where its execution space is the host's: threads are
/// OpenMP's
///                 or none; on `cuda` in sources compiled by nvcc.
/// @param x        a vector of n elements of any of the element types, as for `dot`.
/// @param identity what every lane starts from, and r where n = 0. Its type R is that of the terms,
///                 to which map's values are converted, and of r: any semiregular type; on `cuda`
///                 one that is trivially copyable and of at most 128 bytes.
/// @param reduce   reduce(a, b) of two R; a is what comes earlier in the order. It should be
///                 associative and commutative but for rounding, or r is not what one expects.
/// @param map      map(element). Both functions are called as const, from several threads at once.
/// @return         r; a NaN (also of complex<R>) as the positive quiet one with an empty payload.
///                 Blocks until it is there.
/// @throws error   as `dot`; invalid_argument where the executor can't run these functions. What
///                 the functions throw on the host goes to the caller, once no part runs any more.
template <std::semiregular R, class Reduce, functions::function Map, vector_operand X>
R transform_reduce(const executor& where, const X& x, R identity, Reduce reduce, Map map) {
  return transform_reduction::call<R>(where, identity, reduce, map, nullptr, x);
}

/// r = reduce of the terms map(x_i, y_i), x and y of equal length: `dot` with functions of one's
/// own.
template <std::semiregular R, class Reduce, functions::function Map, vector_operand X,
          vector_operand Y>
R transform_reduce(const executor& where, const X& x, const Y& y, R identity, Reduce reduce,
                   Map map) {
  return transform_reduction::call<R>(where, identity, reduce, map, nullptr, x, y);
}

/// As above, on `automatic()`.
template <std::semiregular R, class Reduce, functions::function Map, vector_operand X>
R transform_reduce(const X& x, R identity, Reduce reduce, Map map) {
  return transform_reduction::call<R>(automatic(), identity, reduce, map, nullptr, x);
}

/// As above, on `automatic()`.
template <std::semiregular R, class Reduce, functions::function Map, vector_operand X,
          vector_operand Y>
R transform_reduce(const X& x, const Y& y, R identity, Reduce reduce, Map map) {
  return transform_reduction::call<R>(automatic(), identity, reduce, map, nullptr, x, y);
}

/// result = r. Doesn't block: on a device the call returns once the work is queued on the
/// executor's stream, and may be captured in a graph, as the same form of `dot`.
/// @param result a pointer, or memory for one R (`result_place`), where the executor can write.
template <class Reduce, functions::function Map, vector_operand X, result_place R>
  requires std::semiregular<results::value_t<R>>
void transform_reduce(const executor& where, const X& x,
                      std::type_identity_t<results::value_t<R>> identity, Reduce reduce, Map map,
                      R&& result) {
  (void)transform_reduction::call<results::value_t<R>>(where, identity, reduce, map,
                                                       transform_reduction::required(result), x);
}

/// result = r, of two vectors.
template <class Reduce, functions::function Map, vector_operand X, vector_operand Y, result_place R>
  requires std::semiregular<results::value_t<R>>
void transform_reduce(const executor& where, const X& x, const Y& y,
                      std::type_identity_t<results::value_t<R>> identity, Reduce reduce, Map map,
                      R&& result) {
  (void)transform_reduction::call<results::value_t<R>>(where, identity, reduce, map,
                                                       transform_reduction::required(result), x, y);
}

}  // namespace TALLY_CODE
// --- What is no operand ---------------------------------------------------------------------------

namespace transform_reduction {

using for_transform_reduce = refusals::arguments<refusals::vector>;

}  // namespace transform_reduction

/// Says what is no operand.
template <class... T>
  requires refusals::refused<transform_reduction::for_transform_reduce, T...>
auto transform_reduce(const T&...) {
  return refusals::refuse<transform_reduction::for_transform_reduce, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto transform_reduce(...) {
  static_assert(refusals::never<T...>,
                "transform_reduce(x, identity, reduce, map) or transform_reduce(x, y, identity, "
                "reduce, map) may begin with an executor, and then end with a result; the "
                "functions are functions or function objects, and identity is of the terms' type");
  return 0.0;
}

}  // namespace tally
