// y_i = alpha * sum + beta * a_i on a device, where a is y or another vector.
//
// `Job` has an update_job's members (update_job.hpp).
#pragma once

#include "backends/common/elementwise/elementwise.hpp"
#include "backends/common/order/dot_sum.hpp"

#include <cstring>
#include <type_traits>

namespace tally::backends::cuda {

template <class Job, class V>
__device__ V combine(const Job& job, const V& sum, const V& addend) {
  factors<V> f;
  memcpy(&f, job.factors, sizeof f);
  return job.reads_addend ? function<elementwise::axpby>(f, sum, addend)
                          : function<elementwise::scal>(f, sum, sum);
}

/// Writes y of any type. Not inlined: kernels nearly always write the type they sum in.
template <class Job, class R>
__device__ __noinline__ void write_any(const Job& job, std::int64_t row,
                                       const complex_number<R>& sum) {
  const auto i = static_cast<std::size_t>(row);
  const auto in = [&]<class S>(S re, S im) {
    // As `is_complex`, which reorders every kernel's instructions.
    static_assert(complex_types::size == 2);
    if (job.computation == type::complex64 || job.computation == type::complex128) {
      using V = complex_number<S>;
      job.y.put(i, combine(job, V{re, im}, job.reads_addend ? job.addend.template get<V>(i) : V{}));
    } else {
      job.y.put(i, combine(job, re, job.reads_addend ? job.addend.template get<S>(i) : S{}));
    }
  };
  if (std::is_same_v<R, double> || job.computation == type::float64 ||
      job.computation == type::complex128) {
    in(static_cast<double>(sum.re), static_cast<double>(sum.im));
  } else {
    in(sum.re, sum.im);
  }
}

/// Loads a_i through L2: other blocks write its neighbours.
template <class V>
__device__ V load_addend(const V* from) {
  if constexpr (std::is_arithmetic_v<V>) {
    return __ldcg(from);
  } else {
    return {__ldcg(&from->re), __ldcg(&from->im)};
  }
}

/// Writes y, of type A, of a row with sum `sum` in A. Pre: C is A.
template <class A, class Job>
__device__ void write_own(const Job& job, std::int64_t row, const complex_number<real_t<A>>& sum) {
  using V = computed_t<A>;
  V* const y = reinterpret_cast<V*>(static_cast<real_t<A>*>(job.y.data) + row * job.y.increment);
  V value;
  if constexpr (is_complex_v<A>) {
    value = {sum.re, sum.im};
  } else {
    value = sum.re;
  }
  V addend{};
  if (job.reads_addend) {
    addend = load_addend(reinterpret_cast<const V*>(static_cast<const real_t<A>*>(job.addend.data) +
                                                    row * job.addend.increment));
  }
  *y = combine(job, value, addend);
}

/// Writes y, of any type, of a row with sum `sum` in A.
template <class A, class Job>
__device__ void write_row(const Job& job, std::int64_t row, const complex_number<real_t<A>>& sum) {
  if (job.computation != type_of<A> || job.y.number != type_of<real_t<A>> ||
      job.y.complex != is_complex_v<A>) {
    return write_any(job, row, sum);
  }
  write_own<A>(job, row, sum);
}

}  // namespace tally::backends::cuda
