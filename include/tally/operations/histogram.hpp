// Histograms: bincount counts integer keys, histogram_even samples in bins of equal width,
// histogram_range samples between given edges; or they sum weights.
//
// Promise: counts are exact; a bin's weights are summed exactly, rounded once to nearest even. Both
// depend on the values only.
//
// Bins are half-open, the last one closed (NumPy's rule): sample x is in bin i if edge_i <= x <
// edge_(i+1), in the last also if x = edge_bins. Real numbers are compared, for every type; no
// quotient decides. Edges:
//
//   bincount         the integers: key i is in bin i
//   histogram_range  given, of any real type
//   histogram_even   integer samples and bounds: the real numbers
//                    lower + i (upper - lower) / bins, unrounded. Otherwise, in double, NumPy's
//                    for float64 samples: i*width + lower, width = (upper - lower) / bins,
//                    each operation rounded, and edge_bins = upper. If upper - lower overflows,
//                    bounds are halved and edges doubled; if width underflows, see
//                    docs/numerics.md.
//
// `tally::add_to` (<tally/numerics/exact_words.hpp>) instead of sums adds weights to unrounded
// exact sums.
//
// Samples outside all bins, and NaNs, are ignored, or counted in `histogram_options::outside`;
// without that, an outside key of bincount is an error.
//
// Counts are contiguous integers of 32 (at most 2^31 - 1 samples) or 64 bits, one per bin. With
// `histogram_options::add` they add up modulo 2^32 (2^64).
//
// With `histogram_options::channels` = c, sample i is of channel i mod c; counts go channel after
// channel.
//
// Blocking: CPU backends return when counts are written. CUDA doesn't block, as `dot` into a
// result, except `bincount` without `outside`, which checks the keys.
//
// Errors (tally::error), before anything is written: null_pointer (with elements); zero_increment;
// misaligned; unsupported_type; size_mismatch, also for samples that are no multiple of the
// channels; invalid_argument: no bins or more than 2^31 - 1 counts, no channels or more than 65536,
// too many samples, bounds not finite or not lower < upper, edges that decrease, are NaN, or as
// unsigned integers reach 2^63, counts or sums with an increment; overlap, if counts or `outside`
// share memory with an input or each other; wrong_memory, also for edges not on the host;
// device_failure. And key_out_of_range of `bincount`: nothing is written on CPU backends; on a
// device the counts are those of the keys in range.
#pragma once

#include <tally/detail/arguments.hpp>
#include <tally/detail/histogram_operands.hpp>
#include <tally/executor.hpp>
#include <tally/numerics/exact_words.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/elementwise.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally {

/// Definition of the bins.
enum class binning : std::uint8_t { keys, even, edges };

/// Arguments with types erased, checked at run time.
struct histogram_arguments {
  binning what = binning::keys;  ///< the function
  operand x;                     ///< keys or samples
  bool weighted = false;         ///< whether weights are summed
  operand weights;               ///< float32 or float64, one per sample; ignored if unweighted
  scalar lower;                  ///< of `even`: the first edge
  scalar upper;                  ///< of `even`: the last edge
  operand edges;                 ///< of `edges`: bins + 1, in host memory
  output_operand counts;         ///< int32 or int64, with weights float32 or float64: bins*channels
  histogram_options options;     ///< the options
  bool unsigned_keys = false;    ///< keys of int32 or int64 are bits of unsigned numbers
  bool unsigned_edges = false;   ///< likewise edges, below 2^63
  /// Weights are added to limbs: `exact_words(counts.element)` int64 at `counts.data` per sum.
  /// `options.add` is for `outside` only.
  bool words = false;
  /// Whether it is `scatter_add`: weights that add up to 0 leave their sum as it is.
  bool scatters = false;

  /// Whether a key out of range is an error.
  bool checks_keys() const {
    return what == binning::keys && options.outside == nullptr && !scatters;
  }
};

/// The histograms with types erased.
TALLY_EXPORT void histogram(const executor& where, const histogram_arguments& arguments);

/// The same with limbs in host memory, unreachable by the executor. Blocks.
TALLY_EXPORT void histogram_to_host(const executor& where, const histogram_arguments& arguments);

namespace detail {

template <key_operand X>
histogram_arguments of_keys(const X& keys, const histogram_options& options) {
  histogram_arguments a;
  a.what = binning::keys;
  a.x = as_numbers(keys);
  a.options = options;
  a.unsigned_keys = unsigned_integers<X>;
  return a;
}
template <sample_operand X, real_number L, real_number U>
histogram_arguments of_even(const X& samples, L lower, U upper, const histogram_options& options) {
  histogram_arguments a;
  a.what = binning::even;
  a.x = as_operand(samples);
  a.lower = lower;
  a.upper = upper;
  a.options = options;
  return a;
}
template <sample_operand X, edge_operand E>
histogram_arguments of_edges(const X& samples, const E& edges, const histogram_options& options) {
  histogram_arguments a;
  a.what = binning::edges;
  a.x = as_operand(samples);
  a.edges = as_numbers(edges);
  a.options = options;
  a.unsigned_edges = unsigned_integers<E>;
  return a;
}
template <class C>
histogram_arguments counted(histogram_arguments a, C& counts) {
  a.counts = as_counts(counts);
  return a;
}
template <weight_operand W>
histogram_arguments weighted(histogram_arguments a, const W& weights) {
  a.weighted = true;
  a.weights = as_operand(weights);
  return a;
}
template <weight_operand W, class C>
histogram_arguments weighted(histogram_arguments a, const W& weights, C& sums) {
  a = weighted(a, weights);
  a.counts = as_output(sums);
  return a;
}

/// Adds weights to sums, exact sums or limbs.
template <weight_output C>
void sum_weights(const executor& where, histogram_arguments a, C& to) {
  a.counts = as_output(to);
  histogram(where, a);
}
template <float_or_double T>
void sum_weights(const executor& where, histogram_arguments a, const words_of_sums<T>& to) {
  a.counts = {to.words, to.sums, 1, type_of<T>};
  a.words = true;
  histogram(where, a);
}
template <float_or_double T>
void sum_weights(const executor& where, histogram_arguments a, const added_sums<T>& to) {
  merge_into<T>("tally::add_to", to, to.sums.size(), [&](std::int64_t* words) {
    a.counts = {words, to.sums.size(), 1, type_of<T>};
    a.words = true;
    histogram_to_host(where, a);
  });
}

}  // namespace detail

/// counts_k = the number of i with keys_i = k.
///
/// @param keys   integers (or bool), also unsigned of 32 or 64 bits.
/// @param counts one per bin (and channel).
/// @throws error key_out_of_range, naming the first such key.
template <class X, class C>
  requires detail::taken<detail::bincount_call, X, C>
void bincount(const executor& where, const X& keys, C&& counts,
              const histogram_options& options = {}) {
  histogram(where, detail::counted(detail::of_keys(keys, options), counts));
}

/// The same on `automatic()`.
template <class X, class C>
  requires detail::taken_unplaced<detail::bincount_call, X, C>
void bincount(const X& keys, C&& counts, const histogram_options& options = {}) {
  bincount(automatic(), keys, counts, options);
}

/// sums_k = the sum of weights_i over the i with keys_i = k, correctly rounded: NaN if a weight is
/// or both infinities occur, else infinite if one occurs; +0 if zero or empty. With `options.add`
/// the old value is one more weight. At most 2^30 - 2 weights.
///
/// @param weights float32 or float64, one per key.
/// @param sums   float32 or float64, contiguous, one per bin (and channel). Or exact sums to be
///               added to, of `float` if the weights are: limbs, `tally::add_to<double>(words,
///               bins)`, or objects, `tally::add_to(sums)`, for which the call blocks.
template <class X, class W, class C>
  requires detail::taken<detail::bincount_call, X, W, C>
void bincount(const executor& where, const X& keys, const W& weights, C&& sums,
              const histogram_options& options = {}) {
  detail::sum_weights(where, detail::weighted(detail::of_keys(keys, options), weights), sums);
}

/// The same on `automatic()`.
template <class X, class W, class C>
  requires detail::taken_unplaced<detail::bincount_call, X, W, C>
void bincount(const X& keys, const W& weights, C&& sums, const histogram_options& options = {}) {
  bincount(automatic(), keys, weights, sums, options);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::bincount_call, T...>>
  requires detail::refused<why, T...>
void bincount(T&&...) = delete;  // [where,] keys, [weights,] counts or sums[, options]

/// counts_k = the number of samples in bin k of equal bins, one per count (and channel).
///
/// @param samples real numbers.
/// @param lower, upper outer edges: finite, lower < upper.
template <class X, class L, class U, class C>
  requires detail::taken<detail::histogram_even_call, X, L, U, C>
void histogram_even(const executor& where, const X& samples, const L& lower, const U& upper,
                    C&& counts, const histogram_options& options = {}) {
  histogram(where, detail::counted(detail::of_even(samples, lower, upper, options), counts));
}

/// The same on `automatic()`.
template <class X, class L, class U, class C>
  requires detail::taken_unplaced<detail::histogram_even_call, X, L, U, C>
void histogram_even(const X& samples, const L& lower, const U& upper, C&& counts,
                    const histogram_options& options = {}) {
  histogram_even(automatic(), samples, lower, upper, counts, options);
}

/// Sums weights, as `bincount` does.
template <class X, class W, class L, class U, class C>
  requires detail::taken<detail::histogram_even_call, X, W, L, U, C>
void histogram_even(const executor& where, const X& samples, const W& weights, const L& lower,
                    const U& upper, C&& sums, const histogram_options& options = {}) {
  detail::sum_weights(
      where, detail::weighted(detail::of_even(samples, lower, upper, options), weights), sums);
}

/// The same on `automatic()`.
template <class X, class W, class L, class U, class C>
  requires detail::taken_unplaced<detail::histogram_even_call, X, W, L, U, C>
void histogram_even(const X& samples, const W& weights, const L& lower, const U& upper, C&& sums,
                    const histogram_options& options = {}) {
  histogram_even(automatic(), samples, weights, lower, upper, sums, options);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::histogram_even_call, T...>>
  requires detail::refused<why, T...>
void histogram_even(T&&...) = delete;  // [where,] x, [weights,] lower, upper, counts or sums

/// counts_k = the number of samples between edges k and k + 1.
///
/// @param samples real numbers.
/// @param edges  bins + 1 nondecreasing real numbers in host memory, read before the call returns,
///               maybe infinite; as unsigned integers below 2^63. A bin between equal edges is
///               empty unless it is the last.
template <class X, class E, class C>
  requires detail::taken<detail::histogram_range_call, X, E, C>
void histogram_range(const executor& where, const X& samples, const E& edges, C&& counts,
                     const histogram_options& options = {}) {
  histogram(where, detail::counted(detail::of_edges(samples, edges, options), counts));
}

/// The same on `automatic()`.
template <class X, class E, class C>
  requires detail::taken_unplaced<detail::histogram_range_call, X, E, C>
void histogram_range(const X& samples, const E& edges, C&& counts,
                     const histogram_options& options = {}) {
  histogram_range(automatic(), samples, edges, counts, options);
}

/// Sums weights, as `bincount` does.
template <class X, class W, class E, class C>
  requires detail::taken<detail::histogram_range_call, X, W, E, C>
void histogram_range(const executor& where, const X& samples, const W& weights, const E& edges,
                     C&& sums, const histogram_options& options = {}) {
  detail::sum_weights(where, detail::weighted(detail::of_edges(samples, edges, options), weights),
                      sums);
}

/// The same on `automatic()`.
template <class X, class W, class E, class C>
  requires detail::taken_unplaced<detail::histogram_range_call, X, W, E, C>
void histogram_range(const X& samples, const W& weights, const E& edges, C&& sums,
                     const histogram_options& options = {}) {
  histogram_range(automatic(), samples, weights, edges, sums, options);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::histogram_range_call, T...>>
  requires detail::refused<why, T...>
void histogram_range(T&&...) = delete;  // [where,] x, [weights,] edges, counts or sums

}  // namespace tally
