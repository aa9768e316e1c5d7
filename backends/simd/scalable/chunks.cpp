// A chunk's sum, and an update. Vectors of unknown length have no size: there are no arrays of
// them, and none in a class. So lanes are variables, in packs of references, as many as a length
// needs.
#include "backends/simd/scalable/chunks.hpp"

#include <tally/numerics/order.hpp>

#include <limits>

#if TALLY_HAS_SCALABLE
#define TALLY_INLINE inline __attribute__((always_inline))

#if TALLY_HAS_SVE
#include <arm_sve.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("sve"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("+sve")
#endif
#else
#include <riscv_vector.h>  // GCC 14 takes no target for a function: the source's is CMake's
#endif

namespace tally::backends::simd::scalable {
namespace {

// --- Vectors -------------------------------------------------------------------------------------

// `vectors<W>`: `width()`, numbers per vector, at most a row of lanes; `set(value)`; `load`,
// `store` and arithmetic on some of a vector's numbers, `which`: `first(n)`, the first n, or
// `first(n, among)`, at most as many. `add_to` leaves the others.

#if TALLY_HAS_SVE

/// Vectors of lanes in registers, beside those of terms.
constexpr std::size_t max_vectors = 16;

template <class W>
struct vectors_of;
template <>
struct vectors_of<double> {
  static TALLY_INLINE svfloat64_t set(double value) { return svdup_f64(value); }
  static TALLY_INLINE std::size_t width() { return svcntd(); }
  static TALLY_INLINE std::size_t power_of_two() { return svcntd_pat(SV_POW2); }
  static TALLY_INLINE svbool_t first(std::size_t n) { return svwhilelt_b64(std::size_t{0}, n); }
  static TALLY_INLINE svbool_t all() { return svptrue_b64(); }
};
template <>
struct vectors_of<float> {
  static TALLY_INLINE svfloat32_t set(float value) { return svdup_f32(value); }
  static TALLY_INLINE std::size_t width() { return svcntw(); }
  static TALLY_INLINE std::size_t power_of_two() { return svcntw_pat(SV_POW2); }
  static TALLY_INLINE svbool_t first(std::size_t n) { return svwhilelt_b32(std::size_t{0}, n); }
  static TALLY_INLINE svbool_t all() { return svptrue_b32(); }
};

template <class W>
struct vectors : vectors_of<W> {
  using which = svbool_t;
  using vectors_of<W>::first;

  static TALLY_INLINE which first(std::size_t n, which among) {
    return svand_z(among, among, first(n));
  }
  static TALLY_INLINE auto load(which w, const W* p) { return svld1(w, p); }
  template <class V>
  static TALLY_INLINE void store(which w, W* p, V v) {
    svst1(w, p, v);
  }
  template <class V>
  static TALLY_INLINE V add(which w, V a, V b) {
    return svadd_x(w, a, b);
  }
  template <class V>
  static TALLY_INLINE V add_to(which w, V a, V b) {
    return svadd_m(w, a, b);
  }
  template <class V, class U>
  static TALLY_INLINE V multiply(which w, V a, U b) {
    return svmul_x(w, a, b);
  }
  template <class V>
  static TALLY_INLINE V magnitude(which w, V v) {
    return svabs_x(w, v);
  }
  /// Returns v with the NaN of the contract.
  template <class V>
  static TALLY_INLINE V canonical(which w, V v) {
    return svsel(svcmpeq(w, v, v), v, vectors_of<W>::set(std::numeric_limits<W>::quiet_NaN()));
  }
};

#else

constexpr std::size_t max_vectors = 4;

template <class W>
struct vectors_of;
template <>
struct vectors_of<double> {
  static TALLY_INLINE std::size_t width() { return __riscv_vsetvl_e64m4(order::lanes); }
  static TALLY_INLINE auto set(double value) {
    return __riscv_vfmv_v_f_f64m4(value, __riscv_vsetvlmax_e64m4());
  }
  static TALLY_INLINE auto load(std::size_t w, const double* p) {
    return __riscv_vle64_v_f64m4(p, w);
  }
  static TALLY_INLINE void store(std::size_t w, double* p, vfloat64m4_t v) {
    __riscv_vse64(p, v, w);
  }
};
template <>
struct vectors_of<float> {
  static TALLY_INLINE std::size_t width() { return __riscv_vsetvl_e32m4(order::lanes); }
  static TALLY_INLINE auto set(float value) {
    return __riscv_vfmv_v_f_f32m4(value, __riscv_vsetvlmax_e32m4());
  }
  static TALLY_INLINE auto load(std::size_t w, const float* p) {
    return __riscv_vle32_v_f32m4(p, w);
  }
  static TALLY_INLINE void store(std::size_t w, float* p, vfloat32m4_t v) {
    __riscv_vse32(p, v, w);
  }
};

template <class W>
struct vectors : vectors_of<W> {
  using which = std::size_t;  // the first of a vector

  static TALLY_INLINE which all() { return vectors_of<W>::width(); }
  static TALLY_INLINE which first(std::size_t n, which among) { return n < among ? n : among; }
  static TALLY_INLINE which first(std::size_t n) { return first(n, all()); }
  template <class V>
  static TALLY_INLINE V add(which w, V a, V b) {
    return __riscv_vfadd(a, b, w);
  }
  template <class V>
  static TALLY_INLINE V add_to(which w, V a, V b) {
    return __riscv_vfadd_tu(a, a, b, w);
  }
  template <class V, class U>
  static TALLY_INLINE V multiply(which w, V a, U b) {
    return __riscv_vfmul(a, b, w);
  }
  template <class V>
  static TALLY_INLINE V magnitude(which w, V v) {
    return __riscv_vfabs(v, w);
  }
  /// Returns v with the NaN of the contract.
  template <class V>
  static TALLY_INLINE V canonical(which w, V v) {
    return __riscv_vfmerge(v, std::numeric_limits<W>::quiet_NaN(), __riscv_vmfne(v, v, w), w);
  }
};

#endif

// --- Terms ---------------------------------------------------------------------------------------

/// Products x_i * y_i, each rounded.
template <class W>
struct products {
  using number = W;
  using v = vectors<W>;
  const W* x;
  const W* y;

  TALLY_INLINE auto at(typename v::which w, std::size_t i) const {
    return v::multiply(w, v::load(w, x + i), v::load(w, y + i));
  }
};

/// Numbers, their magnitudes, or their rounded squares.
template <reduction what, class W>
struct numbers {
  using number = W;
  using v = vectors<W>;
  const W* x;

  TALLY_INLINE auto at(typename v::which w, std::size_t i) const {
    const auto number_at = v::load(w, x + i);
    if constexpr (what == reduction::sum) {
      return number_at;
    } else if constexpr (what == reduction::asum) {
      return v::magnitude(w, number_at);
    } else {
      return v::multiply(w, number_at, number_at);
    }
  }
};

// --- A chunk -------------------------------------------------------------------------------------

/// Adds the terms of one vector of lanes that are below n.
template <class Terms, class Which, class V>
TALLY_INLINE void add_below(Terms t, Which all, std::size_t i, std::size_t n, V& lane) {
  using v = vectors<typename Terms::number>;
  const Which which = v::first(i < n ? n - i : 0, all);
  lane = v::add_to(which, lane, t.at(which, i));
}

/// Sums a chunk's terms of `count` * `width` lanes from `first` on, in registers.
template <std::size_t count, class Terms, class Which, class W, class... V>
TALLY_INLINE void sum_lanes(Terms t, std::size_t n, std::size_t first, Which all, std::size_t width,
                            W* lanes, V&... lane) {
  using v = vectors<W>;
  if constexpr (sizeof...(V) < count) {
    auto next = v::set(0);
    sum_lanes<count>(t, n, first, all, width, lanes, lane..., next);
  } else {
    const std::size_t whole = n - n % order::lanes;
    for (std::size_t row = first; row < whole; row += order::lanes) {
      std::size_t i = row;
      ((lane = v::add(all, lane, t.at(all, i)), i += width), ...);
    }
    if (whole < n) {
      std::size_t i = whole + first;
      ((add_below(t, all, i, n, lane), i += width), ...);
    }
    std::size_t l = first;
    ((v::store(all, lanes + l, lane), l += width), ...);
  }
}

/// Folds in halves.
template <class W>
TALLY_INLINE W fold(W* lanes, std::size_t width) {
  using v = vectors<W>;
  for (std::size_t half = order::lanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; l += width) {
      const auto which = v::first(half - l);
      v::store(which, lanes + l,
               v::add(which, v::load(which, lanes + l), v::load(which, lanes + l + half)));
    }
  }
  return lanes[0];
}

template <class Terms>
TALLY_INLINE auto sum_chunk(Terms t, std::size_t n) {
  using W = typename Terms::number;
  using v = vectors<W>;
  const std::size_t width = v::width();
  const auto all = v::all();
  alignas(64) W lanes[order::lanes];
  switch (width) {
    case order::lanes:
      sum_lanes<1>(t, n, 0, all, width, lanes);
      break;
    case order::lanes / 2:
      sum_lanes<2>(t, n, 0, all, width, lanes);
      break;
    case order::lanes / 4:
      sum_lanes<4>(t, n, 0, all, width, lanes);
      break;
#if TALLY_HAS_SVE
    case order::lanes / 8:
      sum_lanes<8>(t, n, 0, all, width, lanes);
      break;
    case order::lanes / 16:
      sum_lanes<16>(t, n, 0, all, width, lanes);
      break;
#endif
    default:
#if TALLY_HAS_SVE
      if (width > order::lanes / max_vectors) {  // no power of two, as Linux may allow
        const std::size_t part = v::power_of_two();
        for (std::size_t first = 0; first < order::lanes; first += part) {
          sum_lanes<1>(t, n, first, v::first(part), part, lanes);
        }
        break;
      }
#endif
      // More lanes than the registers hold.
      for (std::size_t first = 0; first < order::lanes; first += max_vectors * width) {
        sum_lanes<max_vectors>(t, n, first, all, width, lanes);
      }
  }
  return fold(lanes, width);
}

// --- An update -----------------------------------------------------------------------------------

template <class W>
TALLY_INLINE auto updated(typename vectors<W>::which which, W alpha, const W* x, W beta,
                          const W* y) {
  using v = vectors<W>;
  return v::canonical(which, v::add(which, v::multiply(which, v::load(which, x), alpha),
                                    v::multiply(which, v::load(which, y), beta)));
}

}  // namespace

template <class W>
W dot_of_chunk(const W* x, const W* y, std::size_t n) {
  return sum_chunk(products<W>{x, y}, n);
}

template <reduction what, class W>
W sum_of_chunk(const W* x, std::size_t n) {
  return sum_chunk(numbers<what, W>{x}, n);
}

template <class W>
void axpby(W alpha, const W* x, W beta, const W* y, W* z, std::size_t n) {
  using v = vectors<W>;
  const std::size_t width = v::width();
  const auto all = v::all();
  std::size_t i = 0;
  for (; i + 2 * width <= n; i += 2 * width) {
    const auto first = updated(all, alpha, x + i, beta, y + i);
    const auto second = updated(all, alpha, x + i + width, beta, y + i + width);
    v::store(all, z + i, first);
    v::store(all, z + i + width, second);
  }
  for (; i < n; i += width) {
    const auto which = v::first(n - i);
    v::store(which, z + i, updated(which, alpha, x + i, beta, y + i));
  }
}

template double dot_of_chunk(const double*, const double*, std::size_t);
template float dot_of_chunk(const float*, const float*, std::size_t);
template double sum_of_chunk<reduction::sum>(const double*, std::size_t);
template float sum_of_chunk<reduction::sum>(const float*, std::size_t);
template double sum_of_chunk<reduction::asum>(const double*, std::size_t);
template float sum_of_chunk<reduction::asum>(const float*, std::size_t);
template double sum_of_chunk<reduction::nrm2>(const double*, std::size_t);
template float sum_of_chunk<reduction::nrm2>(const float*, std::size_t);
template void axpby(double, const double*, double, const double*, double*, std::size_t);
template void axpby(float, const float*, float, const float*, float*, std::size_t);

std::size_t vector_bytes() {
#if TALLY_HAS_SVE
  return svcntb();
#else
  return __riscv_vsetvlmax_e8m1();
#endif
}

}  // namespace tally::backends::simd::scalable

#undef TALLY_INLINE
#if TALLY_HAS_SVE
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
#endif
