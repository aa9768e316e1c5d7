// Sums of the exact grade on a host.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/order/weighted_square.hpp"
#include "backends/common/types/tables.hpp"

#include <tally/numerics/exact_sum.hpp>

namespace tally::backends {

/// Magnitudes, squares and weighted terms only have `re`.
struct exact_sums {
  exact_sum<double> re, im;

  void merge(const exact_sums& other) {
    re.merge(other.re);
    im.merge(other.im);
  }
};

/// Adds a normalised exact_sum<double> to the words of an exact_sum<T> by `add(to, value)`. Pre: T
/// can hold the sum, with no digit below.
template <class T, class Add>
TALLY_HOST_DEVICE void add_normal_form(const std::int64_t* from, std::int64_t* to, Add add) {
  using all = exact_sum<double>;
  using some = exact_sum<T>;
  constexpr int below = (some::lowest_exponent - all::lowest_exponent) / some::radix_bits;
  for (int i = 0; i < some::limbs - 1; ++i) add(to + i, from[below + i]);
  // In the larger sum the next limb continues the sign.
  std::int64_t last = from[below + some::limbs - 1];
  if constexpr (below + some::limbs < all::limbs) {
    last -= (from[all::limbs - 1] < 0 ? std::int64_t{1} : 0) << some::radix_bits;
  }
  add(to + some::limbs - 1, last);
  for (int i = 0; i < some::words - some::limbs; ++i) {
    add(to + some::limbs + i, from[all::limbs + i]);
  }
}

/// Adds modulo 2^64. No lambda, since nvcc takes `add_normal_form` for device code, too.
struct wrapping_add {
  TALLY_HOST_DEVICE void operator()(std::int64_t* word, std::int64_t value) const {
    *word = static_cast<std::int64_t>(static_cast<std::uint64_t>(*word) +
                                      static_cast<std::uint64_t>(value));
  }
};

inline void add_to_words(const exact_sums& sums, const output& to) {
  constexpr wrapping_add add;
  with_type<type_list<float, double>>(part_of(to.element), [&]<class T>() {
    auto* const words = static_cast<std::int64_t*>(to.data);
    add_normal_form<T>(sums.re.to_words().data(), words, add);
    if (is_complex(to.element)) {
      add_normal_form<T>(sums.im.to_words().data(), words + exact_sum<T>::words, add);
    }
  });
}

inline void write_result(const exact_sums& sums, const exact_arguments& a) {
  if (a.result.words) return add_to_words(sums, a.result);
  const auto write = [&]<class R>(R* result) {
    if (a.is_root()) {
      result[0] = sums.re.round_root<R>();
      return;
    }
    result[0] = sums.re.round<R>();
    if (a.divisor() > 0) result[0] = root_of_mean(result[0], a.divisor());
    if (is_complex(a.result.element)) result[1] = sums.im.round<R>();
  };
  with_type<type_list<float, double>>(part_of(a.result.element),
                                      [&]<class R>() { write(static_cast<R*>(a.result.data)); });
}

/// Function that adds terms to sums, in the default environment.
using exact_node = void(const exact_arguments& a, exact_sums& to);

/// Sum i, of type T, to its result of type R.
template <class T, class R>
TALLY_HOST_DEVICE void round_sum(const std::int64_t* words, int parts, bool root, R* result,
                                 std::size_t i) {
  constexpr auto of_part = static_cast<std::size_t>(exact_sum<T>::words);
  for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part) {
    const std::size_t number = i * static_cast<std::size_t>(parts) + part;
    const std::int64_t* const from = words + number * of_part;
    result[number] = root ? exact_sum<T>::template round_root_words<R>(from)
                          : exact_sum<T>::template round_words<R>(from);
  }
}

template <class Round>
void with_sum_types(const round_arguments& a, Round&& round) {
  with_type<type_list<float, double>>(part_of(a.sum), [&]<class T>() {
    with_type<type_list<float, double>>(part_of(a.result.element),
                                        [&]<class R>() { round.template operator()<T, R>(); });
  });
}

}  // namespace tally::backends
