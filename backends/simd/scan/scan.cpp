// The scans on one thread.
//
// Sums of 1, 2, ... 1024 terms of a chunk, side by side. Term i changes one lane, i % 64, and of
// each step of the fold one sum, that of the lane and its partner, which term i - 32 has changed
// last; and so on. So with lane(i) = lane(i - 64) + t_i the sums are shifted vectors added:
// a(i) = lane(i) + lane(i - 32), b(i) = a(i) + a(i - 16), ... down to a shift of 1.
#include "backends/simd/scan/scan.hpp"
#include "backends/simd/simd.hpp"

#include "backends/common/floating_point_environment.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/simd/level_one.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#ifndef TALLY_BACKENDS_SIMD_SCAN_CPP  // once per target
#define TALLY_BACKENDS_SIMD_SCAN_CPP
namespace tally::backends::simd {
namespace {

struct implementation {
  instruction_set set;
  std::tuple<scan_part<std::int64_t>*, scan_part<float>*, scan_part<double>*> parts;
  void (*add_level_one)(detail::level_one_kernels& to);
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/scan/scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/sums/numbers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// Returns the vector that lies `shift` numbers before `second`, which follows `first`.
template <std::size_t shift, class W>
HWY_INLINE vec<W> before(vec<W> first, vec<W> second) {
  constexpr tag<W> d;
  constexpr std::size_t bytes = width<W> * sizeof(W);
  static_assert(shift < width<W>);
  if constexpr (bytes == 64) {
#if HWY_TARGET == HWY_AVX3
    constexpr tag<std::conditional_t<sizeof(W) == 8, std::int64_t, std::int32_t>> di;
    const auto a = hn::BitCast(di, second), b = hn::BitCast(di, first);
    if constexpr (sizeof(W) == 8) {
      return hn::BitCast(
          d, vec<std::int64_t>{_mm512_alignr_epi64(a.raw, b.raw, static_cast<int>(8 - shift))});
    } else {
      return hn::BitCast(
          d, vec<std::int32_t>{_mm512_alignr_epi32(a.raw, b.raw, static_cast<int>(16 - shift))});
    }
#endif
  } else if constexpr (bytes == 32) {
#if HWY_TARGET == HWY_AVX2
    const auto middle = hn::ConcatLowerUpper(d, second, first);
    if constexpr (shift == width<W> / 2) {
      return middle;
    } else {
      return hn::CombineShiftRightBytes<16 - shift * sizeof(W)>(d, second, middle);
    }
#endif
  } else {
#if HWY_TARGET != HWY_SCALAR
    return hn::CombineShiftRightBytes<16 - shift * sizeof(W)>(d, second, first);
#endif
  }
}

/// Vectors of a row of lanes, and those that are computed side by side.
template <class W>
constexpr std::size_t vectors_of_row = order::lanes / width<W>;
template <class W>
constexpr std::size_t vectors_of_block = std::min<std::size_t>(vectors_of_row<W>, 8);

/// The last vectors of the lanes, and of each step of the fold but the last.
template <class W>
struct growing_sums {
  vec<W> lanes[vectors_of_row<W>];
  vec<W> of_step[5][std::max<std::size_t>(16 / width<W>, 1)];

  HWY_INLINE growing_sums() {
    const auto zero = hn::Zero(tag<W>());
    for (auto& v : lanes) v = zero;
    for (auto& step : of_step) {
      for (auto& v : step) v = zero;
    }
  }

  /// The fold's step by `shift` of vector j of a row.
  template <std::size_t j, std::size_t shift, std::size_t step>
  HWY_INLINE vec<W> fold_by(vec<W> sum) {
    if constexpr (shift >= width<W>) {
      vec<W>& last = of_step[step][j % (shift / width<W>)];
      const vec<W> partner = last;
      last = sum;
      return hn::Add(sum, partner);
    } else {
      vec<W>& last = of_step[step][0];
      const vec<W> partner = before<shift, W>(last, sum);
      last = sum;
      return hn::Add(sum, partner);
    }
  }

  /// Sums up to each term of vector j of a row.
  template <std::size_t j>
  HWY_INLINE vec<W> add(vec<W> terms) {
    constexpr std::size_t n = vectors_of_row<W>;
    lanes[j] = hn::Add(lanes[j], terms);
    vec<W> sum = hn::Add(lanes[j], lanes[(j + n / 2) % n]);
    sum = fold_by<j, 16, 0>(sum);
    sum = fold_by<j, 8, 1>(sum);
    sum = fold_by<j, 4, 2>(sum);
    sum = fold_by<j, 2, 3>(sum);
    return fold_by<j, 1, 4>(sum);
  }
};

/// The one NaN for any.
template <class W>
HWY_INLINE vec<W> canonical_vector(vec<W> v) {
  return hn::IfThenElse(hn::Eq(v, v), v, hn::Set(tag<W>(), quiet_nan<W>));
}

/// Vectors `first` + i ... of a row; returns the last of them without the nodes before.
template <std::size_t first, class W, std::size_t... i>
HWY_INLINE vec<W> scan_block(std::index_sequence<i...>, growing_sums<W>& sums, const W* terms,
                             const scan_nodes<W>& nodes, W* to) {
  constexpr tag<W> d;
  vec<W> v[sizeof...(i)];
  ((v[i] = sums.template add<first + i>(hn::LoadU(d, terms + (first + i) * width<W>))), ...);
  const vec<W> last = v[sizeof...(i) - 1];
  for (int k = nodes.count; k-- > 0;) {
    const auto node = hn::Set(d, nodes.held[k]);
    ((v[i] = hn::Add(node, v[i])), ...);
  }
  (hn::StoreU(canonical_vector<W>(v[i]), d, to + (first + i) * width<W>), ...);
  return last;
}

/// Writes a row's sums; returns the last vector without the nodes before.
template <class W, std::size_t first = 0>
HWY_INLINE vec<W> scan_row(growing_sums<W>& sums, const W* terms, const scan_nodes<W>& nodes,
                           W* to) {
  constexpr std::size_t count = vectors_of_block<W>;
  const auto last = scan_block<first>(std::make_index_sequence<count>(), sums, terms, nodes, to);
  if constexpr (first + count < vectors_of_row<W>) {
    return scan_row<W, first + count>(sums, terms, nodes, to);
  } else {
    return last;
  }
}

/// Writes `count` sums of the first n terms of a row, from vector j on; returns the last vector
/// without the nodes before.
template <std::size_t j, class W>
HWY_INLINE vec<W> scan_part_of_row(growing_sums<W>& sums, const W* terms, std::size_t n,
                                   std::size_t count, const scan_nodes<W>& nodes, W* to) {
  constexpr tag<W> d;
  constexpr std::size_t first = j * width<W>, end = first + width<W>;
  const auto last = sums.template add<j>(load_first<W>(terms + first, n - first));
  auto v = last;
  for (int k = nodes.count; k-- > 0;) v = hn::Add(hn::Set(d, nodes.held[k]), v);
  v = canonical_vector<W>(v);
  if (count >= end) {
    hn::StoreU(v, d, to + first);
  } else {
    HWY_ALIGN W some[width<W>];
    hn::Store(v, d, some);
    std::copy_n(some, count - first, to + first);
  }
  if constexpr (j + 1 < vectors_of_row<W>) {
    if (n > end) return scan_part_of_row<j + 1>(sums, terms, n, count, nodes, to);
  }
  return last;
}

/// The same of all vectors that have terms. Long rows of narrow vectors are padded, which compiles
/// in less time.
template <class W>
HWY_INLINE vec<W> scan_rest(growing_sums<W>& sums, const W* terms, std::size_t n, std::size_t count,
                            const scan_nodes<W>& nodes, W* to) {
  if constexpr (vectors_of_row<W> <= 8) {
    return scan_part_of_row<0>(sums, terms, n, count, nodes, to);
  } else {
    HWY_ALIGN W padded[order::lanes], scanned[order::lanes];
    for (std::size_t i = 0; i < order::lanes; i += width<W>) {
      hn::Store(load_first<W>(terms + i, n > i ? n - i : 0), tag<W>(), padded + i);
    }
    const auto last = scan_row(sums, padded, nodes, scanned);
    std::copy_n(scanned, count, to);
    return last;
  }
}

/// Scans a chunk's n terms, and returns their sum if all 1024 are there. `to` is `terms`, if
/// inclusive, or apart.
template <class W>
HWY_NOINLINE W scan_chunk(const W* terms, std::size_t n, bool exclusive, const scan_nodes<W>& nodes,
                          W* to) {
  constexpr std::size_t row = order::lanes;
  growing_sums<W> sums;
  auto last = hn::Zero(tag<W>());
  if (exclusive) *to++ = canonical(nodes.with(W{}));
  // A row's last sum may be past the end.
  const std::size_t whole = (n - exclusive) / row * row;
  for (std::size_t i = 0; i < whole; i += row) last = scan_row(sums, terms + i, nodes, to + i);
  if (const std::size_t rest = n - whole; rest > 0) {
    last = scan_rest(sums, terms + whole, rest, rest - exclusive, nodes, to + whole);
  }
  HWY_ALIGN W all[width<W>];
  hn::Store(last, tag<W>(), all);
  return all[width<W> - 1];
}

/// The same of integers, in any order, after `sum`. Returns the sum of all.
template <class X>
std::uint64_t scan_integers(const X* terms, std::size_t n, bool exclusive, std::uint64_t sum,
                            std::uint64_t* to) {
  std::size_t i = 0;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  using W = std::uint64_t;
  constexpr tag<W> d;
  constexpr std::size_t w = width<W>;
  std::int64_t indices[w];
  std::fill_n(indices, w, std::int64_t{w - 1});
  const auto last = hn::SetTableIndices(d, indices);
  const auto zero = hn::Zero(d);
  auto sums = hn::Set(d, sum);
  for (; i + w <= n; i += w) {
    const auto t = load<W>(terms + i);
    auto v = hn::Add(t, before<1, W>(zero, t));
    v = hn::Add(v, before<2, W>(zero, v));
    if constexpr (w > 4) v = hn::Add(v, before<4 % w, W>(zero, v));
    hn::StoreU(hn::Add(sums, exclusive ? hn::Sub(v, t) : v), d, to + i);
    sums = hn::Add(sums, hn::TableLookupLanes(v, last));
  }
  sum = hn::GetLane(sums);
#endif
  for (; i < n; ++i) {
    const auto term = static_cast<std::uint64_t>(static_cast<std::int64_t>(terms[i]));
    sum += term;
    to[i] = exclusive ? sum - term : sum;
  }
  return sum;
}

template <class X>
void scan_contiguous(const X* terms, std::size_t n, bool exclusive, scan_nodes<std::int64_t>& nodes,
                     std::int64_t* to) {
  const auto start = static_cast<std::uint64_t>(nodes.with(0));
  auto sum = start;
  for (std::size_t i = 0; i < n; i += order::chunk) {
    const std::size_t count = std::min(order::chunk, n - i);
    const std::uint64_t before_chunk = sum;
    sum = scan_integers(terms + i, count, exclusive, sum, reinterpret_cast<std::uint64_t*>(to) + i);
    nodes.take(static_cast<std::int64_t>(sum - before_chunk));
  }
}

template <class R>
void scan_numbers(const operand& x, const output_operand& y, bool exclusive, scan_nodes<R>& nodes) {
  if constexpr (std::is_integral_v<R>) {
    if (x.increment == 1 && y.increment == 1) {
      return with_type<integer_types>(x.element, [&]<class X>() {
        scan_contiguous(static_cast<const detail::stored_t<X>*>(x.data), x.size, exclusive, nodes,
                        static_cast<R*>(y.data));
      });
    }
  }
  buffer<R> terms, sums;
  for (std::size_t first = 0; first < x.size; first += order::chunk) {
    const std::size_t n = std::min(order::chunk, x.size - first);
    auto* const to = static_cast<R*>(y.data) + static_cast<std::ptrdiff_t>(first) * y.increment;
    const auto* from = reinterpret_cast<const R*>(fetch<R>(x.slice(first, n), terms));
    const bool direct = y.increment == 1 && !(exclusive && from == to);
    R* const scanned = direct ? to : reinterpret_cast<R*>(sums.numbers);
    if constexpr (std::is_integral_v<R>) {
      scan_contiguous(from, n, exclusive, nodes, scanned);
    } else {
      nodes.take(scan_chunk(from, n, exclusive, nodes, scanned));
    }
    if (direct) continue;
    if (y.increment == 1) {
      std::copy_n(scanned, n, to);
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        to[static_cast<std::ptrdiff_t>(i) * y.increment] = scanned[i];
      }
    }
  }
}

template <class R, bool exclusive>
void scan_from_start(const R* x, R* y, std::size_t n) {
  scan_nodes<R> nodes;
  if constexpr (std::is_integral_v<R>) {
    scan_integers(x, n, exclusive, 0, reinterpret_cast<std::uint64_t*>(y));
  } else {
    const default_environment environment;
    for (std::size_t i = 0; i < n; i += order::chunk) {
      nodes.take(scan_chunk(x + i, std::min(order::chunk, n - i), exclusive, nodes, y + i));
    }
  }
}

void add_level_one(detail::level_one_kernels& to) {
  const auto add = []<class R>(detail::level_one_scans<R>& kernels) {
    kernels.inclusive = &scan_from_start<R, false>;
    kernels.exclusive = &scan_from_start<R, true>;
  };
  add.operator()<float>(to);
  add.operator()<double>(to);
  add.operator()<std::int64_t>(to);
}

}  // namespace

constexpr implementation this_target = {
    set_of(HWY_TARGET),
    {&scan_numbers<std::int64_t>, &scan_numbers<float>, &scan_numbers<double>},
    &add_level_one};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {

template <class R>
scan_part<R>* scan_part_of(instruction_set set) {
  return std::get<scan_part<R>*>(implementation_of(set).parts);
}

void add_scans(instruction_set set, detail::level_one_kernels& to) {
  implementation_of(widest(set)).add_level_one(to);
}

void backend::scan(const executor& where, const scan_arguments& a) const {
  with_type<real_accumulator_types>(part_of(a.y.element), [&]<class R>() {
    auto* const scan = scan_part_of<R>(for_arithmetic(where));
    scan_components<R>(a, [&](const operand& x, const output_operand& y, auto& nodes) {
      scan(x, y, a.exclusive, nodes);
    });
  });
}

// For the openmp backend.
template scan_part<std::int64_t>* scan_part_of<std::int64_t>(instruction_set);
template scan_part<float>* scan_part_of<float>(instruction_set);
template scan_part<double>* scan_part_of<double>(instruction_set);

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
