// fill and swap on one thread, in vectors of bytes.
#include "backends/simd/elementwise/transform.hpp"
#include "backends/simd/simd.hpp"

#include "backends/common/elementwise/moves.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <cstring>

#ifndef TALLY_BACKENDS_SIMD_MOVES_CPP  // once per target
#define TALLY_BACKENDS_SIMD_MOVES_CPP
namespace tally::backends::simd {
namespace {

struct implementation {
  instruction_set set;
  fill_node* fill;
  swap_node* swap;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/elementwise/moves.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::ScalableTag<std::uint8_t> bytes;
constexpr std::size_t width = hn::MaxLanes(bytes);

void fill(const element_bytes& value, const output_operand& z, bool past_caches) {
  // Scalar targets have vectors of one byte.
  if (z.increment != 1 || width < sizeof value) return fill_bits(value, z);
  const std::size_t size = size_of(z.element);
  std::uint8_t pattern[2 * width];
  for (std::size_t i = 0; i < sizeof pattern; ++i) {
    pattern[i] = static_cast<std::uint8_t>(value.bytes[i % size]);
  }
  auto* to = static_cast<std::uint8_t*>(z.data);
  std::size_t n = z.size * size;
  // Vectors are aligned, so may start inside an element.
  const std::size_t head = std::min(n, -reinterpret_cast<std::uintptr_t>(to) % width);
  std::memcpy(to, pattern, head);
  to += head, n -= head;
  const auto v = hn::LoadU(bytes, pattern + head);
  std::uint8_t* const end = to + n / width * width;
  if (past_caches) {
    for (; to < end; to += width) hn::Stream(v, bytes, to);
    hwy::FlushStream();
  } else {
    for (; to < end; to += width) hn::Store(v, bytes, to);
  }
  std::memcpy(to, pattern + head, n % width);
}

void swap(const output_operand& x, const output_operand& y) {
  if (x.increment != 1 || y.increment != 1) return swap_bits(x, y);
  auto* const first = static_cast<std::uint8_t*>(x.data);
  auto* const second = static_cast<std::uint8_t*>(y.data);
  const std::size_t n = x.size * size_of(x.element);
  std::size_t i = 0;
  for (; i + width <= n; i += width) {
    const auto held = hn::LoadU(bytes, first + i);
    hn::StoreU(hn::LoadU(bytes, second + i), bytes, first + i);
    hn::StoreU(held, bytes, second + i);
  }
  std::swap_ranges(first + i, first + n, second + i);
}

}  // namespace

constexpr implementation this_target = {set_of(HWY_TARGET), &fill, &swap};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {

fill_node* fill_node_of(instruction_set set) { return implementation_of(set).fill; }
swap_node* swap_node_of(instruction_set set) { return implementation_of(set).swap; }

bool goes_past_caches(const output_operand& z) {
  return z.size * size_of(z.element) >= past_caches_from;
}

void backend::fill(const executor& where, const element_bytes& value,
                   const output_operand& z) const {
  fill_node_of(where.instructions())(value, z, goes_past_caches(z));
}

void backend::swap(const executor& where, const output_operand& x, const output_operand& y) const {
  swap_node_of(where.instructions())(x, y);
}

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
