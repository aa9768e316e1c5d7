// Exact sums of products on one thread: dot, nrm2 and weighted norms.
#include "backends/simd/exact/exact.hpp"
#include "backends/simd/simd.hpp"

#include "backends/simd/exact/levels.hpp"
#include "backends/simd/vectors/instruction_set.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <cmath>
#include <cstddef>

#ifndef TALLY_BACKENDS_SIMD_EXACT_PRODUCTS_CPP  // once per target
#define TALLY_BACKENDS_SIMD_EXACT_PRODUCTS_CPP
namespace tally::backends::simd {
namespace {

struct implementation {
  instruction_set set;
  exact_kernels kernels;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/exact/products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/exact/sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void negate(T* numbers, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) numbers[i] = -numbers[i];
}

template <class T>
bool all_finite(const T* numbers, std::size_t n) {
  bool finite = true;
  for (std::size_t i = 0; i < n; ++i) finite &= numbers[i] - numbers[i] == 0;
  return finite;
}

/// Returns the sum of n integers, each the sum of two numbers, times those factors that are not
/// finite: a part may be 0, and 0 times infinity is NaN.
template <class T>
double special_products(const number_arrays<T>& integers, const T* factors, std::size_t n) {
  double special = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isfinite(factors[i])) continue;
    special += static_cast<double>(integers.first[i] + integers.second[i]) *
               static_cast<double>(factors[i]);
  }
  return special;
}

template <class T>
HWY_NOINLINE void add_packed_products(const exact_arguments& a, exact_sums& to) {
  number_arrays<T> x, y;
  const T *const of_x[] = {x.first, x.second}, *const of_y[] = {y.first, y.second};
  // A sum per pair of parts; all belong to the real sum of real numbers.
  const bool x_complex = is_complex(a.x.element), y_complex = is_complex(a.y.element);
  const bool x_whole = a.x.element == type::int64, y_whole = a.y.element == type::int64;
  exact_sum<double>&of_first = x_complex ? to.im : to.re, &of_second = y_complex ? to.im : to.re;
  shared_bins bins;
  intermediate_sum sums[2][2] = {
      {{to.re, bins}, {of_second, bins}},
      {{of_first, bins}, {x_complex != y_complex ? to.im : to.re, bins}}};
  const bool x_two = x_complex || x_whole, y_two = y_complex || y_whole;
  const std::size_t block = x.block(x_two || y_two);
  for (std::size_t k = 0; k < a.x.size; k += block) {
    const std::size_t n = std::min(block, a.x.size - k);
    split_numbers(a.x.slice(k, n), x);
    split_numbers(a.y.slice(k, n), y);
    if (a.conjugated == conjugate::x && x_complex) negate(x.second, n);
    if (a.conjugated == conjugate::y && y_complex) negate(y.second, n);
    if (!x_two && !y_two) {
      add_terms(products<T>(x.first, y.first), n, sums[0][0]);
      continue;
    }
    const bool whole_x[] = {x_whole && !all_finite(y.first, n),
                            x_whole && y_complex && !all_finite(y.second, n)};
    const bool whole_y[] = {y_whole && !all_finite(x.first, n),
                            y_whole && x_complex && !all_finite(x.second, n)};
    // The two sums of a complex real part, which may need the bins, are adjacent.
    for (const auto& [i, j] : {std::pair{0, 1}, {1, 0}, {1, 1}, {0, 0}}) {
      if ((i == 1 && !x_two) || (j == 1 && !y_two)) continue;
      if (i == 1 && j == 1 && x_complex && y_complex) negate(x.second, n);
      if (whole_x[j]) {
        if (i == 0) sums[i][j].add_special(special_products(x, of_y[j], n));
      } else if (whole_y[i]) {
        if (j == 0) sums[i][j].add_special(special_products(y, of_x[i], n));
      } else {
        add_terms(products<T>(of_x[i], of_y[j]), n, sums[i][j]);
      }
    }
  }
  for (auto& [first, second] : sums)
    flush<products<T>::paired>(first), flush<products<T>::paired>(second);
}

/// Adds re^2 + im^2 of complex numbers, (high + low)^2 of int64.
template <class T>
HWY_NOINLINE void add_packed_squares(const exact_arguments& a, exact_sums& to) {
  number_arrays<T> x;
  const bool x_complex = is_complex(a.x.element);
  const bool two = x_complex || a.x.element == type::int64;
  shared_bins bins;
  intermediate_sum first{to.re, bins}, second{to.re, bins}, mixed{to.re, bins};
  for (std::size_t i = 0; i < a.x.size; i += x.block(two)) {
    const std::size_t n = std::min(x.block(two), a.x.size - i);
    split_numbers(a.x.slice(i, n), x);
    add_terms(products<T>(x.first, x.first), n, first);
    if (two) add_terms(products<T>(x.second, x.second), n, second);
    if (two && !x_complex) {
      for (std::size_t j = 0; j < n; ++j) x.first[j] *= 2;
      add_terms(products<T>(x.first, x.second), n, mixed);
    }
  }
  for (intermediate_sum* held : {&first, &second, &mixed}) flush<products<T>::paired>(*held);
}

/// Adds squares of rounded products, packed.
template <class T>
HWY_NOINLINE void add_packed_weighted(const exact_arguments& a, exact_sums& to) {
  buffer<T> made;
  shared_bins bins;
  intermediate_sum held{to.re, bins};
  for (std::size_t i = 0; i < a.x.size; i += order::chunk) {
    const std::size_t n = std::min(order::chunk, a.x.size - i);
    const exact_arguments part = a.slice(i, n);
    weighted_products(part.x, part.y, part.mask, made);
    add_terms(products<T>(made.numbers, made.numbers), n, held);
  }
  flush<products<T>::paired>(held);
}

template <class T>
void add_packed(const exact_arguments& a, exact_sums& to) {
  switch (a.term) {
    case exact_term::square:
      return add_packed_squares<T>(a, to);
    case exact_term::weighted:
      return add_packed_weighted<T>(a, to);
    default:
      return add_packed_products<T>(a, to);
  }
}

template <class F>
void with_terms_in_place(const exact_arguments& a, const F& f) {
  with_type<type_list<float, double>>(part_of(a.x.element), [&]<class T>() HWY_ATTR {
    const T* const x = static_cast<const T*>(a.x.data);
    const bool product = a.term == exact_term::product;
    f(products<T>(x, product ? static_cast<const T*>(a.y.data) : x),
      is_complex(a.x.element) ? 2 * a.x.size : a.x.size);
  });
}

void add_exact(const exact_arguments& a, exact_sums& to) {
  if (are_in_place(a)) {
    return with_terms_in_place(
        a, [&](auto terms, std::size_t n) HWY_ATTR { add_all(terms, n, to.re); });
  }
  if (a.term == exact_term::weighted) {  // in the type of the products
    return a.result.element == type::float32 ? add_packed<float>(a, to) : add_packed<double>(a, to);
  }
  const bool product = a.term == exact_term::product;
  const bool narrow =
      is_in<narrow_types>(a.x.element) && (!product || is_in<narrow_types>(a.y.element));
  narrow ? add_packed<float>(a, to) : add_packed<double>(a, to);
}

}  // namespace

constexpr implementation this_target = {set_of(HWY_TARGET), {&add_exact, &write_in_place}};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {

const exact_kernels& product_kernels_of(instruction_set set) {
  return implementation_of(set).kernels;
}

void backend::exact_dot(const executor& where, const dot_arguments& d) const {
  const exact_arguments a = exact_of(d);
  write_exact(a, product_kernels_of(set_for_exact(where, a)));
}

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
