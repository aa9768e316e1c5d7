// The exact grade, term by term in superaccumulators.
#include "backends/serial/serial.hpp"

#include "backends/common/exact/exact_sums.hpp"
#include "backends/common/order/weighted_square.hpp"

#include <cmath>

namespace tally::backends::serial {
namespace {

/// Real number as an exact sum: a multiple of 2^32 and the rest for int64, else the number and 0.
struct number {
  double high = 0;
  double low = 0;

  friend number operator-(const number& v) { return {-v.high, -v.low}; }
};

struct parts {
  number re, im;
};

template <class T>
number number_of(T value) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    const std::int64_t low = value & 0xffffffff;
    return {static_cast<double>(value - low), static_cast<double>(low)};
  } else if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return {static_cast<float>(value)};
  } else {
    return {static_cast<double>(value)};
  }
}

template <class X>
parts read(const void* data, std::ptrdiff_t i) {
  const auto& element = static_cast<const detail::stored_t<X>*>(data)[i];
  if constexpr (is_complex_v<X>) {
    return {number_of(element.real()), number_of(element.imag())};
  } else {
    return {number_of(element), {}};
  }
}

/// Elements of a vector of any type.
struct elements {
  explicit elements(const operand& v) : operand_(v), read_(table[v.element]) {}

  parts operator[](std::size_t i) const {
    return read_(operand_.data, static_cast<std::ptrdiff_t>(i) * operand_.increment);
  }
  bool are_complex() const { return is_complex(operand_.element); }

 private:
  using reader = parts(const void*, std::ptrdiff_t);
  static constexpr auto table = table_over([]<class X>() -> reader* { return &read<X>; });

  operand operand_;
  reader* read_;
};

void add(exact_sum<double>& sum, const number& v) {
  sum.add(v.high);
  sum.add(v.low);
}

void add_product(exact_sum<double>& sum, const number& a, const number& b) {
  if (!std::isfinite(a.high) || !std::isfinite(b.high)) {
    // Infinity times a number depends on the whole number.
    sum.add_product(a.high + a.low, b.high + b.low);
    return;
  }
  for (const double x : {a.high, a.low}) {
    for (const double y : {b.high, b.low}) sum.add_product(x, y);
  }
}

number magnitude(const number& v) { return v.high + v.low < 0 ? -v : v; }

/// Adds all x_i * y_i. Real vectors have no imaginary part that an infinity could meet.
void add_products(const exact_arguments& a, exact_sums& s) {
  const elements x(a.x), y(a.y);
  for (std::size_t i = 0; i < a.x.size; ++i) {
    parts p = x[i], q = y[i];
    if (a.conjugated == conjugate::x) p.im = -p.im;
    if (a.conjugated == conjugate::y) q.im = -q.im;
    add_product(s.re, p.re, q.re);
    if (x.are_complex() && y.are_complex()) add_product(s.re, -p.im, q.im);
    if (y.are_complex()) add_product(s.im, p.re, q.im);
    if (x.are_complex()) add_product(s.im, p.im, q.re);
  }
}

void add_values(const exact_arguments& a, exact_sums& s) {
  const elements x(a.x);
  for (std::size_t i = 0; i < a.x.size; ++i) {
    const parts p = x[i];
    switch (a.term) {
      case exact_term::magnitude:
        add(s.re, magnitude(p.re));
        add(s.re, magnitude(p.im));
        break;
      case exact_term::square:
        add_product(s.re, p.re, p.re);
        add_product(s.re, p.im, p.im);
        break;
      default:
        add(s.re, p.re);
        add(s.im, p.im);
    }
  }
}

void add_weighted(const exact_arguments& a, exact_sums& s) {
  const weighted_vectors vectors(a.x, a.y, a.mask);
  with_type<type_list<float, double>>(a.result.element, [&]<class R>() {
    for (std::size_t i = 0; i < a.x.size; ++i) {
      const double number = vectors.product<R>(i);
      s.re.add_product(number, number);
    }
  });
}

}  // namespace

void add_exact(const exact_arguments& a, exact_sums& to) {
  switch (a.term) {
    case exact_term::product:
      return add_products(a, to);
    case exact_term::weighted:
      return add_weighted(a, to);
    default:
      return add_values(a, to);
  }
}

void backend::exact(const executor&, const exact_arguments& a) const {
  exact_sums sums;
  add_exact(a, sums);
  write_result(sums, a);
}

void backend::round_words(const executor&, const round_arguments& a) const {
  with_sum_types(a, [&]<class T, class R>() {
    const int parts = is_complex(a.sum) ? 2 : 1;
    for (std::size_t i = 0; i < a.count; ++i) {
      round_sum<T>(a.words, parts, a.root, static_cast<R*>(a.result.data), i);
    }
  });
}

}  // namespace tally::backends::serial
