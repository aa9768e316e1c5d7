// Exact sums of elements and of their magnitudes on one thread.
#include "backends/simd/exact/exact.hpp"
#include "backends/simd/simd.hpp"

#include "backends/simd/exact/levels.hpp"
#include "backends/simd/vectors/instruction_set.hpp"
#include "backends/simd/vectors/targets.hpp"

#include <cmath>
#include <cstddef>

#ifndef TALLY_BACKENDS_SIMD_EXACT_VALUES_CPP  // once per target
#define TALLY_BACKENDS_SIMD_EXACT_VALUES_CPP
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
#define HWY_TARGET_INCLUDE "backends/simd/exact/values.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/exact/sums-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

template <class T, bool magnitudes>
HWY_NOINLINE void add_packed_values(const exact_arguments& a, exact_sums& to) {
  number_arrays<T> x;
  const bool x_complex = is_complex(a.x.element);
  const bool two = x_complex || a.x.element == type::int64;
  shared_bins bins;
  intermediate_sum first{to.re, bins}, second{x_complex && !magnitudes ? to.im : to.re, bins};
  for (std::size_t i = 0; i < a.x.size; i += x.block(two)) {
    const std::size_t n = std::min(x.block(two), a.x.size - i);
    split_numbers(a.x.slice(i, n), x);
    if (magnitudes && two && !x_complex) {  // both parts get the sign of the whole
      for (std::size_t j = 0; j < n; ++j) {
        if (x.first[j] < 0) x.first[j] = -x.first[j], x.second[j] = -x.second[j];
      }
      add_terms(values<T, false>(x.first), n, first);
      add_terms(values<T, false>(x.second), n, second);
      continue;
    }
    add_terms(values<T, magnitudes>(x.first), n, first);
    if (two) add_terms(values<T, magnitudes>(x.second), n, second);
  }
  flush<false>(first);
  flush<false>(second);
}

template <class F>
void with_terms_in_place(const exact_arguments& a, const F& f) {
  with_type<type_list<float, double>>(part_of(a.x.element), [&]<class T>() HWY_ATTR {
    const T* const x = static_cast<const T*>(a.x.data);
    const std::size_t n = is_complex(a.x.element) ? 2 * a.x.size : a.x.size;
    a.term == exact_term::value ? f(values<T, false>(x), n) : f(values<T, true>(x), n);
  });
}

template <class T>
void add_packed(const exact_arguments& a, exact_sums& to) {
  a.term == exact_term::value ? add_packed_values<T, false>(a, to)
                              : add_packed_values<T, true>(a, to);
}

void add_exact(const exact_arguments& a, exact_sums& to) {
  if (are_in_place(a)) {
    return with_terms_in_place(
        a, [&](auto terms, std::size_t n) HWY_ATTR { add_all(terms, n, to.re); });
  }
  is_in<narrow_types>(a.x.element) ? add_packed<float>(a, to) : add_packed<double>(a, to);
}

}  // namespace

constexpr implementation this_target = {set_of(HWY_TARGET), {&add_exact, &write_in_place}};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {

const exact_kernels& value_kernels_of(instruction_set set) {
  return implementation_of(set).kernels;
}

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
