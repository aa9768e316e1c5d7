// Histograms: bincount counts integer keys, histogram_even samples in bins of equal width,
// histogram_range samples in bins between given edges; with weights the three add these up.
//
// Promise: counts are exact, and sums of weights correctly rounded: the exact real sum of a bin's
// weights, rounded once to nearest even. So both depend on the values alone, and they are the same
// on every executor.
//
// Bins are half-open, the last one is closed: sample x is in bin i if edge_i <= x < edge_(i+1), in
// the last bin also if x = edge_bins. (NumPy's rule.) The comparison is that of the real numbers,
// for every type of sample and edge; no quotient decides. The edges are
//
//   bincount         the integers: key i is in bin i
//   histogram_range  those given, of any real type
//   histogram_even   of integer samples with integer bounds, the real numbers
//                    lower + i (upper - lower) / bins, not rounded; otherwise, in double, those
//                    that NumPy makes for float64 samples: i * width + lower,
//                    width = (upper - lower) / bins, each operation rounded, and edge_bins = upper.
//                    Where upper - lower overflows, upper and lower are halved and the edges
//                    doubled; where the width underflows see docs/numerics.md.
//
// Samples outside all bins, and NaNs, are not counted, but apart if asked for
// (`histogram_options::outside`). For bincount alone a key outside is an error unless they are
// asked for.
//
// Counts are integers of 32 or 64 bits, one a bin, contiguous. They hold the number of samples, or
// with `histogram_options::add` what they held before and that. Of 32 bits there may be at most
// 2^31 - 1 samples, so what is counted always fits. Sums with what was there are taken modulo 2^32
// (2^64): a sum too large for the type is negative, which as an unsigned number is right; it is
// never a smaller count, as long as what was there is not negative.
//
// Channels: with `histogram_options::channels` = c samples are interleaved, sample i belongs to
// channel i mod c, each channel has its own `bins` counts, those of channel 0 first.
//
// Where they run: on the CPU backends a call returns when the counts are written. On CUDA it
// returns once the work is queued on the executor's stream, as for the forms of `dot` that write
// their result, and may be captured in a graph; but `bincount` without `outside` waits, since it
// must know whether all keys had a bin.
//
// Errors (tally::error), before anything is written: null_pointer (with elements to point at);
// zero_increment; misaligned; unsupported_type; size_mismatch, also for samples that are no
// multiple of the channels; invalid_argument: no bins or more than 2^31 - 1 counts, no channels or
// more than 65536, too many samples, bounds not finite or not lower < upper, edges that decrease or
// are NaN; overlap, if counts or `outside` share memory with an input or each other; wrong_memory
// if the executor can't reach samples, weights, counts or `outside`, or the host edges;
// device_failure. And key_out_of_range of `bincount`: on the CPU backends nothing is written; on a
// device the counts are those of the keys in range.
#pragma once

#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/transform.hpp>
#include <tally/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <type_traits>

namespace tally {

/// How many samples of one channel were in no bin.
struct outside_counts {
  std::int64_t below = 0;  ///< less than the first edge
  std::int64_t above = 0;  ///< greater than the last
  std::int64_t nan = 0;    ///< NaNs

  /// Whether all three are equal.
  friend bool operator==(const outside_counts&, const outside_counts&) = default;
};

/// What a histogram may be asked for besides.
struct histogram_options {
  /// Counts (sums of weights, `outside`) are added to what is there; otherwise overwritten.
  bool add = false;
  /// Samples are interleaved: so many histograms at once.
  std::size_t channels = 1;
  /// One for each channel, where the executor can write; null: not counted.
  outside_counts* outside = nullptr;
};

/// What the bins are.
enum class binning : std::uint8_t { keys, even, edges };

/// What a histogram is asked for, its types erased. Element types are checked at run time.
struct histogram_arguments {
  binning what = binning::keys;  ///< which of the three functions
  operand x;                     ///< keys or samples
  bool weighted = false;         ///< whether weights are added up
  operand weights;               ///< float32 or float64, as many as samples; else not looked at
  scalar lower;                  ///< of `even`: the first edge
  scalar upper;                  ///< of `even`: the last edge
  operand edges;                 ///< of `edges`: one more than bins, in host memory
  output_operand counts;      ///< int32 or int64, with weights float32 or float64: bins x channels
  histogram_options options;  ///< as the public functions take them
};

/// A histogram with its types erased: what the templates below call, for bindings.
/// @throws error, see the head of this file.
TALLY_EXPORT void histogram(const executor& where, const histogram_arguments& arguments);

namespace histograms {

/// Counts may have these types, and weights and their sums have those.
using count_types = type_list<std::int32_t, std::int64_t>;
using weight_types = type_list<float, double>;

/// Integers of 32 or 64 bits, whatever their sign.
template <class T>
concept count = std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool> &&
                (sizeof(T) == 4 || sizeof(T) == 8);

template <class V>
concept contiguous_output =
    std::ranges::contiguous_range<V> && std::ranges::sized_range<V> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<V>>>;

template <contiguous_output V>
output_operand as_counts(V& v) noexcept {
  return {std::ranges::data(v), static_cast<std::size_t>(std::ranges::size(v)), 1,
          sizeof(std::ranges::range_value_t<V>) == 4 ? type::int32 : type::int64};
}

template <class V>
concept integers = vector_operand<V> && std::is_integral_v<element_t<V>>;
template <class V>
concept reals = vector_operand<V> && !is_complex_v<element_t<V>>;
template <class V>
concept weights = vector_operand<V> && std::is_floating_point_v<element_t<V>>;
template <class V>
concept sums = vector_output<V> && contiguous_output<V> &&
               std::is_floating_point_v<element_t<std::remove_cvref_t<V>>>;
template <class T>
concept real = element<T> && !is_complex_v<element_of_t<T>>;

}  // namespace histograms

/// `V`, perhaps a reference, can hold counts: a contiguous range of integers of 32 or 64 bits that
/// can be written.
template <class V>
concept counts_output =
    histograms::contiguous_output<V> && histograms::count<std::ranges::range_value_t<V>>;

/// counts_k = the number of i with keys_i = k, k = 0 ... counts' size - 1.
///
/// @param where   the executor.
/// @param keys    a vector of integers (or bool).
/// @param counts  one for each bin (and channel).
/// @throws error  key_out_of_range: "tally::bincount: key 7 is -3; there are 256 bins", of the
///                first such key; and see the head of this file.
template <histograms::integers X, counts_output C>
void bincount(const executor& where, const X& keys, C&& counts,
              const histogram_options& options = {}) {
  histogram(where, {binning::keys,
                    as_operand(keys),
                    false,
                    {},
                    {},
                    {},
                    {},
                    histograms::as_counts(counts),
                    options});
}

/// As above, on `automatic()`.
template <histograms::integers X, counts_output C>
void bincount(const X& keys, C&& counts, const histogram_options& options = {}) {
  bincount(automatic(), keys, counts, options);
}

/// sums_k = the sum of weights_i over the i with keys_i = k, correctly rounded. NaN if one of them
/// is NaN or both infinities are among them, an infinity if one is; +0 if the sum is 0 or there are
/// none. With `options.add` what is there is one more weight. At most 2^30 - 2 of them.
///
/// @param weights  a vector of float32 or float64, as many as keys.
/// @param sums     float32 or float64, one for each bin (and channel), contiguous.
template <histograms::integers X, histograms::weights W, histograms::sums C>
void bincount(const executor& where, const X& keys, const W& weights, C&& sums,
              const histogram_options& options = {}) {
  histogram(where, {binning::keys,
                    as_operand(keys),
                    true,
                    as_operand(weights),
                    {},
                    {},
                    {},
                    as_output(sums),
                    options});
}

/// As above, on `automatic()`.
template <histograms::integers X, histograms::weights W, histograms::sums C>
void bincount(const X& keys, const W& weights, C&& sums, const histogram_options& options = {}) {
  bincount(automatic(), keys, weights, sums, options);
}

/// counts_k = the number of samples in bin k of as many equal ones as there are counts (a channel).
///
/// @param samples       a vector of real numbers.
/// @param lower, upper  the first edge and the last: finite, lower < upper.
template <histograms::reals X, histograms::real L, histograms::real U, counts_output C>
void histogram_even(const executor& where, const X& samples, L lower, U upper, C&& counts,
                    const histogram_options& options = {}) {
  histogram(where, {binning::even,
                    as_operand(samples),
                    false,
                    {},
                    lower,
                    upper,
                    {},
                    histograms::as_counts(counts),
                    options});
}

/// As above, on `automatic()`.
template <histograms::reals X, histograms::real L, histograms::real U, counts_output C>
void histogram_even(const X& samples, L lower, U upper, C&& counts,
                    const histogram_options& options = {}) {
  histogram_even(automatic(), samples, lower, upper, counts, options);
}

/// The same of weights, as for `bincount`.
template <histograms::reals X, histograms::weights W, histograms::real L, histograms::real U,
          histograms::sums C>
void histogram_even(const executor& where, const X& samples, const W& weights, L lower, U upper,
                    C&& sums, const histogram_options& options = {}) {
  histogram(where, {binning::even,
                    as_operand(samples),
                    true,
                    as_operand(weights),
                    lower,
                    upper,
                    {},
                    as_output(sums),
                    options});
}

/// As above, on `automatic()`.
template <histograms::reals X, histograms::weights W, histograms::real L, histograms::real U,
          histograms::sums C>
void histogram_even(const X& samples, const W& weights, L lower, U upper, C&& sums,
                    const histogram_options& options = {}) {
  histogram_even(automatic(), samples, weights, lower, upper, sums, options);
}

/// counts_k = the number of samples between edges k and k + 1.
///
/// @param samples  a vector of real numbers.
/// @param edges    a vector of real numbers in host memory, read before the call returns: one more
///                 than there are bins, none less than the one before it. Infinite ones are fine. A
///                 bin between equal edges is empty, unless it is the last.
template <histograms::reals X, histograms::reals E, counts_output C>
void histogram_range(const executor& where, const X& samples, const E& edges, C&& counts,
                     const histogram_options& options = {}) {
  histogram(where, {binning::edges,
                    as_operand(samples),
                    false,
                    {},
                    {},
                    {},
                    as_operand(edges),
                    histograms::as_counts(counts),
                    options});
}

/// As above, on `automatic()`.
template <histograms::reals X, histograms::reals E, counts_output C>
void histogram_range(const X& samples, const E& edges, C&& counts,
                     const histogram_options& options = {}) {
  histogram_range(automatic(), samples, edges, counts, options);
}

/// The same of weights, as for `bincount`.
template <histograms::reals X, histograms::weights W, histograms::reals E, histograms::sums C>
void histogram_range(const executor& where, const X& samples, const W& weights, const E& edges,
                     C&& sums, const histogram_options& options = {}) {
  histogram(where, {binning::edges,
                    as_operand(samples),
                    true,
                    as_operand(weights),
                    {},
                    {},
                    as_operand(edges),
                    as_output(sums),
                    options});
}

/// As above, on `automatic()`.
template <histograms::reals X, histograms::weights W, histograms::reals E, histograms::sums C>
void histogram_range(const X& samples, const W& weights, const E& edges, C&& sums,
                     const histogram_options& options = {}) {
  histogram_range(automatic(), samples, weights, edges, sums, options);
}

}  // namespace tally
