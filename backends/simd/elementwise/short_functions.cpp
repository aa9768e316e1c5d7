// The short element-wise functions of real numbers on one thread: one loop a function and type of
// computation, on vectors as they are or on blocks of them, converted.
#include "backends/simd/elementwise/transform.hpp"
#include "backends/simd/vectors/instruction_set.hpp"

#include "backends/common/elementwise/blocks.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#ifndef TALLY_BACKENDS_SIMD_SHORT_FUNCTIONS_CPP  // once per target
#define TALLY_BACKENDS_SIMD_SHORT_FUNCTIONS_CPP
namespace tally::backends::simd {
namespace {

struct implementation {
  instruction_set set;
  transform_node* node;
};

constexpr auto first_short = static_cast<std::size_t>(elementwise::inv);
constexpr std::size_t short_count = static_cast<std::size_t>(last_elementwise) + 1 - first_short;

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

template <class R>
using loop = void(const factors<R>& f, const R* x, const R* y, const R* w, R* z, std::size_t n);

/// y and w are x where the function has fewer inputs.
template <elementwise what, class R>
void run_loop(const factors<R>& f, const R* x, const R* y, const R* w, R* z, std::size_t n) {
  const auto compute = [&](std::size_t i, const auto& load) HWY_ATTR {
    return HWY_NAMESPACE::of_some<what, vector_arithmetic<R>>(f, load(x + i), load(y + i),
                                                              load(w + i));
  };
  std::size_t i = 0;
  if constexpr (what == elementwise::log || what == elementwise::tanh) {  // long chains, in pairs
    for (; i + 2 * width<R> <= n; i += 2 * width<R>) {
      const auto whole = [](const R* p) HWY_ATTR { return load<R>(p); };
      const auto first = compute(i, whole), second = compute(i + width<R>, whole);
      put<false, R, R>(first, z + i);
      put<false, R, R>(second, z + i + width<R>);
    }
  }
  for (; i + width<R> <= n; i += width<R>) {
    put<false, R, R>(compute(i, [](const R* p) HWY_ATTR { return load<R>(p); }), z + i);
  }
  if (i < n) {
    const std::size_t left = n - i;
    put_first<R, R>(compute(i, [left](const R* p) HWY_ATTR { return load_first<R>(p, left); }),
                    z + i, left);
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

void node(const transform_arguments& a, type computation, bool past_caches) {
  computation == type::float32 ? run<float>(a, past_caches) : run<double>(a, past_caches);
}

}  // namespace

constexpr implementation this_target = {set_of(HWY_TARGET), &node};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {
transform_node* short_node_of(instruction_set set) { return implementation_of(set).node; }
}  // namespace tally::backends::simd
#endif  // HWY_ONCE
