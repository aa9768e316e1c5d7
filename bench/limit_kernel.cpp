// Kernels of the limits, for every instruction set. Loops are aligned to vectors: no load or store
// crosses a cache line.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/limit_kernel.cpp"
#include "backends/simd/vectors/targets.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "bench/limit_kernel.hpp"

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace bench {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using tag = hn::ScalableTag<std::uint8_t>;
using vec = hn::Vec<tag>;
constexpr std::size_t width = hn::MaxLanes(tag());

HWY_INLINE const std::uint8_t* bytes(const std::byte* p) {
  return reinterpret_cast<const std::uint8_t*>(p);
}

/// Bytes before the next multiple of a vector.
HWY_INLINE std::size_t before_border(const std::byte* p) {
  return (width - reinterpret_cast<std::uintptr_t>(p) % width) % width;
}

/// Calls f(d, i) for the widest vectors d, perhaps overlapping, at bytes i that cover less than two
/// full vectors. False for too few bytes.
template <class F>
HWY_INLINE bool in_two(std::size_t n, const F& f) {
  const auto with = [&](auto d) {
    f(d, std::size_t{0});
    f(d, n - hn::MaxLanes(d));
    return true;
  };
  if (n >= width) return with(tag());
  if (width > 32 && n >= 32) return with(hn::CappedTag<std::uint8_t, 32>());
  if (width > 16 && n >= 16) return with(hn::CappedTag<std::uint8_t, 16>());
  if (width > 8 && n >= 8) return with(hn::CappedTag<std::uint8_t, 8>());
  return false;
}

HWY_INLINE bool is_any_of_few(const stretch& from) {
  const std::uint8_t* const p = bytes(from.first);
  bool any = false;
  const auto load = [&](auto d, std::size_t i) {
    any |= !hn::AllTrue(d, hn::Eq(hn::LoadU(d, p + i), hn::Zero(d)));
  };
  if (!in_two(from.size, load)) {
    for (std::size_t i = 0; i < from.size; ++i) any |= p[i] != 0;
  }
  return any;
}

HWY_INLINE bool is_any(vec v) { return !hn::AllTrue(tag(), hn::Eq(v, hn::Zero(tag()))); }

/// The aligned vectors of a block; the two at the ends overlap them.
struct body {
  const std::uint8_t* next;
  const std::uint8_t* end;

  explicit HWY_INLINE body(const stretch& from) {
    next = bytes(from.first) + before_border(from.first);
    end = next + (from.size < width ? 0 : (bytes(from.first) + from.size - next) / width * width);
  }
  HWY_INLINE std::size_t size() const { return static_cast<std::size_t>(end - next); }
};

HWY_INLINE vec rest_of(const stretch& from, body left) {
  const tag d;
  if (from.size < width) return hn::Zero(d);
  const std::uint8_t* const p = bytes(from.first);
  vec any = hn::Or(hn::LoadU(d, p), hn::LoadU(d, p + from.size - width));
  for (; left.next < left.end; left.next += width) any = hn::Or(any, hn::Load(d, left.next));
  return any;
}

/// Eight loads in four chains: two from each of four blocks or four from each of two.
template <std::size_t streams>
bool read(const stretch* from) {
  static_assert(streams == 2 || streams == 4);
  if (streams == 2 && from[0].size <= 2 * width && from[1].size <= 2 * width)
    return is_any_of_few(from[0]) | is_any_of_few(from[1]);

  const tag d;
  constexpr std::size_t step = 8 / streams * width;
  body left[] = {body(from[0]), body(from[1]), body(from[streams - 2]), body(from[streams - 1])};
  std::size_t steps = std::min(left[0].size(), left[1].size());
  if constexpr (streams == 4) steps = std::min({steps, left[2].size(), left[3].size()});
  steps /= step;
  // With two blocks the second pair of chains reads half a step ahead.
  const std::uint8_t* a = left[0].next;
  const std::uint8_t* b = left[1].next;
  const std::uint8_t* c = streams == 4 ? left[2].next : a + 2 * width;
  const std::uint8_t* e = streams == 4 ? left[3].next : b + 2 * width;
  vec any_a = hn::Zero(d), any_b = any_a, any_c = any_a, any_e = any_a;
  for (std::size_t i = 0; i < steps; ++i) {
    any_a = hn::Or(any_a, hn::Or(hn::Load(d, a), hn::Load(d, a + width)));
    any_b = hn::Or(any_b, hn::Or(hn::Load(d, b), hn::Load(d, b + width)));
    any_c = hn::Or(any_c, hn::Or(hn::Load(d, c), hn::Load(d, c + width)));
    any_e = hn::Or(any_e, hn::Or(hn::Load(d, e), hn::Load(d, e + width)));
    a += step, b += step, c += step, e += step;
  }
  bool any_of_few = false;
  const auto finish = [&](std::size_t s, const std::uint8_t* next, vec any) {
    left[s].next = next;
    if (from[s].size < width) any_of_few |= is_any_of_few(from[s]);
    return hn::Or(any, rest_of(from[s], left[s]));
  };
  any_a = finish(0, a, any_a);
  any_b = finish(1, b, any_b);
  if constexpr (streams == 4) any_c = finish(2, c, any_c), any_e = finish(3, e, any_e);
  return any_of_few || is_any(hn::Or(hn::Or(any_a, any_b), hn::Or(any_c, any_e)));
}

/// A zero that no compiler knows.
volatile std::uint8_t nothing = 0;

/// The value of z at `i`. An updated z keeps its bits: exclusive or with zeros.
template <int inputs, bool updates, class D>
HWY_INLINE hn::Vec<D> combined(D d, const std::uint8_t* x, const std::uint8_t* y,
                               const std::uint8_t* z, std::size_t i, std::uint8_t zero) {
  auto all = hn::LoadU(d, x + i);
  if constexpr (inputs == 2) all = hn::Or(all, hn::LoadU(d, y + i));
  if constexpr (updates) {
    all = hn::Xor(hn::And(all, hn::Set(d, zero)), hn::LoadU(d, z + i));
  }
  return all;
}

template <int inputs, bool updates, bool streamed>
HWY_NOINLINE void write(const std::byte* const* from, std::byte* to, std::size_t size) {
  const tag d;
  const std::uint8_t zero = updates ? nothing : std::uint8_t{0};
  const std::uint8_t* const x = bytes(from[0]);
  const std::uint8_t* const y = bytes(from[inputs - 1]);
  auto* const z = reinterpret_cast<std::uint8_t*>(to);
  if (size <= 2 * width) {
    const auto few = [&](auto of, std::size_t i) {
      hn::StoreU(combined<inputs, updates>(of, x, y, z, i, zero), of, z + i);
    };
    if (!in_two(size, few)) {
      for (std::size_t i = 0; i < size; ++i)
        z[i] = updates ? z[i] : static_cast<std::uint8_t>(x[i] | y[i]);
    }
    return;
  }
  const auto one = [&](std::size_t i) { return combined<inputs, updates>(d, x, y, z, i, zero); };
  // Last, so that no load waits for a store that it partly reads.
  const vec head = one(0), tail = one(size - width);
  std::size_t i = before_border(to);
  const auto store = [&](vec v, std::size_t to_byte) {
    if constexpr (streamed) {
      hn::Stream(v, d, z + to_byte);
    } else {
      hn::Store(v, d, z + to_byte);
    }
  };
  for (; i + 4 * width <= size; i += 4 * width) {
    const vec first = one(i), second = one(i + width);
    const vec third = one(i + 2 * width), fourth = one(i + 3 * width);
    store(first, i);
    store(second, i + width);
    store(third, i + 2 * width);
    store(fourth, i + 3 * width);
  }
  for (; i + width <= size; i += width) hn::Store(one(i), d, z + i);
  hn::StoreU(head, d, z);
  hn::StoreU(tail, d, z + size - width);
  if constexpr (streamed) hwy::FlushStream();
}

void write_any(const std::byte* const* from, int inputs, bool updates, bool streamed, std::byte* z,
               std::size_t size) {
  constexpr decltype(&write<1, false, false>) all[2][2][2] = {
      {{write<1, false, false>, write<1, false, true>},
       {write<1, true, false>, write<1, true, true>}},
      {{write<2, false, false>, write<2, false, true>},
       {write<2, true, false>, write<2, true, true>}}};
  all[inputs - 1][updates][streamed](from, z, size);
}

constexpr limit_kernel this_target = {tally::backends::simd::set_of(HWY_TARGET), read<2>, read<4>,
                                      write_any};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench {
namespace {

constexpr const limit_kernel* kernels[] = {
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_SSE4
    &N_SSE4::this_target,
#endif
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_AVX2
    &N_AVX2::this_target,
#endif
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_AVX3
    &N_AVX3::this_target,
#endif
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_NEON
    &N_NEON::this_target,
#endif
    &HWY_NAMESPACE::this_target,
};

}  // namespace

const std::vector<const limit_kernel*>& limit_kernels() {
  static const auto list = [] {
    constexpr auto of_set = tally::backends::simd::by_set(kernels);
    std::vector<const limit_kernel*> found;
    for (const tally::instruction_set set : tally::instruction_sets())
      found.push_back(of_set[static_cast<std::size_t>(set)]);
    return found;
  }();
  return list;
}

}  // namespace bench
#endif
