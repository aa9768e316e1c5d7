// The short element-wise functions of real numbers on one thread: one loop a function and type of
// computation, on vectors as they are or on blocks of them, converted.
#include "backends/simd/elementwise/transform.hpp"
#include "backends/simd/level_one.hpp"
#include "backends/simd/vectors/instruction_set.hpp"

#include "backends/common/elementwise/blocks.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#ifndef TALLY_BACKENDS_SIMD_SHORT_FUNCTIONS_CPP  // once per target
#define TALLY_BACKENDS_SIMD_SHORT_FUNCTIONS_CPP
namespace tally::backends::simd {
namespace {

struct implementation {
  instruction_set set;
  transform_node* node;
  void (*add_level_one)(detail::level_one_kernels& to);
};

constexpr auto first_short = static_cast<std::size_t>(elementwise::inv);
constexpr std::size_t short_count = detail::elementwise_count - first_short;

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/elementwise/short_functions.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/elementwise/arithmetic-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// z = f(x, y, w), a vector at a time, those of z aligned: a store across a cache line costs two.
/// The first and last vectors overlap others, so are computed before anything is written: an output
/// may be an input. `group`: vectors an iteration, which `f_of_group` computes.
template <std::size_t group, class R, class F, class G>
HWY_INLINE void for_each_vector(const R* x, const R* y, const R* w, R* z, std::size_t n, const F& f,
                                const G& f_of_group) {
  constexpr std::size_t width = HWY_NAMESPACE::width<R>;
  const std::size_t to_aligned = -(reinterpret_cast<std::uintptr_t>(z) / sizeof(R)) % width;
  const std::size_t head = n < width ? n : to_aligned, edge = std::min(n, width);
  const bool has_tail = (n - head) % width != 0;
  vec<R> edges[2] = {hn::Zero(tag<R>()), hn::Zero(tag<R>())};
  for (std::size_t k = head > 0 ? 0 : 1; k < (has_tail ? 2 : 1); ++k) {
    const std::size_t at = k == 0 ? 0 : n - edge;
    const auto load_edge = [&](const R* p) HWY_ATTR { return load_first<R>(p + at, edge); };
    edges[k] = f(load_edge(x), load_edge(y), load_edge(w));
  }
  if (n < width) return put_first<R, R>(edges[0], z, n);
  std::size_t i = head;
  for (; i + group * width <= n; i += group * width) f_of_group(i);
  for (; i + width <= n; i += width) {
    put<false, R, R>(f(load<R>(x + i), load<R>(y + i), load<R>(w + i)), z + i);
  }
  if (head > 0) put<false, R, R>(edges[0], z);
  if (has_tail) put<false, R, R>(edges[1], z + n - width);
}

template <class R, class F>
HWY_INLINE void for_each_vector(const R* x, const R* y, const R* w, R* z, std::size_t n,
                                const F& f) {
  constexpr std::size_t width = HWY_NAMESPACE::width<R>;
  // Both are computed before one is written, for z may be an input.
  for_each_vector<2>(x, y, w, z, n, f, [&](std::size_t i) HWY_ATTR {
    const std::size_t j = i + width;
    const auto one = f(load<R>(x + i), load<R>(y + i), load<R>(w + i));
    const auto other = f(load<R>(x + j), load<R>(y + j), load<R>(w + j));
    put<false, R, R>(one, z + i);
    put<false, R, R>(other, z + j);
  });
}

template <class R>
using loop = void(const factors<R>& f, const R* x, const R* y, const R* w, R* z, std::size_t n);

/// Four vectors an iteration, since the exponent's digits decide which products there are.
template <class R>
void raise(const factors<R>& given, const R* x, R* z, std::size_t n) {
  using one = vector_arithmetic<R>;
  using two = paired_arithmetic<one>;
  using four = paired_arithmetic<two>;
  constexpr std::size_t width = HWY_NAMESPACE::width<R>;
  const factors<R> f = given;
  const auto of = [&]<class N>(std::type_identity<N>, typename N::V v)
                      HWY_ATTR { return HWY_NAMESPACE::of_some<elementwise::pow, N>(f, v, v, v); };
  for_each_vector<4>(
      x, x, x, z, n,
      [&](vec<R> v, vec<R>, vec<R>) HWY_ATTR { return of(std::type_identity<one>(), v); },
      [&](std::size_t i) HWY_ATTR {
        const auto at = [&](std::size_t k) HWY_ATTR { return load<R>(x + i + k * width); };
        const auto all =
            of(std::type_identity<four>(), typename four::V{{at(0), at(1)}, {at(2), at(3)}});
        put<false, R, R>(all.first.first, z + i);
        put<false, R, R>(all.first.second, z + i + width);
        put<false, R, R>(all.second.first, z + i + 2 * width);
        put<false, R, R>(all.second.second, z + i + 3 * width);
      });
}

/// The comparisons of x, and of y or a constant, by one instruction. False for other codes, which
/// have no name.
template <elementwise what, class R>
bool compare(const factors<R>& f, const R* x, const R* y, R* z, std::size_t n) {
  const auto constant = hn::Set(tag<R>(), f.beta), one = hn::Set(tag<R>(), R{1});
  const auto run = [&](const auto& is_true) HWY_ATTR {
    for_each_vector(x, what == elementwise::compare ? y : x, x, z, n,
                    [&](vec<R> a, vec<R> b, vec<R>) HWY_ATTR {
                      if constexpr (what != elementwise::compare) b = constant;
                      return hn::IfThenElseZero(is_true(a, b), one);
                    });
    return true;
  };
  using V = vec<R>;
  using detail::code_of;
  switch (static_cast<int>(f.alpha)) {
    case code_of(comparison::less):
      return run([](V a, V b) HWY_ATTR { return hn::Lt(a, b); });
    case code_of(comparison::less_equal):
      return run([](V a, V b) HWY_ATTR { return hn::Le(a, b); });
    case code_of(comparison::equal):
      return run([](V a, V b) HWY_ATTR { return hn::Eq(a, b); });
    case code_of(comparison::not_equal):
      return run([](V a, V b) HWY_ATTR { return hn::Not(hn::Eq(a, b)); });  // of NaN, too
    case code_of(comparison::greater_equal):
      return run([](V a, V b) HWY_ATTR { return hn::Le(b, a); });
    case code_of(comparison::greater):
      return run([](V a, V b) HWY_ATTR { return hn::Lt(b, a); });
    default:
      return false;
  }
}

/// clamp by an instruction a limit. False where this is not IEEE 754's: for a limit of NaN, a lower
/// one of -0 and an upper one of +0, and without instructions.
template <class R>
bool clamp(const factors<R>& f, const R* x, R* z, std::size_t n) {
  constexpr bool in_code = HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128;
  if (in_code || std::isnan(f.alpha) || std::isnan(f.beta) ||
      (f.alpha == 0 && std::signbit(f.alpha)) || (f.beta == 0 && !std::signbit(f.beta))) {
    return false;
  }
  const auto low = hn::Set(tag<R>(), f.alpha), high = hn::Set(tag<R>(), f.beta);
  for_each_vector(x, x, x, z, n, [&](vec<R> v, vec<R>, vec<R>) HWY_ATTR {
    // x86 returns the second of two zeros.
    return vector_arithmetic<R>::keep_nan(v, hn::Min(hn::Max(v, low), high));
  });
  return true;
}

/// y and w are x where the function has fewer inputs. Not inlined: short calls share it.
template <elementwise what, class R>
HWY_NOINLINE void run_loop(const factors<R>& given, const R* x, const R* y, const R* w, R* z,
                           std::size_t n) {
  const factors<R> f = given;  // z can't be it
  if constexpr (what == elementwise::clamp) {
    if (clamp(f, x, z, n)) return;
  } else if constexpr (detail::is_comparison(what)) {
    if (compare<what>(f, x, y, z, n)) return;
  }
  if constexpr (what == elementwise::pow) {
    raise(f, x, z, n);
  } else {
    for_each_vector(x, y, w, z, n, [&](vec<R> a, vec<R> b, vec<R> c) HWY_ATTR {
      return HWY_NAMESPACE::of_some<what, vector_arithmetic<R>>(f, a, b, c);
    });
  }
}

template <class R>
constexpr auto loops = []<std::size_t... i>(std::index_sequence<i...>) {
  const auto of = []<elementwise what>() -> loop<R>* {
    if constexpr (has_function<what, R>) return &run_loop<what, R>;
    return nullptr;
  };
  return std::array{of.template operator()<static_cast<elementwise>(first_short + i)>()...};
}(std::make_index_sequence<short_count>());

/// Calls f for the type of contiguous elements that vectors of R are made of directly.
template <class R, class F>
bool with_element(const operand& v, const F& f) {
  if (v.increment != 1) return false;
  if (v.element == type_of<R>) return f(std::type_identity<R>()), true;
  if constexpr (std::is_same_v<R, float>) {
    if (v.element == type::float16) return f(std::type_identity<float16>()), true;
    if (v.element == type::bfloat16) return f(std::type_identity<bfloat16>()), true;
  }
  return false;
}

/// The elements in place, or converted into `to`.
template <class R>
const R* numbers(const operand& v, block<R>& to) {
  if (v.increment == 1 && v.element == type_of<R>) return static_cast<const R*>(v.data);
  const auto convert = [&]<class T>(std::type_identity<T>) HWY_ATTR {
    const auto* const from = static_cast<const T*>(v.data);
    std::size_t i = 0;
    for (; i + width<R> <= v.size; i += width<R>) {
      hn::Store(load<R>(from + i), tag<R>(), to + i);
    }
    if (i < v.size) hn::Store(load_first<R>(from + i, v.size - i), tag<R>(), to + i);
  };
  if (!with_element<R>(v, convert)) fetch<R>(v, to);
  return to;
}

template <bool past_caches, class R>
void write(const block<R>& from, const output_operand& z) {
  const auto narrow = [&]<class T>(std::type_identity<T>) HWY_ATTR {
    auto* const to = static_cast<T*>(z.data);
    std::size_t i = 0;
    for (; i + width<R> <= z.size; i += width<R>) {
      put<past_caches, T, R>(hn::Load(tag<R>(), from + i), to + i);
    }
    if (i < z.size) put_first<T, R>(hn::Load(tag<R>(), from + i), to + i, z.size - i);
  };
  if (!with_element<R>(z, narrow)) store<R>(from, z);
}

/// Elements before the first aligned vector of an output.
template <class R>
std::size_t head_of(const output_operand& z) {
  const std::size_t size = size_of(z.element);
  return -(reinterpret_cast<std::uintptr_t>(z.data) / size) % width<R>;
}

template <class R>
void run(const transform_arguments& a, bool past_caches) {
  loop<R>* const of_function = loops<R>[static_cast<std::size_t>(a.what) - first_short];
  const auto f = factors<R>::template of<R>(a.alpha, a.beta);
  const int inputs = detail::inputs(a.what);
  const operand* const vectors[] = {&a.x, &a.y, &a.w};
  bool in_place = !past_caches && a.z.element == type_of<R> && a.z.increment == 1;
  for (int k = 0; k < inputs; ++k) {
    in_place = in_place && vectors[k]->element == type_of<R> && vectors[k]->increment == 1;
  }
  const auto compute = [&](const R* const(&from)[3], R* z, std::size_t n) {
    of_function(f, from[0], inputs > 1 ? from[1] : from[0], inputs > 2 ? from[2] : from[0], z, n);
  };
  if (in_place) {
    const R* from[3] = {};
    for (int k = 0; k < inputs; ++k) from[k] = static_cast<const R*>(vectors[k]->data);
    return compute(from, static_cast<R*>(a.z.data), a.z.size);
  }
  HWY_ALIGN block<R> blocks[3], result;
  std::size_t n = past_caches ? std::min(head_of<R>(a.z), a.z.size) : 0;
  if (n == 0) n = std::min(elements_of_block, a.z.size);
  for (std::size_t first = 0; first < a.z.size;
       first += n, n = std::min(elements_of_block, a.z.size - first)) {
    const R* from[3] = {};
    for (int k = 0; k < inputs; ++k) from[k] = numbers<R>(vectors[k]->slice(first, n), blocks[k]);
    compute(from, result, n);
    const output_operand to = a.z.slice(first, n);
    past_caches&& n % width<R> == 0 ? write<true, R>(result, to) : write<false, R>(result, to);
  }
  if (past_caches) hwy::FlushStream();
}

void node(const transform_arguments& a, type computation, memory_use use) {
  computation == type::float32 ? run<float>(a, use.past_caches) : run<double>(a, use.past_caches);
}

template <elementwise what, class T>
void add_level_one(detail::level_one<T>& to) {
  if constexpr (has_function<what, T>) {
    to.transform[static_cast<std::size_t>(what)] = [](T alpha, T beta, T, const T* x, const T* y,
                                                      const T* w, T* z, std::size_t n) {
      const default_environment environment;
      run_loop<what, T>({alpha, beta}, x, y, w, z, n);
    };
  }
}

void add_level_one(detail::level_one_kernels& to) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (add_level_one<static_cast<elementwise>(first_short + i), float>(to), ...);
    (add_level_one<static_cast<elementwise>(first_short + i), double>(to), ...);
  }(std::make_index_sequence<short_count>());
}

}  // namespace

constexpr implementation this_target = {set_of(HWY_TARGET), &node, &add_level_one};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {
transform_node* short_node_of(instruction_set set) { return implementation_of(set).node; }

void add_short_functions(instruction_set set, detail::level_one_kernels& to) {
  implementation_of(widest(set)).add_level_one(to);
}
}  // namespace tally::backends::simd
#endif  // HWY_ONCE
