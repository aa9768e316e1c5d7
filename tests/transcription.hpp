// The order contract, word for word and slowly: what every backend is compared with. It shares no
// code with the library but the element types.
#pragma once

#include <tally/order.hpp>
#include <tally/types.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace transcription {

/// The product of step 1 and the sum of steps 2 to 4, in int64 modulo 2^64.
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
template <class T>
T times(T a, T b) {
  return a * b;
}
template <class T>
T plus(T a, T b) {
  return a + b;
}

/// Steps 2 to 4 over the terms term(0) ... term(n-1), with `identity` for +0 and any `plus`.
template <class T, class Term, class Plus>
T reduce(std::size_t n, Term term, const T& identity, Plus plus) {
  // 2. Terms are cut into chunks; in a chunk, lane l starts at +0 and adds t_l, t_(l+64), ...
  std::vector<T> level;
  for (std::size_t first = 0; first < n; first += tally::order::chunk) {
    std::vector<T> lane(64, identity);
    for (std::size_t l = 0; l < 64; ++l) {
      for (std::size_t i = l; i < tally::order::chunk && first + i < n; i += 64) {
        lane[l] = plus(lane[l], term(first + i));
      }
    }
    // 3. The lanes fold in halves.
    for (std::size_t l = 0; l < 32; ++l) lane[l] = plus(lane[l], lane[l + 32]);
    for (std::size_t l = 0; l < 16; ++l) lane[l] = plus(lane[l], lane[l + 16]);
    for (std::size_t l = 0; l < 8; ++l) lane[l] = plus(lane[l], lane[l + 8]);
    for (std::size_t l = 0; l < 4; ++l) lane[l] = plus(lane[l], lane[l + 4]);
    for (std::size_t l = 0; l < 2; ++l) lane[l] = plus(lane[l], lane[l + 2]);
    level.push_back(plus(lane[0], lane[1]));
  }
  // 4. Pairs (2j, 2j+1), an odd last one passing up unchanged.
  while (level.size() > 1) {
    std::vector<T> next;
    for (std::size_t j = 0; j + 1 < level.size(); j += 2)
      next.push_back(plus(level[j], level[j + 1]));
    if (level.size() % 2 == 1) next.push_back(level.back());
    level = next;
  }
  return level.empty() ? identity : level[0];
}

template <class T, class Term>
T sum(std::size_t n, Term term) {
  return reduce(n, term, T(0), [](const T& a, const T& b) { return plus(a, b); });
}

/// A NaN result is the positive quiet NaN with an empty payload.
template <class T>
T canonical(T value) {
  if constexpr (std::is_same_v<T, double>) {
    const std::uint64_t quiet = 0x7ff8000000000000u;
    if (value != value) std::memcpy(&value, &quiet, sizeof quiet);
  } else if constexpr (std::is_same_v<T, float>) {
    const std::uint32_t quiet = 0x7fc00000u;
    if (value != value) std::memcpy(&value, &quiet, sizeof quiet);
  }
  return value;
}

template <class A, class T>
A converted(const T& value) {
  if constexpr (std::is_same_v<T, tally::float16> || std::is_same_v<T, tally::bfloat16>) {
    return static_cast<A>(static_cast<float>(value));
  } else {
    return static_cast<A>(value);
  }
}

template <class R, class T>
R real_part(const T& value) {
  if constexpr (tally::is_complex_v<T>) {
    return converted<R>(value.real());
  } else {
    return converted<R>(value);
  }
}

/// A real operand has no imaginary part; its products are absent, which +0 terms are the same as.
template <class R, class T>
R imaginary_part(const T& value) {
  if constexpr (tally::is_complex_v<T>) {
    return converted<R>(value.imag());
  } else {
    return R(0);
  }
}

/// Of n terms: the order of `dot`.
struct in_order {
  template <class R, class Term>
  static R sum(std::size_t n, Term term) {
    return transcription::sum<R>(n, term);
  }
};

/// Of the n terms of a matrix's row: up to 128 of them in 8 lanes.
struct in_row_order {
  template <class R, class Term>
  static R sum(std::size_t n, Term term) {
    if (n > 128) return transcription::sum<R>(n, term);
    R lane[8] = {};
    for (std::size_t l = 0; l < 8; ++l) {
      for (std::size_t i = l; i < n; i += 8) lane[l] = plus(lane[l], term(i));
    }
    for (std::size_t l = 0; l < 4; ++l) lane[l] = plus(lane[l], lane[l + 4]);
    for (std::size_t l = 0; l < 2; ++l) lane[l] = plus(lane[l], lane[l + 2]);
    return plus(lane[0], lane[1]);
  }
};

/// sum x_i y_i, or sum conj(x_i) y_i.
template <class A, class Order = in_order, class X, class Y>
A dot(const std::vector<X>& x, const std::vector<Y>& y, bool conjugate_x) {
  using R = tally::real_t<A>;
  const auto products = [&](auto of_x, auto of_y) {
    return Order::template sum<R>(x.size(),
                                  [&](std::size_t i) { return times(of_x(x[i]), of_y(y[i])); });
  };
  const auto rx = [](const X& v) { return real_part<R>(v); };
  const auto ry = [](const Y& v) { return real_part<R>(v); };
  if constexpr (!tally::is_complex_v<A>) {
    return canonical(products(rx, ry));
  } else {
    const auto ix = [](const X& v) { return imaginary_part<R>(v); };
    const auto iy = [](const Y& v) { return imaginary_part<R>(v); };
    const R rr = products(rx, ry);
    const R ii = tally::is_complex_v<X> && tally::is_complex_v<Y> ? products(ix, iy) : R(0);
    const R ri = tally::is_complex_v<Y> ? products(rx, iy) : R(0);
    const R ir = tally::is_complex_v<X> ? products(ix, ry) : R(0);
    if (conjugate_x) return {canonical(rr + ii), canonical(ri - ir)};
    return {canonical(rr - ii), canonical(ri + ir)};
  }
}

/// sum x_i: of the real and of the imaginary parts.
template <class A, class X>
A sum_of(const std::vector<X>& x) {
  using R = tally::real_t<A>;
  const R re = sum<R>(x.size(), [&](std::size_t i) { return real_part<R>(x[i]); });
  if constexpr (!tally::is_complex_v<A>) {
    return canonical(re);
  } else {
    const R im = sum<R>(x.size(), [&](std::size_t i) { return imaginary_part<R>(x[i]); });
    return {canonical(re), canonical(im)};
  }
}

/// |a|; of the least int64 2^63, which modulo 2^64 is itself.
template <class T>
T magnitude(T a) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return a < 0 ? static_cast<T>(0 - static_cast<std::uint64_t>(a)) : a;
  } else {
    return a != a ? a : std::signbit(a) ? -a : a;
  }
}

/// sum |x_i|; of complex elements sum |re x_i| + sum |im x_i|.
template <class R, class X>
R asum(const std::vector<X>& x) {
  const R re = sum<R>(x.size(), [&](std::size_t i) { return magnitude(real_part<R>(x[i])); });
  if constexpr (!tally::is_complex_v<X>) {
    return canonical(re);
  } else {
    const R im =
        sum<R>(x.size(), [&](std::size_t i) { return magnitude(imaginary_part<R>(x[i])); });
    return canonical(plus(re, im));
  }
}

/// sqrt(sum x_i^2); of complex elements sqrt(sum re(x_i)^2 + sum im(x_i)^2). Where that sum is too
/// small or infinite, the elements are multiplied by a power of two, and the root is divided by it.
template <class R, class X>
R nrm2(const std::vector<X>& x) {
  const auto squares = [&](R scale) {
    const auto square = [&](R number) { return times(times(number, scale), times(number, scale)); };
    const R re = sum<R>(x.size(), [&](std::size_t i) { return square(real_part<R>(x[i])); });
    if constexpr (!tally::is_complex_v<X>) return re;
    return plus(re,
                sum<R>(x.size(), [&](std::size_t i) { return square(imaginary_part<R>(x[i])); }));
  };
  constexpr bool in_double = std::is_same_v<R, double>;
  const R least = in_double ? R(0x1p-960) : R(0x1p-72);
  const R up = in_double ? R(0x1p600) : R(0x1p80);
  const R down = in_double ? R(0x1p-900) : R(0x1p-100);
  const R s = squares(1);
  if (s < least) return canonical(std::sqrt(squares(up)) / up);
  if (s == std::numeric_limits<R>::infinity()) return canonical(std::sqrt(squares(down)) / down);
  return canonical(std::sqrt(s));
}

}  // namespace transcription
