#include "tests/transcription.hpp"

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

namespace transcription {

namespace {

/// Replaces a NaN by the positive quiet NaN with an empty payload.
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

template <class R, class T>
R converted(const T& value) {
  if constexpr (std::is_same_v<T, tally::float16> || std::is_same_v<T, tally::bfloat16>) {
    return static_cast<R>(static_cast<float>(value));
  } else {
    return static_cast<R>(value);
  }
}

/// An operand's parts in the type that multiplies and adds them. Real operands have no imaginary
/// parts.
template <class R>
struct parts {
  std::vector<R> re, im;
  bool is_complex = false;
};

template <class R>
parts<R> parts_of(const elements& v) {
  parts<R> all;
  data::for_each_type([&]<class T>(std::type_identity<T>) {
    if (tally::type_of<T> != v.element) return;
    if constexpr (std::is_integral_v<T> || std::is_floating_point_v<R>) {
      for (const std::byte* at = v.bytes.data(); at != v.bytes.data() + v.bytes.size();
           at += sizeof(T)) {
        T value;
        std::memcpy(&value, at, sizeof(T));
        if constexpr (tally::is_complex_v<T>) {
          all.re.push_back(converted<R>(value.real()));
          all.im.push_back(converted<R>(value.imag()));
        } else {
          all.re.push_back(converted<R>(value));
        }
      }
      all.is_complex = tally::is_complex_v<T>;
    }
  });
  return all;
}

template <class R, class Term>
R row_sum(std::size_t n, Term term) {
  if (n > 128) return sum<R>(n, term);
  R lane[8] = {};
  for (std::size_t l = 0; l < 8; ++l) {
    for (std::size_t i = l; i < n; i += 8) lane[l] = plus(lane[l], term(i));
  }
  for (std::size_t l = 0; l < 4; ++l) lane[l] = plus(lane[l], lane[l + 4]);
  for (std::size_t l = 0; l < 2; ++l) lane[l] = plus(lane[l], lane[l + 2]);
  return plus(lane[0], lane[1]);
}

/// |a|; of the lowest int64 2^63, which modulo 2^64 is itself.
template <class R>
R magnitude(R a) {
  if constexpr (std::is_same_v<R, std::int64_t>) {
    return a < 0 ? static_cast<R>(0 - static_cast<std::uint64_t>(a)) : a;
  } else {
    return a != a ? a : std::signbit(a) ? -a : a;
  }
}

/// sum |x_i|; complex: sum |re x_i| + sum |im x_i|.
template <class R>
R asum(const parts<R>& x) {
  const auto sum_of = [](const std::vector<R>& numbers) {
    return sum<R>(numbers.size(), [&](std::size_t i) { return magnitude(numbers[i]); });
  };
  return x.is_complex ? plus(sum_of(x.re), sum_of(x.im)) : sum_of(x.re);
}

/// sqrt(sum x_i^2); complex: sqrt(sum re(x_i)^2 + sum im(x_i)^2). If that sum is too small or
/// infinite, elements are scaled by a power of two, and the root is scaled back.
template <class R>
R nrm2(const parts<R>& x) {
  const auto squares = [&](R scale) {
    const auto sum_of = [&](const std::vector<R>& numbers) {
      return sum<R>(numbers.size(), [&](std::size_t i) {
        return times(times(numbers[i], scale), times(numbers[i], scale));
      });
    };
    return x.is_complex ? plus(sum_of(x.re), sum_of(x.im)) : sum_of(x.re);
  };
  constexpr bool in_double = std::is_same_v<R, double>;
  const R min_sum = in_double ? R(0x1p-960) : R(0x1p-72);
  const R up = in_double ? R(0x1p600) : R(0x1p80);
  const R down = in_double ? R(0x1p-900) : R(0x1p-100);
  const R s = squares(1);
  if (s < min_sum) return std::sqrt(squares(up)) / up;
  if (s == std::numeric_limits<R>::infinity()) return std::sqrt(squares(down)) / down;
  return std::sqrt(s);
}

/// A complex result, or its real part alone.
template <class R>
std::vector<std::byte> result_of(R re, R im, bool is_complex) {
  const R both[] = {canonical(re), canonical(im)};
  std::vector<std::byte> bytes((is_complex ? 2 : 1) * sizeof(R));
  std::memcpy(bytes.data(), both, bytes.size());
  return bytes;
}

/// Calls f with the type of a result's parts and whether there are two.
template <class F>
std::vector<std::byte> computed_in(tally::type result, F f) {
  switch (result) {
    case tally::type::int64:
      return f(std::type_identity<std::int64_t>(), false);
    case tally::type::float32:
      return f(std::type_identity<float>(), false);
    case tally::type::float64:
      return f(std::type_identity<double>(), false);
    case tally::type::complex64:
      return f(std::type_identity<float>(), true);
    case tally::type::complex128:
      return f(std::type_identity<double>(), true);
    default:
      ADD_FAILURE() << "no result is " << tally::name(result);
      return {};
  }
}

}  // namespace

std::vector<std::byte> dot(const elements& x, const elements& y, tally::type accumulator,
                           bool conjugate_x, order ordered) {
  return computed_in(accumulator, [&]<class R>(std::type_identity<R>, bool is_complex) {
    const parts<R> px = parts_of<R>(x), py = parts_of<R>(y);
    const auto products = [&](const std::vector<R>& a, const std::vector<R>& b) {
      const auto term = [&](std::size_t i) { return times(a[i], b[i]); };
      return ordered == order::of_rows ? row_sum<R>(a.size(), term) : sum<R>(a.size(), term);
    };
    // Products with a missing part are absent.
    const R rr = products(px.re, py.re);
    const R ii = px.is_complex && py.is_complex ? products(px.im, py.im) : R(0);
    const R ri = py.is_complex ? products(px.re, py.im) : R(0);
    const R ir = px.is_complex ? products(px.im, py.re) : R(0);
    if (!is_complex) return result_of(rr, R(0), false);
    if (conjugate_x) return result_of<R>(rr + ii, ri - ir, true);
    return result_of<R>(rr - ii, ri + ir, true);
  });
}

std::vector<std::byte> reduction(tally::reduction what, const elements& x, tally::type result) {
  return computed_in(result, [&]<class R>(std::type_identity<R>, bool is_complex) {
    const parts<R> p = parts_of<R>(x);
    if (what == tally::reduction::asum) return result_of(asum(p), R(0), false);
    if constexpr (std::is_floating_point_v<R>) {
      if (what == tally::reduction::nrm2) return result_of(nrm2(p), R(0), false);
    }
    const auto sum_of = [](const std::vector<R>& numbers) {
      return sum<R>(numbers.size(), [&](std::size_t i) { return numbers[i]; });
    };
    return result_of(sum_of(p.re), sum_of(p.im), is_complex);
  });
}

}  // namespace transcription
