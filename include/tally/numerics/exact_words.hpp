// Unrounded exact sums: dot, sum, asum, nrm2, multi_dot, batched_dot and weighted histograms add to
// limbs, merged over ranks, devices or time steps and rounded at the end.
//
// Promise: the exact sum, for any parts in any order; rounded, the bits of `tally::exact` for the
// whole.
//
// The words are the limbs of `tally::exact_sum<T>` (<tally/numerics/exact_sum.hpp>): 137
// std::int64_t for double, 23 for float, initially zero. Parts merge by adding elementwise:
// MPI_SUM, ncclSum or atomics. A call adds less than 2^33 to each, so at most 2^29 calls, over all
// parts, may enter a sum; `exact_sum<T>::from_words(words).to_words()` normalises it for as many
// more. Before that limbs are not unique.
#pragma once

#include <tally/export.h>
#include <tally/executor.hpp>
#include <tally/numerics/exact_sum.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/result.hpp>
#include <tally/operands/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace tally {

/// Limbs of a sum: float32 and float64 stand for `exact_sum<float>` and `exact_sum<double>`,
/// complex64 and complex128 for two, real part first. 0 for other types.
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

/// The smallest sum for these operands: of `float`, unless one has doubles.
/// @param x, y   operand types; equal for one operand.
/// @param result type to round to; if complex, two sums.
/// @return       none if an argument is none.
constexpr type exact_sum_type(type x, type y, type result) noexcept {
  if (!is_listed(x) || !is_listed(y) || !is_listed(result)) return detail::no_type;
  const bool is_wide = part_of(x) == type::float64 || part_of(y) == type::float64;
  const type part = is_wide ? type::float64 : type::float32;
  return is_complex(result) ? complex_of(part) : part;
}

/// The caller's sums, by `add_to`.
template <float_or_double T>
struct added_sums {
  std::span<exact_sum<T>> sums;  ///< one per result, two if complex
};

/// Limbs where the executor can write, by `add_to`.
template <float_or_double T>
struct added_words {
  std::int64_t* words = nullptr;  ///< `exact_sum<T>::words` per result, twice if complex
};

/// Contiguous limbs, one sum per bin, by `add_to`.
template <float_or_double T>
struct words_of_sums {
  std::int64_t* words = nullptr;  ///< `exact_sum<T>::words` per sum
  std::size_t sums = 0;           ///< number of sums
};

/// `tally::dot(where, x, y, tally::add_to(sum))` adds all x_i*y_i to `sum`, exactly; blocks.
/// Likewise `sum`, `asum`, and, of squares, `nrm2`.
/// @tparam T     `double`, or `float` if no operand has doubles.
template <float_or_double T>
added_sums<T> add_to(exact_sum<T>& sum) noexcept {
  return {{&sum, 1}};
}

/// Both parts of a complex result, or all results of `multi_dot`: a vector, array or span.
template <std::ranges::contiguous_range Sums>
  requires std::ranges::borrowed_range<Sums>
auto add_to(Sums&& sums) noexcept {
  return []<class T, std::size_t n>(std::span<exact_sum<T>, n> all) {
    return added_sums<T>{all};
  }(std::span(sums));
}

/// `tally::dot(where, x, y, tally::add_to<double>(words))` adds to limbs where the executor can
/// write, without blocking. Streams of one device may share limbs; devices and host threads must
/// not.
template <float_or_double T>
added_words<T> add_to(std::int64_t* words) noexcept {
  return {words};
}

/// `tally::bincount(where, keys, weights, tally::add_to<double>(words, bins))` adds by bin,
/// likewise.
template <float_or_double T>
words_of_sums<T> add_to(std::int64_t* words, std::size_t sums) noexcept {
  return {words, sums};
}

/// Arguments of rounding, types erased.
struct round_arguments {
  const std::int64_t* words = nullptr;  ///< `exact_words(sum)` per sum
  type sum = type::float64;             ///< float32, float64, complex64 or complex128
  std::size_t count = 1;                ///< contiguous sums
  bool root = false;                    ///< square root, of real sums only
  output result;                        ///< first of `count` results
  bool wait = true;                     ///< whether the call blocks, with results in host memory
};

/// Rounding with types erased.
/// @throws error as `round_words`.
TALLY_EXPORT void round_words(const executor& where, const round_arguments& arguments);

namespace detail {

/// Throws size_mismatch: `sums` instead of `needed` sums.
[[noreturn]] TALLY_EXPORT void refuse_sums(const char* function, std::size_t sums,
                                           std::size_t needed);

/// Merges `needed` sums, which `add` writes to zeroed limbs in host memory, into `to`.
template <float_or_double T, class Add>
void merge_into(const char* function, const added_sums<T>& to, std::size_t needed, Add&& add) {
  constexpr auto words = static_cast<std::size_t>(exact_sum<T>::words);
  if (to.sums.size() != needed) refuse_sums(function, to.sums.size(), needed);
  std::vector<std::int64_t> all(needed * words);
  add(all.data());
  for (std::size_t i = 0; i < needed; ++i) {
    to.sums[i].merge(exact_sum<T>::from_words(&all[i * words]));
  }
}

template <float_or_double T>
constexpr type type_of_sum(bool parted) {
  return parted ? type_of<std::complex<T>> : type_of<T>;
}

template <float_or_double T, class R>
void round_sum(const executor& where, const std::int64_t* words, R* result, bool root, bool wait) {
  round_words(where, {words, type_of_sum<T>(is_complex_v<R>), 1, root, {result, type_of<R>}, wait});
}

}  // namespace detail

/// The sum, correctly rounded to R: `float`, `double`, or for two sums the complex type. Blocks.
/// (On the host also `exact_sum<T>::round_words<R>`.)
///
/// @param words  limbs of one or two `exact_sum<T>`, where the executor can read: the sum of at
///               most 2^29 calls and normal forms.
/// @throws error null_pointer, misaligned, wrong_memory, device_failure.
template <float_or_double T, class R = T>
R round_words(const executor& where, const std::int64_t* words) {
  R result;
  detail::round_sum<T>(where, words, &result, false, true);
  return result;
}

/// result = the sum, correctly rounded. Doesn't block, as `dot`.
/// @param result destination of one number (`result_place`).
/// @throws error as above, also for `result`.
template <float_or_double T, result_place R>
void round_words(const executor& where, const std::int64_t* words, R&& result) {
  detail::round_sum<T>(where, words, detail::first_result("tally::round_words", result), false,
                       false);
}

/// The sum's square root, correctly rounded; NaN if negative.
template <float_or_double T, class R = T>
R round_root_words(const executor& where, const std::int64_t* words) {
  R result;
  detail::round_sum<T>(where, words, &result, true, true);
  return result;
}

/// result = the square root of the sum. Doesn't block.
template <float_or_double T, result_place R>
void round_root_words(const executor& where, const std::int64_t* words, R&& result) {
  detail::round_sum<T>(where, words, detail::first_result("tally::round_root_words", result), true,
                       false);
}

}  // namespace tally
