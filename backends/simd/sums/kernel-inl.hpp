// Common to all sums of simd: loads that convert, a chunk's lanes in vectors, and the order's tree
// over chunks. Compiled once per target, after <hwy/foreach_target.h>.
//
// `Terms` are small values that know their operands. `at(i)`: a vector of terms from element i on,
// or two that are summed side by side; `first(i, count)`: the first `count` of them, then zeros;
// `from(i)`: terms from element i on; `number`: the type of summation; `sum`: the result; `parts`:
// numbers per element. Indices count numbers: a complex element is two.
#include "backends/common/order/reduce_sum.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/operand.hpp>
#include <tally/order.hpp>

#include <algorithm>
#include <complex>
#include <cstring>
#include <utility>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_KERNEL) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_KERNEL
#undef TALLY_BACKENDS_SIMD_KERNEL
#else
#define TALLY_BACKENDS_SIMD_KERNEL
#endif

#include "backends/simd/sums/chunk-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

// --- Many chunks ---------------------------------------------------------------------------------

/// Sums of two nodes, one per stream.
template <class Sum>
struct two_sums {
  Sum near, far;

  friend two_sums operator+(const two_sums& a, const two_sums& b) {
    return {a.near + b.near, a.far + b.far};
  }
};

/// Sums two chunks, `distance` numbers apart, row by row in turn.
template <class Terms>
HWY_INLINE two_sums<sum_of<Terms>> sum_two_chunks(Terms t, std::size_t distance) {
  using all = std::make_index_sequence<vectors<Terms>>;
  vec_of<Terms> near[vectors<Terms>], far[vectors<Terms>];
  const std::size_t head = head_of(t, chunk<Terms>);
  t = t.from(head);
  start(all(), near, t);
  start(all(), far, t.from(distance));
  add_head(near, t, head);
  add_head(far, t.from(distance), head);
  std::size_t i = row<Terms>;
#pragma GCC unroll 1
  for (; i + head <= chunk<Terms> - row<Terms>; i += row<Terms>) {
    add(all(), near, t.from(i));
    add(all(), far, t.from(distance + i));
  }
  if (head > 0) {
    add_tail(near, t.from(i), head);
    add_tail(far, t.from(distance + i), head);
  }
  return {fold<vectors<Terms>, Terms>(near), fold<vectors<Terms>, Terms>(far)};
}

/// Chunks from one stream to the other. Two streams use memory better than one, since prefetchers
/// work within pages: they must be in different pages, and take turns within one. One stream for
/// SSE4's doubles, which exceed the registers, and for AVX-512 (tuning/dot.md: stream).
constexpr std::size_t stream = 64;

/// Returns the root. Compiled once: GCC vectorizes this loop, much code to no avail.
template <class Sum>
HWY_NOINLINE Sum total(const tree<Sum>& nodes) {
  return nodes.total();
}

template <class Terms>
HWY_INLINE sum_of<Terms> sum_two_streams(Terms t) {
  tree<two_sums<sum_of<Terms>>> chunks;
  for (std::size_t i = 0; i < stream * chunk<Terms>; i += chunk<Terms>) {
    chunks.add(sum_two_chunks(t.from(i), stream * chunk<Terms>));
  }
  const auto sums = total(chunks);
  return sums.near + sums.far;
}

template <class Terms>
sum_of<Terms> sum_node(Terms t, std::size_t n);

template <class Terms>
HWY_NOINLINE sum_of<Terms> sum_chunks(Terms t, std::size_t n) {
  tree<sum_of<Terms>> chunks;
  std::size_t i = 0;
  if constexpr (in_registers<typename Terms::number> &&
                vectors<Terms> * side_by_side<Terms> <= registers && !is_avx512) {
    constexpr std::size_t both = 2 * stream * chunk<Terms>;
    for (; i + both <= n; i += both) chunks.add(sum_two_streams(t.from(i)), 2 * stream);
  }
  if constexpr (in_registers<typename Terms::number>) {
    for (; i + chunk<Terms> <= n; i += chunk<Terms>) chunks.add(sum_whole_chunk(t.from(i)));
  }
  for (; i < n; i += chunk<Terms>) {
    chunks.add(sum_node(t.from(i), std::min(chunk<Terms>, n - i)));
  }
  return total(chunks);
}

/// Returns the sum of a node's n numbers; a zero is +0. Never inlined: each kernel is compiled
/// once.
template <class Terms>
HWY_NOINLINE sum_of<Terms> sum_node(Terms t, std::size_t n) {
  return (n <= chunk<Terms> ? sum_only_chunk(t, n) : sum_chunks(t, n)) + sum_of<Terms>{};
}

// --- Elements that are not contiguous ------------------------------------------------------------

template <std::size_t size>
void gather(const void* from, std::ptrdiff_t stride, std::size_t n, std::byte* to) {
  const auto* const bytes = static_cast<const std::byte*>(from);
  // Unrolled: the speed of so short a loop depends on where the linker puts it.
#pragma GCC unroll 4
  for (std::size_t i = 0; i < n; ++i) {
    std::memcpy(to + i * size, bytes + static_cast<std::ptrdiff_t>(i) * stride, size);
  }
}

[[maybe_unused]] void gather(const operand& v, std::byte* to) {
  const std::size_t size = size_of(v.element);
  const std::ptrdiff_t stride = v.increment * static_cast<std::ptrdiff_t>(size);
  switch (size) {
    case 1:
      return gather<1>(v.data, stride, v.size, to);
    case 2:
      return gather<2>(v.data, stride, v.size, to);
    case 4:
      return gather<4>(v.data, stride, v.size, to);
    case 8:
      return gather<8>(v.data, stride, v.size, to);
    default:
      return gather<16>(v.data, stride, v.size, to);
  }
}

/// Calls f(elements, i, n) for each contiguous block of `v`, n elements from i on. Strided elements
/// are gathered in a buffer: small for the stack's sake, but large enough that reads find the
/// stores done, since many small stores are not forwarded to a vector.
template <class F>
void for_each_stretch(const operand& v, const F& f) {
  if (v.increment == 1) return f(v.data, std::size_t{0}, v.size);
  HWY_ALIGN std::byte gathered[4096];
  const std::size_t most = sizeof(gathered) / size_of(v.element);
  for (std::size_t i = 0; i < v.size; i += most) {
    const std::size_t n = std::min(most, v.size - i);
    gather(v.slice(i, n), gathered);
    f(static_cast<const void*>(gathered), i, n);
  }
}

template <class W, class X>
void convert_numbers(const X* from, std::size_t n, W* to) {
  if constexpr (std::is_same_v<X, std::int64_t> && std::is_same_v<W, float>) {
    // Vectorized by the compiler where possible.
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<W>(from[i]);
  } else {
    constexpr tag<W> d;
    std::size_t i = 0;
    for (; i + width<W> <= n; i += width<W>) hn::Store(load<W>(from + i), d, to + i);
    if (i < n) hn::Store(load_first<W>(from + i, n - i), d, to + i);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
