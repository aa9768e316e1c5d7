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
// The functions are compiled into the caller's program, so its compiler's flags reach them. What is
// prevented here: no term is contracted with the addition of it (a fused multiply-add), and
// -ffast-math reorders nothing across calls of the functions; rounding mode and flushed subnormals
// of the calling thread are set aside, as everywhere in Tally. What is not: inside one function the
// compiler may contract a * b + c (GCC does where the target has FMA, nvcc always) and rewrite it
// under -ffast-math. For equal bits compile with -ffp-contract=off (nvcc: -fmad=false, and without
// -use_fast_math), or write std::fma where it is wanted.
//
// On the GPU: in a source that nvcc compiles this header has kernels too, and a call makes one of
// its functions. So these must be callable on the device: function objects with `__host__
// __device__`, or, with --extended-lambda, such lambdas (one that is `__device__` alone runs on
// `cuda` only); their bytes and those of the result are copied there. std::plus and std::multiplies
// of real numbers need nothing; std::complex, whose functions are the host's, needs
// --expt-relaxed-constexpr. Where functions of the host are meant, define TALLY_HOST_CODE_ONLY
// before the first header of Tally. Compute capability 7.0 or more.
#pragma once

#include <tally/dot.hpp>
#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/order.hpp>
#include <tally/order_tree.hpp>
#include <tally/reduce.hpp>
#include <tally/types.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tally {

/// A function of the caller's over the parts of a range, which are nodes of the order's tree.
struct part_calls {
  void* context = nullptr;
  /// Once, before the others; there will be so many parts, none of an empty range. May throw.
  void (*prepare)(void* context, std::size_t parts) = nullptr;
  /// For each part, in any order, on any thread: elements first ... first + n - 1. Must not throw.
  void (*run)(void* context, std::size_t part, std::size_t first, std::size_t n) = nullptr;
  /// Once, after all. Must not throw.
  void (*finish)(void* context) = nullptr;
};

/// Calls `calls` for vectors of equal length, on an executor of the host, in the default
/// floating-point environment: what the templates below call.
/// @param function begins the messages.
/// @param y        null where there is one vector.
/// @param result   where the result will be written; null where it is returned.
/// @throws error   as `dot`; invalid_argument for an executor that can't call functions of the
/// host.
TALLY_EXPORT void for_each_part(const executor& where, const char* function, const operand& x,
                                const operand* y, const void* result, const part_calls& calls);

/// What a kernel of the caller's is lent for one sum.
struct device_sum {
  /// Device memory of `word_count` words, all 0; all 0 again when the kernel ends. For a grid of
  /// more than one block.
  std::uint64_t* words = nullptr;
  std::uint64_t* ended = nullptr;  ///< to be incremented by one when the kernel ends, or null
  void* result = nullptr;
  /// 0: `result` is plain memory. Else it is words to the host, which waits for them: each carries
  /// this in its upper half and 4 bytes of the result in its lower one.
  std::uint32_t tag = 0;
  CUstream_st* stream = nullptr;

  static constexpr std::size_t word_count = 8192;
  static constexpr std::size_t most_bytes = 128;  ///< of the result
};

/// A sum by a kernel of the caller's: checks the vectors as `for_each_part`, calls `launch`, which
/// queues one kernel on the stream and returns its cudaError_t, and with `wait` waits for the
/// result of so many bytes.
TALLY_EXPORT void launch_sum(const executor& where, const char* function, const operand& x,
                             const operand* y, void* result, std::size_t bytes, bool wait,
                             bool many_blocks, void* context,
                             int (*launch)(void* context, const device_sum& lent));

namespace transform_reduction {

/// Ends what the compiler may merge: it takes everything in memory for looked at and written.
inline void keep(void* p) { asm volatile("" : "+r"(p) : : "memory"); }

/// A NaN as the positive quiet NaN with an empty payload; by its bits, since -ffast-math would not
/// look. Other types are left alone.
template <class T>
TALLY_HOST_DEVICE T canonical(const T& value) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    using word = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
    constexpr auto infinity = static_cast<word>(sizeof(T) == 4 ? 0x7f800000u : 0x7ffull << 52);
    constexpr auto quiet = static_cast<word>(infinity | (infinity >> 1 & ~infinity));
    word bits;
    memcpy(&bits, &value, sizeof bits);
    if (static_cast<word>(bits << 1) <= static_cast<word>(infinity << 1)) return value;
    T nan;
    memcpy(&nan, &quiet, sizeof nan);
    return nan;
  } else if constexpr (is_complex_v<T>) {
    real_t<T> parts[2];
    memcpy(parts, &value, sizeof value);
    for (real_t<T>& part : parts) part = canonical(part);
    T both;
    memcpy(&both, parts, sizeof both);
    return both;
  } else {
    return value;
  }
}

/// Element i of a vector with its type.
template <class T>
struct vector {
  const T* data;
  std::ptrdiff_t increment;

  explicit vector(const operand& v) : data(static_cast<const T*>(v.data)), increment(v.increment) {}
  TALLY_HOST_DEVICE T operator[](std::size_t i) const {
    return data[static_cast<std::ptrdiff_t>(i) * increment];
  }
};

/// Terms map(x_i), or map(x_i, y_i).
template <class R, class Map, class... T>
struct terms {
  const Map& map;
  std::tuple<vector<T>...> vectors;

  void fill(std::size_t first, std::size_t n, R* out) const {
    std::apply(
        [&](const auto&... v) {
          if ((... && (v.increment == 1))) {
            for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<R>(map(v.data[first + i]...));
          } else {
            for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<R>(map(v[first + i]...));
          }
        },
        vectors);
  }
};

/// One call on the host.
template <class R, class Reduce, class Terms>
class on_host {
 public:
  on_host(const R& identity, const Reduce& reduce, const Terms& terms)
      : result_(identity), identity_(identity), combine_{reduce}, terms_(terms) {}

  R run(const executor& where, const char* function, const operand& x, const operand* y,
        const void* result) {
    for_each_part(where, function, x, y, result, {this, prepare, run_part, finish});
    if (thrown_) std::rethrow_exception(thrown_);
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
      const std::size_t count = std::min(order::lanes, n - i);
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
    call.catching([&] {
      tree chunks(call.combine_);
      for (std::size_t i = 0; i < n; i += order::chunk) {
        R sum = call.sum_chunk(first + i, std::min(order::chunk, n - i));
        keep(&sum);
        chunks.add(sum);
      }
      call.parts_[part].sum = chunks.total();
    });
  }
  static void finish(void* self) {
    auto& call = *static_cast<on_host*>(self);
    if (call.parts_.empty() || call.thrown_) return;
    call.catching([&] {
      tree parts(call.combine_);
      for (node& each : call.parts_) {
        keep(&each);
        parts.add(each.sum);
      }
      call.result_ = parts.total();
    });
  }

  /// The first exception of the caller's functions is kept: none may leave a parallel region.
  template <class F>
  void catching(F&& f) {
    try {
      f();
    } catch (...) {
      if (!has_thrown_.exchange(true)) thrown_ = std::current_exception();
    }
  }

  R result_, identity_;
  combination combine_;
  const Terms& terms_;
  std::vector<node> parts_;
  std::atomic<bool> has_thrown_ = false;
  std::exception_ptr thrown_;
};

template <class V>
using value_t = typename operands::value<V>::type;

/// Not a pointer to an object: where a result goes.
template <class F>
concept function = std::is_class_v<F> ||
    (std::is_pointer_v<F>&& std::is_function_v<std::remove_pointer_t<F>>);

inline void require_result(const void* result) {
  if (result == nullptr) {
    throw error(errc::null_pointer, "tally::transform_reduce: result is null");
  }
}

}  // namespace transform_reduction
}  // namespace tally

// A template that nvcc compiled has device code, and the same one from another compiler has not:
// the linker must not take one for the other.
#if defined(__CUDACC__) && !defined(TALLY_HOST_CODE_ONLY)
#include <tally/transform_reduce.cuh>
#define TALLY_HAS_DEVICE_CODE 1
#define TALLY_CODE with_device_code
#else
#define TALLY_HAS_DEVICE_CODE 0
#define TALLY_CODE host_code
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
  if constexpr (only_on_device<Reduce> || only_on_device<Map>) {
    throw error(errc::invalid_argument,
                "tally::transform_reduce: a __device__ lambda can't run on " +
                    std::string(chosen.name()) + "; make it __host__ __device__");
  } else
#endif
  {
    const auto each = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return terms<R, Map, value_t<V>...>{map, {vector<value_t<V>>(all[i])...}};
    }
    (std::index_sequence_for<V...>());
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
/// @param where    the executor. On `kokkos` where its execution space is the host's, and functions
///                 that do not call Tally on `kokkos` themselves; on `cuda` in sources compiled by
///                 nvcc.
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
template <std::semiregular R, class Reduce, transform_reduction::function Map, vector_operand X>
R transform_reduce(const executor& where, const X& x, R identity, Reduce reduce, Map map) {
  return transform_reduction::call<R>(where, identity, reduce, map, nullptr, x);
}

/// r = reduce of the terms map(x_i, y_i), x and y of equal length: `dot` with functions of one's
/// own.
template <std::semiregular R, class Reduce, transform_reduction::function Map, vector_operand X,
          vector_operand Y>
R transform_reduce(const executor& where, const X& x, const Y& y, R identity, Reduce reduce,
                   Map map) {
  return transform_reduction::call<R>(where, identity, reduce, map, nullptr, x, y);
}

/// As above, on `automatic()`.
template <std::semiregular R, class Reduce, transform_reduction::function Map, vector_operand X>
R transform_reduce(const X& x, R identity, Reduce reduce, Map map) {
  return transform_reduction::call<R>(automatic(), identity, reduce, map, nullptr, x);
}

/// As above, on `automatic()`.
template <std::semiregular R, class Reduce, transform_reduction::function Map, vector_operand X,
          vector_operand Y>
R transform_reduce(const X& x, const Y& y, R identity, Reduce reduce, Map map) {
  return transform_reduction::call<R>(automatic(), identity, reduce, map, nullptr, x, y);
}

/// *result = r. Doesn't block: on a device the call returns once the work is queued on the
/// executor's stream, and may be captured in a graph, as the same form of `dot`.
/// @param result where the executor can write.
template <std::semiregular R, class Reduce, transform_reduction::function Map, vector_operand X>
void transform_reduce(const executor& where, const X& x, std::type_identity_t<R> identity,
                      Reduce reduce, Map map, R* result) {
  transform_reduction::require_result(result);
  (void)transform_reduction::call<R>(where, identity, reduce, map, result, x);
}

/// *result = r, of two vectors.
template <std::semiregular R, class Reduce, transform_reduction::function Map, vector_operand X,
          vector_operand Y>
void transform_reduce(const executor& where, const X& x, const Y& y,
                      std::type_identity_t<R> identity, Reduce reduce, Map map, R* result) {
  transform_reduction::require_result(result);
  (void)transform_reduction::call<R>(where, identity, reduce, map, result, x, y);
}

}  // namespace TALLY_CODE
}  // namespace tally

#undef TALLY_CODE
#undef TALLY_HAS_DEVICE_CODE
