#include "tests/oracle.hpp"

#include "tests/data.hpp"

#include <complex>
#include <cstring>

namespace oracle {

namespace {

/// A number of any real element type: an integer, or one that a double holds.
struct real {
  bool is_integer = true;
  std::int64_t integer = 0;
  double fraction = 0;

  template <class F>
  void visit(F&& f) const {
    is_integer ? f(integer) : f(fraction);
  }
};

template <class T>
real real_of(T value) {
  if constexpr (std::is_integral_v<T>) {
    return {true, static_cast<std::int64_t>(value), 0};
  } else {
    return {false, 0, static_cast<double>(value)};
  }
}

/// A vector's real and imaginary parts; real elements have no imaginary ones.
struct parts {
  std::vector<real> re, im;
};

parts parts_of(const elements& v) {
  parts all;
  data::for_each_type([&]<class T>(std::type_identity<T>) {
    if (tally::type_of<T> != v.element) return;
    for (const T value : data::elements_of<T>(v.bytes)) {
      if constexpr (tally::is_complex_v<T>) {
        all.re.push_back(real_of(value.real()));
        all.im.push_back(real_of(value.imag()));
      } else {
        all.re.push_back(real_of(value));
      }
    }
  });
  return all;
}

void add_products(number& sum, const std::vector<real>& x, const std::vector<real>& y,
                  bool minus = false) {
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
    x[i].visit([&](auto a) { y[i].visit([&](auto b) { sum.add_product(a, b, minus); }); });
  }
}

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::vector<std::byte> rounded(const number& re, const number& im, tally::type result) {
  switch (result) {
    case tally::type::float32:
      return bytes_of(re.rounded<float>());
    case tally::type::float64:
      return bytes_of(re.rounded<double>());
    case tally::type::complex64:
      return bytes_of(std::complex<float>(re.rounded<float>(), im.rounded<float>()));
    case tally::type::complex128:
      return bytes_of(std::complex<double>(re.rounded<double>(), im.rounded<double>()));
    default:
      throw std::logic_error("no exact result has this type");
  }
}

}  // namespace

std::vector<std::byte> exact_dot(const elements& x, const elements& y, tally::type result,
                                 bool conjugate_x) {
  const parts px = parts_of(x), py = parts_of(y);
  number re, im;
  add_products(re, px.re, py.re);
  add_products(re, px.im, py.im, !conjugate_x);
  add_products(im, px.im, py.re, conjugate_x);
  add_products(im, px.re, py.im);
  return rounded(re, im, result);
}

std::vector<std::byte> exact_sum(const elements& x, tally::type result) {
  const parts p = parts_of(x);
  number re, im;
  for (const real& v : p.re) v.visit([&](auto a) { re.add(a); });
  for (const real& v : p.im) v.visit([&](auto a) { im.add(a); });
  return rounded(re, im, result);
}

std::vector<std::byte> exact_asum(const elements& x, tally::type result) {
  const parts p = parts_of(x);
  number sum;
  for (const real& v : p.re) v.visit([&](auto a) { sum.add_magnitude(a); });
  for (const real& v : p.im) v.visit([&](auto a) { sum.add_magnitude(a); });
  return rounded(sum, number(), result);
}

std::vector<std::byte> exact_nrm2(const elements& x, tally::type result) {
  const parts p = parts_of(x);
  number sum;
  add_products(sum, p.re, p.re);
  add_products(sum, p.im, p.im);
  switch (result) {
    case tally::type::float32:
      return bytes_of(sum.rounded_root<float>());
    case tally::type::float64:
      return bytes_of(sum.rounded_root<double>());
    default:
      throw std::logic_error("no norm has this type");
  }
}

}  // namespace oracle
