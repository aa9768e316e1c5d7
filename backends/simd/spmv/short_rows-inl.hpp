// Rows of up to `short_row` terms, four at a time.
//
// Promise: sums in the row order.
#include "backends/common/order/row_order.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <algorithm>
#include <array>
#include <limits>

// Per-target include guard.
#if defined(TALLY_BACKENDS_SIMD_SPMV_SHORT_ROWS) == defined(HWY_TARGET_TOGGLE)
#ifdef TALLY_BACKENDS_SIMD_SPMV_SHORT_ROWS
#undef TALLY_BACKENDS_SIMD_SPMV_SHORT_ROWS
#else
#define TALLY_BACKENDS_SIMD_SPMV_SHORT_ROWS
#endif

#include "backends/simd/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

template <class D, class V>
HWY_INLINE hn::Vec<D> load_values(D d, const V* p) {
  using W = hn::TFromD<D>;
  if constexpr (std::is_same_v<W, V> || std::is_same_v<W, float>) {
    return load32(d, p);
  } else {
    return hn::PromoteTo(d, load32(hn::Rebind<float, D>(), p));
  }
}

/// Vectors of at most 4 lanes of a row (tuning/spmv.md: lanes_tag).
template <class W>
using lanes_tag = hn::CappedTag<W, row_order::lanes / 2>;
template <class W>
using lanes_vec = hn::Vec<lanes_tag<W>>;

/// Loads columns in as few loads as possible: they bound a product in the caches (tuning/spmv.md:
/// load_columns).
template <std::size_t count, class I>
HWY_INLINE std::array<std::size_t, count> load_columns(const I* columns) {
  std::array<std::size_t, count> loaded;
  constexpr std::size_t in_word = sizeof(std::uint64_t) / sizeof(I);
  if constexpr (in_word > 1 && count % in_word == 0 && std::endian::native == std::endian::little) {
    for (std::size_t i = 0; i < count; i += in_word) {
      std::uint64_t word;
      std::memcpy(&word, columns + i, sizeof word);
      asm("" : "+r"(word));  // GCC 12 would reload it for each column
      for (std::size_t k = 0; k < in_word; ++k, word >>= 8 * sizeof(I)) {
        loaded[i + k] = static_cast<std::make_unsigned_t<I>>(word);
      }
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) loaded[i] = static_cast<std::size_t>(columns[i]);
  }
  return loaded;
}

template <class D, std::size_t... i>
HWY_INLINE hn::Vec<D> gathered(std::index_sequence<i...>, D, const hn::TFromD<D>* x,
                               const std::array<std::size_t, sizeof...(i)>& columns) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128  // no native vectors
  const hn::TFromD<D> elements[hn::MaxLanes(D())] = {x[columns[i]]...};
  return hn::LoadU(D(), elements);
#else
  return hn::Vec<D>{decltype(hn::Vec<D>::raw){x[columns[i]]...}};
#endif
}

/// Returns `count` elements of x, then zeros.
template <std::size_t count, class D, class I>
HWY_INLINE hn::Vec<D> gathered(D d, const hn::TFromD<D>* x, const I* columns) {
  return gathered(std::make_index_sequence<count>(), d, x, load_columns<count>(columns));
}

/// Whether W has gather instructions that pay. (AVX2's for floats are no wider than these kernels.)
template <class W>
constexpr bool has_gather = is_avx512 || (std::is_same_v<W, double> && HWY_TARGET == HWY_AVX2);

#if HWY_TARGET == HWY_AVX3
template <class W>
using row_tag = hn::CappedTag<W, row_order::lanes>;

/// Returns a mask opaque to the compiler: GCC, knowing that all lanes are set, would not zero the
/// destination, which gathers wait for.
template <class Mask>
HWY_INLINE Mask unknown_mask(Mask mask) {
  asm("" : "+Yk"(mask));
  return mask;
}

/// Gathers under a mask; other lanes are zero. Indices of 32 bits are not widened (tuning/spmv.md:
/// gathered_in).
template <class Indices>
HWY_INLINE hn::Vec<hn::CappedTag<double, 8>> gathered_in(__mmask8 lanes, const double* x,
                                                         Indices indices) {
  if constexpr (sizeof indices.raw == 32) {
    return {_mm512_mask_i32gather_pd(_mm512_setzero_pd(), unknown_mask(lanes), indices.raw, x, 8)};
  } else {
    return {_mm512_mask_i64gather_pd(_mm512_setzero_pd(), unknown_mask(lanes), indices.raw, x, 8)};
  }
}
template <class Indices>
HWY_INLINE hn::Vec<hn::CappedTag<float, 8>> gathered_in(__mmask8 lanes, const float* x,
                                                        Indices indices) {
  if constexpr (sizeof indices.raw == 32) {
    return {_mm256_mmask_i32gather_ps(_mm256_setzero_ps(), unknown_mask(lanes), indices.raw, x, 4)};
  } else {
    return {_mm512_mask_i64gather_ps(_mm256_setzero_ps(), unknown_mask(lanes), indices.raw, x, 4)};
  }
}
#endif

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
/// Gather indices: 32 bits, or an element's size.
template <class D, class I>
using index_tag = std::conditional_t<HWY_TARGET == HWY_AVX3 && sizeof(I) <= 4,
                                     hn::Rebind<std::int32_t, D>, hn::RebindToSigned<D>>;

/// Returns columns as gather indices.
/// @pre None is negative.
template <class D, class I>
HWY_INLINE hn::Vec<index_tag<D, I>> load_indices(const I* columns) {
  constexpr hn::RebindToUnsigned<index_tag<D, I>> wide;
  constexpr std::size_t size = sizeof(hn::TFromD<decltype(wide)>);
  using U = std::make_unsigned_t<I>;
  auto loaded = hn::LoadU(hn::Rebind<U, D>(), reinterpret_cast<const U*>(columns));
  if constexpr (sizeof(I) == size) {
    return hn::BitCast(index_tag<D, I>(), loaded);
  } else if constexpr (2 * sizeof(I) == size) {
    return hn::BitCast(index_tag<D, I>(), hn::PromoteTo(wide, loaded));
  } else {
    const auto half = hn::PromoteTo(hn::Rebind<std::uint32_t, D>(), loaded);
    return hn::BitCast(index_tag<D, I>(), hn::PromoteTo(wide, half));
  }
}
#endif

/// Gathers by instructions where they suit I and pay (tuning/spmv.md: gathered_at_once).
template <class D, class I>
HWY_INLINE hn::Vec<D> gathered_at_once(D d, const hn::TFromD<D>* x, const I* columns) {
  constexpr std::size_t lanes = hn::MaxLanes(d);
#if HWY_TARGET == HWY_AVX2
  if constexpr (sizeof(I) >= 4 && sizeof(I) <= sizeof(hn::TFromD<D>)) {
    return hn::GatherIndex(d, x, load_indices<D>(columns));
  }
#elif HWY_TARGET == HWY_AVX3
  if constexpr (lanes == 8) return gathered_in(0xff, x, load_indices<D>(columns));
  if constexpr (lanes == 16 && sizeof(I) <= 4) {
    return {_mm512_mask_i32gather_ps(_mm512_setzero_ps(), unknown_mask<__mmask16>(0xffff),
                                     load_indices<D>(columns).raw, x, 4)};
  }
#endif
  return gathered<lanes>(d, x, columns);
}

#if HWY_TARGET == HWY_AVX3
/// Loads the first n <= 8 values, then zeros.
template <class W, class V>
HWY_INLINE hn::Vec<row_tag<W>> load_first_values(const V* p, std::size_t n) {
  constexpr hn::Rebind<V, row_tag<W>> d;
  const auto values = hn::MaskedLoad(hn::FirstN(d, n), d, p);
  if constexpr (std::is_same_v<W, V>) {
    return values;
  } else {
    return hn::PromoteTo(row_tag<W>(), values);
  }
}
#endif

/// Masks: all bits set for 8 lanes, then none for 8.
template <class W>
alignas(64) constexpr auto first_lanes = []() {
  std::array<hwy::UnsignedFromSize<sizeof(W)>, 2 * row_order::lanes> bits{};
  for (std::size_t l = 0; l < row_order::lanes; ++l) bits[l] = ~bits[l];
  return bits;
}();

/// Prefetch distance in terms for matrices of more than `near_bytes`, a guess of the caches' size
/// (tuning/spmv.md: ahead).
constexpr std::size_t ahead = 256;
constexpr std::size_t near_bytes = std::size_t{1} << 24;

/// Bytes of an x of doubles above which rows of more than 8 terms use gather instructions; fast
/// ones serve every x, and rows of 7 and 8 terms (tuning/spmv.md: near_x).
constexpr std::size_t near_x = std::size_t{1} << 20;

/// Rows summed before lengths are looked at again (tuning/spmv.md: rows_of_one_kind).
constexpr std::size_t rows_of_one_kind = 256;
constexpr std::size_t rows_of_any_length = 64;

/// Returns the first `count` terms from i on, at most a vector, then zeros; reads no others.
template <class W, class Terms>
HWY_INLINE vec<W> first_terms(const Terms& terms, std::size_t i, std::size_t count) {
  if (count >= width<W>) return terms.at(i);
  HWY_ALIGN W some[width<W>] = {};
  for (std::size_t k = 0; k < count; ++k) some[k] = terms.term(i + k);
  return hn::Load(tag<W>(), some);
}

template <class W, class V, class I, bool gathers = false>
struct row_terms {
  using number = W;
  using sum = W;
  static constexpr std::size_t parts = 1;
  static constexpr bool can_align = false;
  static constexpr bool at_once = gathers;
  static constexpr std::size_t bytes = sizeof(V) + sizeof(I);  ///< of a term
  const V* values;
  const I* columns;
  const W* x;

  HWY_INLINE W term(std::size_t i) const { return static_cast<W>(values[i]) * x[columns[i]]; }
  /// Returns a vector of terms; only the first `count` are meaningful.
  template <std::size_t count, class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t i) const {
    if constexpr (gathers && count == hn::MaxLanes(d)) {
      return hn::Mul(load_values(d, values + i), gathered_at_once(d, x, columns + i));
    } else {
      return hn::Mul(load_values(d, values + i), gathered<count>(d, x, columns + i));
    }
  }
  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t i) const {
    return at<hn::MaxLanes(d)>(d, i);
  }
  HWY_INLINE vec<W> at(std::size_t i) const { return at(tag<W>(), i); }
  /// Returns the first `count` terms from i on, at most a vector, then zeros; reads no others.
  HWY_INLINE vec<W> first(std::size_t i, std::size_t count) const {
    return first_terms<W>(*this, i, count);
  }
#if HWY_TARGET == HWY_AVX3
  /// Returns the first n <= 8 terms, then zeros.
  HWY_INLINE hn::Vec<row_tag<W>> first(std::size_t n) const {
    const auto indices = hn::LoadU(hn::CappedTag<I, row_order::lanes>(), columns);
    const auto lanes = hn::FirstN(row_tag<W>(), n);
    return hn::Mul(load_first_values<W>(values, n), gathered_in(lanes.raw, x, indices));
  }
#endif
  HWY_INLINE void prefetch(std::size_t i) const {
    hwy::Prefetch(values + ahead + i);
    hwy::Prefetch(columns + ahead + i);
  }
  HWY_INLINE row_terms from(std::size_t i) const { return {values + i, columns + i, x}; }
  template <bool by_instructions>
  HWY_INLINE row_terms<W, V, I, by_instructions> gathered_so() const {
    return {values, columns, x};
  }
};

/// The values alone.
template <class W, class V, bool gathers>
struct row_terms<W, V, void, gathers> {
  using number = W;
  using sum = W;
  static constexpr std::size_t parts = 1;
  static constexpr bool can_align = false;
  static constexpr bool at_once = gathers;
  static constexpr std::size_t bytes = sizeof(V);
  const V* values;

  HWY_INLINE W term(std::size_t i) const { return static_cast<W>(values[i]); }
  template <std::size_t count, class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t i) const {
    return load_values(d, values + i);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t i) const {
    return load_values(d, values + i);
  }
  HWY_INLINE vec<W> at(std::size_t i) const { return at(tag<W>(), i); }
  HWY_INLINE vec<W> first(std::size_t i, std::size_t count) const {
    return first_terms<W>(*this, i, count);
  }
#if HWY_TARGET == HWY_AVX3
  HWY_INLINE hn::Vec<row_tag<W>> first(std::size_t n) const {
    return load_first_values<W>(values, n);
  }
#endif
  HWY_INLINE void prefetch(std::size_t i) const { hwy::Prefetch(values + ahead + i); }
  HWY_INLINE row_terms from(std::size_t i) const { return {values + i}; }
  template <bool at_once>
  HWY_INLINE row_terms<W, V, void, at_once> gathered_so() const {
    return {values};
  }
};

// --- Short rows ----------------------------------------------------------------------------------
//
// Braces make four rows be summed in memory order, which prefetchers follow: GCC evaluates
// arguments from the last on (tuning/spmv.md: order of four rows). Index sequences are expanded in
// functions: GCC may leave lambdas out of line.

/// Returns lane[v] + lane[v + half], if there is one.
template <std::size_t half, std::size_t count, std::size_t v, class V>
HWY_INLINE V with_other_half(const V* lane) {
  if constexpr (v + half < count) {
    return hn::Add(lane[v], lane[v + half]);
  } else {
    return lane[v];
  }
}

template <std::size_t half, std::size_t count, class V, std::size_t... v>
HWY_INLINE V fold_halves(std::index_sequence<v...>, const V* lane) {
  if constexpr (half == 0) {
    return lane[0];
  } else if constexpr (count <= half) {
    return fold_halves<half / 2, count>(std::make_index_sequence<half / 2>(), lane);
  } else {
    const V sums[] = {with_other_half<half, count, v>(lane)...};
    return fold_halves<half / 2, half>(std::make_index_sequence<half / 2>(), sums);
  }
}

template <class W, std::size_t count>
HWY_INLINE lanes_vec<W> fold_vectors(const lanes_vec<W>* lane) {
  constexpr std::size_t half = row_order::lanes / 2 / hn::MaxLanes(lanes_tag<W>());
  return fold_halves<half, count>(std::make_index_sequence<half>(), lane);
}

/// Returns v, which holds lanes l, l + 1, ..., with zeros from lane n <= 8 on.
template <class W>
HWY_INLINE lanes_vec<W> only_first(std::size_t n, std::size_t l, lanes_vec<W> v) {
  constexpr lanes_tag<W> d;
  constexpr hn::RebindToUnsigned<lanes_tag<W>> bits;
  const auto mask = hn::LoadU(bits, first_lanes<W>.data() + row_order::lanes - n + l);
  return hn::And(hn::BitCast(d, mask), v);
}

/// Folds four rows' vectors and stores the sums. Lanes start as their first term: a sum may be -0
/// until 0 is added.
template <class W>
HWY_INLINE void store_sums(const lanes_vec<W>* rows, W* sums) {
  constexpr lanes_tag<W> d;
  const auto store = [&](lanes_vec<W> v, W* to) HWY_ATTR {
    v = hn::Add(v, hn::Zero(d));
    const auto nan = hn::Set(d, std::numeric_limits<W>::quiet_NaN());
    hn::StoreU(hn::IfThenElse(hn::Eq(v, v), v, nan), d, to);
  };
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t r = 0; r < 4; ++r) store(rows[r], sums + r);
#else
  if constexpr (hn::MaxLanes(d) == 2) {
    const auto both = [&](lanes_vec<W> a, lanes_vec<W> b) HWY_ATTR {
      return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
    };
    store(both(rows[0], rows[1]), sums);
    store(both(rows[2], rows[3]), sums + 2);
  } else {
    const auto halved = [&](lanes_vec<W> a, lanes_vec<W> b) HWY_ATTR {
      return hn::Add(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a));
    };
    if constexpr (sizeof(W) == 8) {  // halves are blocks of two lanes
      const auto a = halved(rows[0], rows[2]), b = halved(rows[1], rows[3]);
      store(hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)), sums);
    } else {
      const auto a = halved(rows[0], rows[1]), b = halved(rows[2], rows[3]);
      store(hn::Add(hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a)), sums);
    }
  }
#endif
}

/// Folds a row of n terms, one per lane. Reads `max_terms` terms.
template <std::size_t max_terms, class Terms, std::size_t... v>
HWY_INLINE lanes_vec<typename Terms::number> sum_lane_each(std::index_sequence<v...>, Terms t,
                                                           std::size_t n) {
  using W = typename Terms::number;
  constexpr lanes_tag<W> d;
  constexpr std::size_t w = hn::MaxLanes(d);
  const lanes_vec<W> lane[] = {
      only_first<W>(n, v * w, t.template at<std::min(w, max_terms - v * w)>(d, v * w))...};
  return fold_vectors<W, sizeof...(v)>(lane);
}

template <std::size_t max_terms, class Terms>
HWY_INLINE lanes_vec<typename Terms::number> sum_lane_each(Terms t, std::size_t n) {
  constexpr std::size_t w = hn::MaxLanes(lanes_tag<typename Terms::number>());
  return sum_lane_each<max_terms>(std::make_index_sequence<(max_terms + w - 1) / w>(), t, n);
}

/// Folds a row of more than 8 terms.
template <class Terms, std::size_t... v>
HWY_INLINE lanes_vec<typename Terms::number> sum_in_lanes(std::index_sequence<v...>, Terms t,
                                                          std::size_t n, bool far) {
  using W = typename Terms::number;
  constexpr lanes_tag<W> d;
  constexpr std::size_t w = hn::MaxLanes(d);
  constexpr std::size_t lanes = row_order::lanes;
  lanes_vec<W> lane[] = {t.at(d, v * w)...};
  // Not unrolled: a prefetcher follows few load instructions.
#pragma GCC unroll 1
  for (t = t.from(lanes), n -= lanes; n > lanes; t = t.from(lanes), n -= lanes) {
    if (far) t.prefetch(0);
    ((lane[v] = hn::Add(lane[v], t.at(d, v * w))), ...);
  }
  if (far) t.prefetch(0);
  ((v * w < n ? void(lane[v] = hn::Add(lane[v], only_first<W>(n, v * w, t.at(d, v * w)))) : void()),
   ...);
  return fold_vectors<W, sizeof...(v)>(lane);
}

#if HWY_TARGET == HWY_AVX3
/// Folds a row with all lanes in one vector, gathered at once: only the loop's branch depends on n.
template <class Terms>
HWY_INLINE lanes_vec<typename Terms::number> sum_in_one_vector(Terms t, std::size_t n, bool far) {
  constexpr std::size_t lanes = row_order::lanes;
  constexpr row_tag<typename Terms::number> d;
  auto lane = hn::Zero(d);
#pragma GCC unroll 1
  for (; n > lanes; t = t.from(lanes), n -= lanes) {
    if (far) t.prefetch(0);
    lane = hn::Add(lane, t.first(lanes));
  }
  if (far) t.prefetch(0);
  lane = hn::Add(lane, t.first(n));
  return hn::Add(hn::LowerHalf(lane), hn::UpperHalf(hn::Half<decltype(d)>(), lane));
}
#endif

/// May read past the row's end, to the end of a block of 8 terms.
template <class Terms>
HWY_INLINE lanes_vec<typename Terms::number> sum_in_lanes(Terms t, std::size_t n, bool far) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (Terms::at_once) return sum_in_one_vector(t, n, far);
#endif
  constexpr std::size_t w = hn::MaxLanes(lanes_tag<typename Terms::number>());
  if (far) t.prefetch(0);
  if (n <= row_order::lanes) return sum_lane_each<row_order::lanes>(t, n);
  return sum_in_lanes(std::make_index_sequence<row_order::lanes / w>(), t, n, far);
}

HWY_INLINE std::size_t longest_of_four(const std::int64_t* offsets) {
  const auto length = [&](std::size_t r) HWY_ATTR {
    return static_cast<std::size_t>(offsets[r + 1] - offsets[r]);
  };
  return std::max(std::max(length(0), length(1)), std::max(length(2), length(3)));
}

template <std::size_t max_terms, class Terms>
HWY_INLINE lanes_vec<typename Terms::number> sum_row_up_to(Terms all, const std::int64_t* offsets) {
  const auto begin = static_cast<std::size_t>(offsets[0]);
  return sum_lane_each<max_terms>(all.from(begin), static_cast<std::size_t>(offsets[1]) - begin);
}

template <std::size_t max_terms, class W, class V, class I>
HWY_INLINE void sum_four_rows_up_to(const row_terms<W, V, I> all, const std::int64_t* offsets,
                                    bool far, W* sums) {
  if (far) {
    const auto terms = all.from(static_cast<std::size_t>(offsets[0]));
    for (std::size_t k = 0; k < 4 * max_terms; k += 8) terms.prefetch(k);
  }
  const lanes_vec<W> rows[] = {
      sum_row_up_to<max_terms>(all, offsets), sum_row_up_to<max_terms>(all, offsets + 1),
      sum_row_up_to<max_terms>(all, offsets + 2), sum_row_up_to<max_terms>(all, offsets + 3)};
  store_sums<W>(rows, sums);
}

/// Sums four rows at a time while none has more than `max_terms` terms, the first four always.
/// Returns their number.
template <std::size_t max_terms, class W, class V, class I>
HWY_NOINLINE std::size_t sum_rows_up_to(const row_terms<W, V, I> all, const std::int64_t* offsets,
                                        std::size_t n, bool far, W* sums) {
  std::size_t i = 0;
  do {
    sum_four_rows_up_to<max_terms>(all, offsets + i, far, sums + i);
    i += 4;
  } while (i + 4 <= n && longest_of_four(offsets + i) <= max_terms);
  return i;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#endif
