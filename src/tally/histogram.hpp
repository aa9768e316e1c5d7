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
// The sums of weights need not be rounded: with `tally::add_to` (<tally/exact_words.hpp>) in the
// place of the sums they are added to the words of exact sums, one a bin, so that ranks, devices
// and time steps may each add their part.
//
// Samples outside all bins, and NaNs, are not counted, but apart if asked for
// (`histogram_options::outside`). For bincount alone a key outside is an error unless they are
// asked for.
//
// Counts are integers of 32 or 64 bits, signed or not, one a bin, contiguous. They hold the number
// of samples, or with `histogram_options::add` what they held before and that. Of 32 bits there may
// be at most 2^31 - 1 samples, so what is counted always fits. Sums with what was there are taken
// modulo 2^32 (2^64): a sum too large for the type is negative, which as an unsigned number is
// right; it is never a smaller count, as long as what was there is not negative.
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
// are NaN or 2^63 or more in unsigned integers, counts or sums with an increment; overlap, if
// counts or `outside` share memory with an input or each other; wrong_memory if the executor can't
// reach samples, weights, counts or `outside`, or the host edges; device_failure. And
// key_out_of_range of `bincount`: on the CPU backends nothing is written; on a device the counts
// are those of the keys in range.
#pragma once

#include <tally/exact_words.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/refusal.hpp>
#include <tally/transform.hpp>
#include <tally/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
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
  output_operand counts;       ///< int32 or int64, with weights float32 or float64: bins x channels
  histogram_options options;   ///< as the public functions take them
  bool unsigned_keys = false;  ///< keys of int32 or int64 are the bits of unsigned numbers
  bool unsigned_edges = false;  ///< edges of int32 or int64 are, and are below 2^63
  /// Sums of weights are added to words: `counts.data` points at `exact_words(counts.element)`
  /// numbers of int64 for each of `counts.size` sums. `options.add` is that of `outside` alone.
  bool words = false;
};

/// A histogram with its types erased: what the templates below call, for bindings.
/// @throws error, see the head of this file.
TALLY_EXPORT void histogram(const executor& where, const histogram_arguments& arguments);

/// The same with words in host memory, which the executor need not reach. Blocks.
/// @throws error, see the head of this file.
TALLY_EXPORT void histogram_to_host(const executor& where, const histogram_arguments& arguments);

namespace histograms {

/// Counts may have these types, and weights and their sums have those.
using count_types = type_list<std::int32_t, std::int64_t>;
using weight_types = type_list<float, double>;

/// Integers of 32 or 64 bits, whatever their sign.
template <class T>
concept count = std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool> &&
                (sizeof(T) == 4 || sizeof(T) == 8);

/// The element type of integers of 32 or 64 bits, whatever their sign.
template <class T>
constexpr type word = sizeof(T) == 4 ? type::int32 : type::int64;

template <class V>
output_operand as_counts(V& v) noexcept {
  const operand counts = operands::as_elements(v, word<operands::value_t<V>>);
  return {const_cast<void*>(counts.data), counts.size, counts.increment, counts.element};
}

/// Vectors of unsigned integers of 32 or 64 bits, which are no element types.
template <class V>
concept unsigned_integers =
    operands::vector<V> && count<operands::value_t<V>> && std::is_unsigned_v<operands::value_t<V>>;

/// A vector of an element type, or of such integers.
template <class V>
operand as_numbers(const V& v) noexcept {
  if constexpr (unsigned_integers<V>) {
    return operands::as_elements(v, word<operands::value_t<V>>);
  } else {
    return as_operand(v);
  }
}

template <class V>
concept integers = unsigned_integers<V> || (vector_operand<V> && std::is_integral_v<element_t<V>>);
template <class V>
concept reals = vector_operand<V> && !is_complex_v<element_t<V>>;
template <class V>
concept edges = reals<V> || unsigned_integers<V>;
template <class V>
concept weights = vector_operand<V> && std::is_floating_point_v<element_t<V>>;
template <class V>
concept sums = vector_output<V> && std::is_floating_point_v<element_t<std::remove_cvref_t<V>>>;
template <class T>
concept real = element<T> && !is_complex_v<element_of_t<T>>;

/// What the three functions ask for, but for where the counts go.
template <integers X>
histogram_arguments of_keys(const X& keys, const histogram_options& options) {
  histogram_arguments a;
  a.what = binning::keys;
  a.x = as_numbers(keys);
  a.options = options;
  a.unsigned_keys = unsigned_integers<X>;
  return a;
}
template <reals X, real L, real U>
histogram_arguments of_even(const X& samples, L lower, U upper, const histogram_options& options) {
  histogram_arguments a;
  a.what = binning::even;
  a.x = as_operand(samples);
  a.lower = lower;
  a.upper = upper;
  a.options = options;
  return a;
}
template <reals X, edges E>
histogram_arguments of_edges(const X& samples, const E& edges, const histogram_options& options) {
  histogram_arguments a;
  a.what = binning::edges;
  a.x = as_operand(samples);
  a.edges = as_numbers(edges);
  a.options = options;
  a.unsigned_edges = unsigned_integers<E>;
  return a;
}
/// The samples themselves are counted.
template <class C>
histogram_arguments counted(histogram_arguments a, C& counts) {
  a.counts = as_counts(counts);
  return a;
}
/// Their weights are added up.
template <weights W>
histogram_arguments weighted(histogram_arguments a, const W& weights) {
  a.weighted = true;
  a.weights = as_operand(weights);
  return a;
}
template <weights W, class C>
histogram_arguments weighted(histogram_arguments a, const W& weights, C& sums) {
  a = weighted(a, weights);
  a.counts = as_output(sums);
  return a;
}

/// Adds weights to the words of sums.
template <float_or_double T>
void add_weights(const executor& where, histogram_arguments a, const words_of_sums<T>& to) {
  a.counts = {to.words, to.sums, 1, type_of<T>};
  a.words = true;
  histogram(where, a);
}
/// Adds weights to sums.
template <float_or_double T>
void add_weights(const executor& where, histogram_arguments a, const added_sums<T>& to) {
  exact_sums::merge_into<T>("tally::add_to", to, to.sums.size(), [&](std::int64_t* words) {
    a.counts = {words, to.sums.size(), 1, type_of<T>};
    a.words = true;
    histogram_to_host(where, a);
  });
}

template <class S>
struct is_added : std::false_type {};
template <class T>
struct is_added<words_of_sums<T>> : std::true_type {};
template <class T>
struct is_added<added_sums<T>> : std::true_type {};
/// What `add_to` makes for bins.
template <class S>
concept added = is_added<S>::value;

}  // namespace histograms

/// `V`, perhaps a reference, can hold counts: a vector, as for `vector_output`, of integers of 32
/// or 64 bits, whatever their sign (std::size_t, for one), that can be written.
template <class V>
concept counts_output =
    operands::vector<std::remove_cvref_t<V>> &&
    histograms::count<operands::value_t<std::remove_cvref_t<V>>> && requires(V& v) {
      { operands::address(v) } -> std::convertible_to<void*>;
    };

/// counts_k = the number of i with keys_i = k, k = 0 ... counts' size - 1.
///
/// @param where   the executor.
/// @param keys    a vector of integers (or bool), unsigned ones of 32 and 64 bits among them.
/// @param counts  one for each bin (and channel).
/// @throws error  key_out_of_range: "tally::bincount: key 7 is -3; there are 256 bins", of the
///                first such key; and see the head of this file.
template <histograms::integers X, counts_output C>
void bincount(const executor& where, const X& keys, C&& counts,
              const histogram_options& options = {}) {
  histogram(where, histograms::counted(histograms::of_keys(keys, options), counts));
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
  histogram(where, histograms::weighted(histograms::of_keys(keys, options), weights, sums));
}

/// As above, on `automatic()`.
template <histograms::integers X, histograms::weights W, histograms::sums C>
void bincount(const X& keys, const W& weights, C&& sums, const histogram_options& options = {}) {
  bincount(automatic(), keys, weights, sums, options);
}

/// Adds weights to exact sums that are not rounded: `tally::bincount(where, keys, weights,
/// tally::add_to<double>(words, bins))`, or `tally::add_to(sums)` with objects of the caller's, for
/// which the call blocks. There is one for each bin (and channel).
/// @param sums made by `add_to`, of `float` where weights are.
/// @throws error, as above.
template <histograms::integers X, histograms::weights W, histograms::added S>
void bincount(const executor& where, const X& keys, const W& weights, const S& sums,
              const histogram_options& options = {}) {
  histograms::add_weights(where, histograms::weighted(histograms::of_keys(keys, options), weights),
                          sums);
}

/// counts_k = the number of samples in bin k of as many equal ones as there are counts (a channel).
///
/// @param samples       a vector of real numbers.
/// @param lower, upper  the first edge and the last: finite, lower < upper.
template <histograms::reals X, histograms::real L, histograms::real U, counts_output C>
void histogram_even(const executor& where, const X& samples, L lower, U upper, C&& counts,
                    const histogram_options& options = {}) {
  histogram(where,
            histograms::counted(histograms::of_even(samples, lower, upper, options), counts));
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
  histogram(where, histograms::weighted(histograms::of_even(samples, lower, upper, options),
                                        weights, sums));
}

/// As above, on `automatic()`.
template <histograms::reals X, histograms::weights W, histograms::real L, histograms::real U,
          histograms::sums C>
void histogram_even(const X& samples, const W& weights, L lower, U upper, C&& sums,
                    const histogram_options& options = {}) {
  histogram_even(automatic(), samples, weights, lower, upper, sums, options);
}

/// Adds weights to exact sums that are not rounded, as for `bincount`.
template <histograms::reals X, histograms::weights W, histograms::real L, histograms::real U,
          histograms::added S>
void histogram_even(const executor& where, const X& samples, const W& weights, L lower, U upper,
                    const S& sums, const histogram_options& options = {}) {
  histograms::add_weights(
      where, histograms::weighted(histograms::of_even(samples, lower, upper, options), weights),
      sums);
}

/// counts_k = the number of samples between edges k and k + 1.
///
/// @param samples  a vector of real numbers.
/// @param edges    a vector of real numbers in host memory, read before the call returns: one more
///                 than there are bins, none less than the one before it. Infinite ones are fine. A
///                 bin between equal edges is empty, unless it is the last. Unsigned integers of 32
///                 or 64 bits are below 2^63.
template <histograms::reals X, histograms::edges E, counts_output C>
void histogram_range(const executor& where, const X& samples, const E& edges, C&& counts,
                     const histogram_options& options = {}) {
  histogram(where, histograms::counted(histograms::of_edges(samples, edges, options), counts));
}

/// As above, on `automatic()`.
template <histograms::reals X, histograms::edges E, counts_output C>
void histogram_range(const X& samples, const E& edges, C&& counts,
                     const histogram_options& options = {}) {
  histogram_range(automatic(), samples, edges, counts, options);
}

/// The same of weights, as for `bincount`.
template <histograms::reals X, histograms::weights W, histograms::edges E, histograms::sums C>
void histogram_range(const executor& where, const X& samples, const W& weights, const E& edges,
                     C&& sums, const histogram_options& options = {}) {
  histogram(where,
            histograms::weighted(histograms::of_edges(samples, edges, options), weights, sums));
}

/// As above, on `automatic()`.
template <histograms::reals X, histograms::weights W, histograms::edges E, histograms::sums C>
void histogram_range(const X& samples, const W& weights, const E& edges, C&& sums,
                     const histogram_options& options = {}) {
  histogram_range(automatic(), samples, weights, edges, sums, options);
}

/// Adds weights to exact sums that are not rounded, as for `bincount`.
template <histograms::reals X, histograms::weights W, histograms::edges E, histograms::added S>
void histogram_range(const executor& where, const X& samples, const W& weights, const E& edges,
                     const S& sums, const histogram_options& options = {}) {
  histograms::add_weights(
      where, histograms::weighted(histograms::of_edges(samples, edges, options), weights), sums);
}

// --- What is no operand ---------------------------------------------------------------------------

namespace histograms {

struct keys {
  template <class T>
  static constexpr bool is = integers<T>;
  template <class T>
  static auto say() {
    static_assert(refusals::never<T>,
                  "keys are a vector (memory with data() and size(), a tally::strided or a rank-1 "
                  "Kokkos::View) of bool, std::int8_t, std::uint8_t or integers of 32 or 64 bits, "
                  "signed or not");
  }
};

struct samples {
  template <class T>
  static constexpr bool is = reals<T>;
  template <class T>
  static auto say() {
    if constexpr (unsigned_integers<T>) {
      static_assert(refusals::never<T>,
                    "samples in unsigned integers of 32 or 64 bits are not taken: convert them to "
                    "std::int64_t or double");
    } else if constexpr (vector_operand<T>) {
      static_assert(refusals::never<T>, "samples are real numbers");
    } else {
      refusals::vector::say<T>();
    }
  }
};

/// Counts, or weights before sums.
struct counts_or_weights {
  template <class T>
  static constexpr bool is = counts_output<T&> || weights<T>;
  template <class T>
  static auto say() {
    static_assert(refusals::never<T>,
                  "counts are a vector (memory with data() and size(), or a rank-1 Kokkos::View) "
                  "of integers of 32 or 64 bits, signed or not, that are not const; weights and "
                  "their sums are float or double");
  }
};

using for_bincount = refusals::arguments<keys, counts_or_weights>;
using for_samples = refusals::arguments<samples>;

}  // namespace histograms

/// Says what is no operand.
template <class... T>
  requires refusals::refused<histograms::for_bincount, T...>
auto bincount(const T&...) {
  return refusals::refuse<histograms::for_bincount, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto bincount(...) {
  static_assert(refusals::never<T...>,
                "bincount(keys, counts) or bincount(keys, weights, sums) may begin with an "
                "executor; weights are float or double, and so are their sums, which hold them; "
                "counts are integers of 32 or 64 bits; options, tally::histogram_options, come "
                "last");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<histograms::for_samples, T...>
auto histogram_even(const T&...) {
  return refusals::refuse<histograms::for_samples, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto histogram_even(...) {
  static_assert(refusals::never<T...>,
                "histogram_even(samples, lower, upper, counts) or histogram_even(samples, "
                "weights, lower, upper, sums) may begin with an executor; lower and upper are "
                "real numbers; weights are float or double, and so are their sums, which hold "
                "them; counts are integers of 32 or 64 bits; options, tally::histogram_options, "
                "come last");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<histograms::for_samples, T...>
auto histogram_range(const T&...) {
  return refusals::refuse<histograms::for_samples, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto histogram_range(...) {
  static_assert(refusals::never<T...>,
                "histogram_range(samples, edges, counts) or histogram_range(samples, weights, "
                "edges, sums) may begin with an executor; edges are a vector of real numbers; "
                "weights are float or double, and so are their sums, which hold them; counts are "
                "integers of 32 or 64 bits; options, tally::histogram_options, come last");
  return 0.0;
}

}  // namespace tally
