// Exact sums that are not rounded yet: dot, dotc, sum, asum, nrm2, multi_dot, batched_dot and
// histograms of weights add them to what the caller has, and they are rounded when all parts of a
// sum have met.
//
// Promise: the exact sum is there, on every executor, whatever the parts and their order; rounded,
// it has the bits that `tally::exact` gives for the whole. So ranks, devices and time steps may
// each add their part.
//
// The words are those of `tally::exact_sum<T>` (<tally/exact_sum.hpp>): 137 numbers of type
// std::int64_t for T = double, 23 for float. They begin as zeros. Words of several places are
// merged by adding them, number by number, as MPI_SUM, ncclSum or an atomic addition does. A call
// adds less than 2^33 to each, so up to 2^29 calls, in all places together, may go into one sum;
// `exact_sum<T>::from_words(words).to_words()` makes room for as many more. The words of a sum are
// not unique before that: executors may leave digits that are carried on another way.
#pragma once

#include <tally/export.h>
#include <tally/exact_sum.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/result.hpp>
#include <tally/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace tally {

/// How many words the sum of a result has, its type erased: float32 stands for `exact_sum<float>`,
/// float64 for `exact_sum<double>`, complex64 and complex128 for two of these, the real part's and
/// then the imaginary part's. 0 for any other type.
constexpr std::size_t exact_words(type sum) noexcept {
  constexpr auto words = [](int of_part) { return static_cast<std::size_t>(of_part); };
  switch (sum) {
    case type::float32:
      return words(exact_sum<float>::words);
    case type::float64:
      return words(exact_sum<double>::words);
    case type::complex64:
      return 2 * words(exact_sum<float>::words);
    case type::complex128:
      return 2 * words(exact_sum<double>::words);
    default:
      return 0;
  }
}

/// The sum with the fewest words that holds the terms of these operands exactly: of `float`, unless
/// one of them is of `double` or `complex<double>`.
/// @param x, y    the types of the operands; of one operand twice the same.
/// @param result  what it will be rounded to: complex ones are of two sums.
/// @return        float32, float64, complex64 or complex128; no element type if one of them is
/// none.
constexpr type exact_sum_type(type x, type y, type result) noexcept {
  if (!is_listed(x) || !is_listed(y) || !is_listed(result)) return types::no_type;
  const bool is_wide = part_of(x) == type::float64 || part_of(y) == type::float64;
  const type part = is_wide ? type::float64 : type::float32;
  return is_complex(result) ? complex_of(part) : part;
}

/// Sums in objects of the caller's that results are added to. Made by `add_to`.
template <float_or_double T>
struct added_sums {
  std::span<exact_sum<T>> sums;  ///< one a result, two a complex one
};

/// Words in memory that the executor can write, which results are added to. Made by `add_to`.
template <float_or_double T>
struct added_words {
  std::int64_t* words = nullptr;  ///< `exact_sum<T>::words` a result, twice as many a complex one
};

/// Words of several sums, one behind the other, which weights are added to, bin by bin. Made by
/// `add_to`.
template <float_or_double T>
struct words_of_sums {
  std::int64_t* words = nullptr;  ///< `exact_sum<T>::words` a sum
  std::size_t sums = 0;           ///< how many
};

/// `tally::dot(where, x, y, tally::add_to(sum))` adds all x_i * y_i to `sum`, exactly, and blocks
/// until that is done. The same for `dotc`, `sum`, `asum` and `nrm2`, whose terms are squares.
/// @tparam T `double`, or `float` where no operand is of `double` or `complex<double>`.
template <float_or_double T>
added_sums<T> add_to(exact_sum<T>& sum) noexcept {
  return {{&sum, 1}};
}

/// Several sums: the real and the imaginary part of one result, or those of all results of
/// `multi_dot`.
template <float_or_double T, std::size_t n>
added_sums<T> add_to(exact_sum<T> (&sums)[n]) noexcept {
  return {sums};
}
/// The same.
template <float_or_double T, std::size_t n>
added_sums<T> add_to(std::array<exact_sum<T>, n>& sums) noexcept {
  return {sums};
}
/// The same.
template <float_or_double T>
added_sums<T> add_to(std::span<exact_sum<T>> sums) noexcept {
  return {sums};
}
/// The same.
template <float_or_double T>
added_sums<T> add_to(std::vector<exact_sum<T>>& sums) noexcept {
  return {sums};
}

/// `tally::dot(where, x, y, tally::add_to<double>(words))` adds to words where the executor can
/// write: host memory for the CPU backends; device, managed or pinned host memory for CUDA. It
/// doesn't block: on a device the call returns once the work is queued on the executor's stream,
/// and may be captured in a graph. Several streams of one device may add to the same words at once;
/// several devices, and threads of a host, take turns or have words of their own.
template <float_or_double T>
added_words<T> add_to(std::int64_t* words) noexcept {
  return {words};
}

/// `tally::bincount(where, keys, weights, tally::add_to<double>(words, bins))` adds weights to the
/// words of their bins (<tally/histogram.hpp>), in memory as above.
template <float_or_double T>
words_of_sums<T> add_to(std::int64_t* words, std::size_t sums) noexcept {
  return {words, sums};
}

/// What rounding is asked for, its types erased.
struct round_arguments {
  const std::int64_t* words = nullptr;  ///< `exact_words(sum)` of each sum
  type sum = type::float64;             ///< float32, float64, complex64 or complex128
  std::size_t count = 1;                ///< sums, one behind the other
  bool root = false;                    ///< whether the result is the root of the sum: of real ones
  output result;     ///< the first of `count` results: real ones of real sums, else complex ones
  bool wait = true;  ///< whether results are in host memory, and there when the call returns
};

/// Rounding with its types erased: what the templates below call.
/// @throws error, see `round_words`.
TALLY_EXPORT void round_words(const executor& where, const round_arguments& arguments);

namespace exact_sums {

/// Says that there are so many sums where `needed` should be.
[[noreturn]] TALLY_EXPORT void refuse(const char* function, std::size_t sums, std::size_t needed);

/// Calls `add(words)` with zeros for `needed` sums in host memory, and adds what it has put there.
template <float_or_double T, class Add>
void merge_into(const char* function, const added_sums<T>& to, std::size_t needed, Add&& add) {
  constexpr auto words = static_cast<std::size_t>(exact_sum<T>::words);
  if (to.sums.size() != needed) refuse(function, to.sums.size(), needed);
  std::vector<std::int64_t> all(needed * words);
  add(all.data());
  for (std::size_t i = 0; i < needed; ++i) {
    to.sums[i].merge(exact_sum<T>::from_words(&all[i * words]));
  }
}

/// The type that stands for sums of T: a complex one for results of two parts.
template <float_or_double T>
constexpr type type_of_sum(bool parted) {
  return parted ? type_of<std::complex<T>> : type_of<T>;
}

template <float_or_double T, class R>
void round(const executor& where, const std::int64_t* words, R* result, bool root, bool wait) {
  round_words(where, {words, type_of_sum<T>(is_complex_v<R>), 1, root, {result, type_of<R>}, wait});
}

}  // namespace exact_sums

/// The sum that words stand for, correctly rounded to R: `float`, `double`, or of two sums the
/// complex type of these. Blocks until it is there. (On a host, `exact_sum<T>::round_words<R>` is
/// the same without an executor.)
///
/// @param where the executor.
/// @param words the words of `exact_sum<T>`, or of two, where the executor can read them: up to
///              2^29 calls that add, or normal forms (`exact_sum<T>::to_words`), were added up
///              there.
/// @throws error null_pointer, misaligned, wrong_memory, device_failure.
template <float_or_double T, class R = T>
R round_words(const executor& where, const std::int64_t* words) {
  R result;
  exact_sums::round<T>(where, words, &result, false, true);
  return result;
}

/// result = the sum, correctly rounded. Doesn't block: on a device the call returns once the work
/// is queued on the executor's stream, and may be captured in a graph.
/// @param result a pointer, or memory for one number (`result_place`), where the executor can
///               write.
/// @throws error as above, and for `result`.
template <float_or_double T, result_place R>
void round_words(const executor& where, const std::int64_t* words, R&& result) {
  exact_sums::round<T>(where, words, results::first("tally::round_words", result), false, false);
}

/// The square root of the sum, correctly rounded, as `nrm2` returns it; of a negative sum NaN.
template <float_or_double T, class R = T>
R round_root_words(const executor& where, const std::int64_t* words) {
  R result;
  exact_sums::round<T>(where, words, &result, true, true);
  return result;
}

/// result = the square root of the sum; doesn't block.
template <float_or_double T, result_place R>
void round_root_words(const executor& where, const std::int64_t* words, R&& result) {
  exact_sums::round<T>(where, words, results::first("tally::round_root_words", result), true,
                       false);
}

}  // namespace tally
