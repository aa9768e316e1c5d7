// Terms of spmv: loads of nonzeros with their elements of x, and staging.
#pragma once

#include "backends/cuda/device/hand_over.cuh"
#include "backends/cuda/spmv/job.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends::cuda {

/// Terms in shared memory, one plane per component.
template <class A, int capacity>
class term_planes {
  using R = real_t<A>;
  static constexpr int planes = is_complex_v<A> ? 4 : 1;

 public:
  static constexpr std::size_t bytes = sizeof(R) * planes * capacity;

  __device__ explicit term_planes(void* memory) : terms_(static_cast<R*>(memory)) {}

  __device__ dot_sum<A> operator[](int i) const {
    if constexpr (is_complex_v<A>) {
      return {terms_[i], terms_[capacity + i], terms_[2 * capacity + i], terms_[3 * capacity + i]};
    } else {
      return {terms_[i]};
    }
  }
  __device__ void put(int i, const dot_sum<A>& term) const {
    if constexpr (is_complex_v<A>) {
      terms_[i] = term.rr;
      terms_[capacity + i] = term.ii;
      terms_[2 * capacity + i] = term.ri;
      terms_[3 * capacity + i] = term.ir;
    } else {
      terms_[i] = term.value;
    }
  }

 private:
  R* terms_;
};

template <class A, class V, class X>
__device__ dot_sum<A> term_of(on_device_t<V> value, on_device_t<X> x) {
  using R = real_t<A>;
  if constexpr (!is_complex_v<A>) {
    return {convert<R>(value) * convert<R>(x)};
  } else if constexpr (!is_complex_v<V>) {
    const R v = convert<R>(value);
    return {v * convert<R>(x.re), R{}, v * convert<R>(x.im), R{}};
  } else if constexpr (!is_complex_v<X>) {
    const R re = convert<R>(x);
    return {convert<R>(value.re) * re, R{}, R{}, convert<R>(value.im) * re};
  } else {
    const R vr = convert<R>(value.re), vi = convert<R>(value.im);
    const R xr = convert<R>(x.re), xi = convert<R>(x.im);
    return {vr * xr, vi * xi, vr * xi, vi * xr};
  }
}

/// Loads `to` if `wanted`, else leaves it, without a branch (tuning/spmv.md: load_if).
template <class T>
__device__ void load_if(bool wanted, const T* from, T& to) {
  if constexpr (sizeof(T) == 2) {
    auto bits = __builtin_bit_cast(std::uint16_t, to);
    ptx::load_if(wanted, from, bits);
    to = __builtin_bit_cast(T, bits);
  } else if constexpr (sizeof(T) == 4) {
    auto bits = __builtin_bit_cast(std::uint32_t, to);
    ptx::load_if(wanted, from, bits);
    to = __builtin_bit_cast(T, bits);
  } else if constexpr (std::is_arithmetic_v<T>) {
    auto bits = __builtin_bit_cast(std::uint64_t, to);
    ptx::load_if(wanted, from, bits);
    to = __builtin_bit_cast(T, bits);
  } else {  // aligned as its parts
    load_if(wanted, &from->re, to.re);
    load_if(wanted, &from->im, to.im);
  }
}

/// The same of what is needed once: it leaves the first cache to others. T has 16 bits or more.
template <class T>
__device__ void stream_if(bool wanted, const T* from, T& to) {
  using bits_of =
      std::conditional_t<sizeof(T) == 2, std::uint16_t,
                         std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  auto bits = __builtin_bit_cast(bits_of, to);
  ptx::stream_if(wanted, from, bits);
  to = __builtin_bit_cast(T, bits);
}

/// Position of a thread's nonzeros. With an index the compiler makes one address per load, too many
/// for the registers (tuning/spmv.md: nonzero_cursor).
template <class V, class Column>
struct nonzero_cursor {
  const Column* columns;
  const on_device_t<V>* values;

  __device__ nonzero_cursor(const spmv_job& job, std::int64_t at)
      : columns(static_cast<const Column*>(job.columns.data) + at),
        values(static_cast<const on_device_t<V>*>(job.values.data) + at) {}
  __device__ void move(int by) {
    columns += by;
    values += by;
  }
};

/// Elements of types known at run time: rare mixed complex pairs, and permuted values.
struct any_element {};

template <class Column>
struct nonzero_cursor<any_element, Column> {
  std::int64_t at;

  __device__ nonzero_cursor(const spmv_job&, std::int64_t first) : at(first) {}
  __device__ void move(int by) { at += by; }
};

/// Stands for x's type where terms are the values alone.
struct values_alone {};

/// float16 or bfloat16, known at run time.
struct any_half {
  std::uint16_t bits;
};

template <class V>
__device__ V number_of(const spmv_job&, V value) {
  return value;
}
__device__ inline float number_of(const spmv_job& job, any_half value) {
  const auto half = convert<float>(__builtin_bit_cast(float16, value));
  const auto brain = convert<float>(__builtin_bit_cast(bfloat16, value));
  return job.values.number == type::float16 ? half : brain;
}

/// Loads elements `place(k)` where `wanted(k)`, else 0.
template <class R, int count, class Wanted, class Place>
__device__ void load_any(complex_number<R> (&to)[count], const typed_vector& from,
                         const Wanted& wanted, const Place& place) {
  with_type<floating_point_types>(from.number, [&]<class T>() {
    T re[count] = {}, im[count] = {};
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const auto* const at = static_cast<const T*>(from.data) + place(k) * from.increment;
      load_if(wanted(k), at, re[k]);
      load_if(wanted(k) && from.complex, at + 1, im[k]);
    }
#pragma unroll
    for (int k = 0; k < count; ++k) to[k] = {convert<R>(re[k]), convert<R>(im[k])};
  });
}

/// Loads indices `place(k)` where `wanted(k)`, else 0.
template <int count, class Wanted, class Place>
__device__ void load_indices(std::int64_t (&to)[count], const index_vector& from,
                             const Wanted& wanted, const Place& place) {
  const auto load = [&]<class I>(const I* all) {
    I index[count] = {};
#pragma unroll
    for (int k = 0; k < count; ++k) load_if(wanted(k), all + place(k), index[k]);
#pragma unroll
    for (int k = 0; k < count; ++k) to[k] = index[k];
  };
  from.wide ? load(static_cast<const std::int64_t*>(from.data))
            : load(static_cast<const std::int32_t*>(from.data));
}

/// Loads terms `place(k)`, of any types, where `wanted(k)`, else +0.
template <class A, int in_flight, class Wanted, class Place>
__device__ void load_any_terms(const spmv_job& job, const Wanted& wanted, const Place& place,
                               dot_sum<A> (&terms)[in_flight]) {
  using R = real_t<A>;
  complex_number<R> value[in_flight], element[in_flight];
  std::int64_t index[in_flight];
  if (job.places.data == nullptr) {
    load_any(value, job.values, wanted, place);
  } else {
    load_indices(index, job.places, wanted, place);
    load_any(value, job.values, wanted, [&](int k) { return index[k]; });
  }
  if (job.x.data == nullptr) {
#pragma unroll
    for (int k = 0; k < in_flight; ++k) element[k] = {R{1}, R{0}};
  } else {
    load_indices(index, job.columns, wanted, place);
    load_any(element, job.x, wanted, [&](int k) { return index[k]; });
  }
#pragma unroll
  for (int k = 0; k < in_flight; ++k) {
    const auto [vr, vi] = value[k];
    const auto [xr, xi] = element[k];
    if constexpr (is_complex_v<A>) {
      terms[k] = {};
      terms[k].rr = vr * xr;
      if (job.values.complex && job.x.complex) terms[k].ii = vi * xi;
      if (job.x.complex) terms[k].ri = vr * xi;
      if (job.values.complex) terms[k].ir = vi * xr;
    } else {
      terms[k].value = vr * xr;
    }
  }
}

/// Loads `in_flight` terms, each `apart` from the one before; +0 behind the next `left`. All loads
/// of a kind go out before the first is waited for.
template <class A, class V, class X, int apart, class Column, int in_flight>
__device__ void load_terms(const spmv_job& job, const nonzero_cursor<V, Column>& from, int left,
                           dot_sum<A> (&terms)[in_flight]) {
  const auto wanted = [left](int k) { return k * apart < left; };
  if constexpr (std::is_same_v<V, any_element>) {
    load_any_terms<A>(job, wanted, [&](int k) { return from.at + k * apart; }, terms);
  } else if constexpr (std::is_same_v<X, values_alone>) {
    static_assert(std::is_same_v<A, V>);
    V value[in_flight] = {};
#pragma unroll
    for (int k = 0; k < in_flight; ++k) load_if(wanted(k), from.values + k * apart, value[k]);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) terms[k] = {value[k]};
  } else {
    Column column[in_flight] = {};
#pragma unroll
    for (int k = 0; k < in_flight; ++k) load_if(wanted(k), from.columns + k * apart, column[k]);
    using DX = on_device_t<X>;
    const auto* const x = static_cast<const real_t<X>*>(job.x.data);
    on_device_t<V> value[in_flight] = {};
    DX element[in_flight] = {};
#pragma unroll
    for (int k = 0; k < in_flight; ++k) load_if(wanted(k), from.values + k * apart, value[k]);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      load_if(wanted(k), reinterpret_cast<const DX*>(x + column[k] * job.x.increment), element[k]);
    }
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      using Number = std::conditional_t<std::is_same_v<V, any_half>, float, V>;
      terms[k] = term_of<A, Number, X>(number_of(job, value[k]), element[k]);
    }
  }
}

/// Stages `count` terms from `first` on, in a block of `threads` threads.
template <class A, class V, class X, class Column, int threads, int capacity>
__device__ void stage(const spmv_job& job, const term_planes<A, capacity>& terms,
                      std::int64_t first, int count) {
  constexpr int in_flight = 4;
  nonzero_cursor<V, Column> from(job, first + threadIdx.x);
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < count; i += in_flight * threads) {
    dot_sum<A> loaded[in_flight];
    load_terms<A, V, X, threads>(job, from, count - i, loaded);
    from.move(in_flight * threads);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (i + k * threads < count) terms.put(i + k * threads, loaded[k]);
    }
  }
}

template <class A, class V, class X, int threads, int capacity>
__device__ void stage(const spmv_job& job, const term_planes<A, capacity>& terms,
                      std::int64_t first, int count) {
  if (job.columns.wide && !std::is_same_v<V, any_element>) {
    stage<A, V, X, std::int64_t, threads>(job, terms, first, count);
  } else {
    stage<A, V, X, std::int32_t, threads>(job, terms, first, count);
  }
}

/// The same of real types, with columns of 32 bits and contiguous x. Values and columns, needed
/// once, leave the first cache to x.
template <class T, int threads, int in_flight, int capacity>
__device__ void stage_streamed(const spmv_job& job, const term_planes<T, capacity>& terms,
                               std::int64_t first, int count) {
  nonzero_cursor<T, std::int32_t> from(job, first + threadIdx.x);
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < count; i += in_flight * threads) {
    const auto wanted = [&](int k) { return i + k * threads < count; };
    std::int32_t column[in_flight] = {};
    T value[in_flight] = {}, element[in_flight] = {};
#pragma unroll
    for (int k = 0; k < in_flight; ++k) stream_if(wanted(k), from.columns + k * threads, column[k]);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) stream_if(wanted(k), from.values + k * threads, value[k]);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      load_if(wanted(k), static_cast<const T*>(job.x.data) + column[k], element[k]);
    }
    from.move(in_flight * threads);
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      if (wanted(k)) terms.put(i + k * threads, term_of<T, T, T>(value[k], element[k]));
    }
  }
}

}  // namespace tally::backends::cuda
