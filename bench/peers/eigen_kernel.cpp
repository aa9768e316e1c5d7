#include "bench/peers/eigen_kernel.hpp"

#include "bench/elementwise.hpp"

#include <Eigen/Core>

namespace {

/// Eigen's type for our element type.
template <class T>
struct eigen {
  using type = T;
};
template <>
struct eigen<tally::float16> {
  using type = Eigen::half;
};
template <>
struct eigen<tally::bfloat16> {
  using type = Eigen::bfloat16;
};

template <class T>
auto vector(const void* data, std::size_t n) {
  using element = typename eigen<T>::type;
  using array = Eigen::Array<element, Eigen::Dynamic, 1>;
  return Eigen::Map<const array>(static_cast<const element*>(data), static_cast<Eigen::Index>(n));
}

template <class X, class Y, class A>
void kernel(const void* x, const void* y, std::size_t n, void* result) {
  *static_cast<A*>(result) =
      (vector<X>(x, n).template cast<A>() * vector<Y>(y, n).template cast<A>()).sum();
}

template <class X, class A>
void sum_kernel(const void* x, const void*, std::size_t n, void* result) {
  *static_cast<A*>(result) = vector<X>(x, n).template cast<A>().sum();
}
template <class X>
void asum_kernel(const void* x, const void*, std::size_t n, void* result) {
  *static_cast<X*>(result) = vector<X>(x, n).abs().sum();
}
template <class X>
void nrm2_kernel(const void* x, const void*, std::size_t n, void* result) {
  *static_cast<X*>(result) = vector<X>(x, n).matrix().norm();
}
template <class X>
void sum_of_squares_kernel(const void* x, const void*, std::size_t n, void* result) {
  *static_cast<X*>(result) = vector<X>(x, n).matrix().squaredNorm();
}
template <class X>
void max_norm_kernel(const void* x, const void*, std::size_t n, void* result) {
  *static_cast<X*>(result) = vector<X>(x, n).abs().maxCoeff();
}
template <class X>
void wrms_norm_kernel(const void* x, const void* w, std::size_t n, void* result) {
  *static_cast<X*>(result) = std::sqrt((vector<X>(x, n) * vector<X>(w, n)).square().mean());
}
/// The value, found with its index.
template <class X>
void max_kernel(const void* x, const void*, std::size_t n, void* result) {
  Eigen::Index index;
  *static_cast<X*>(result) = vector<X>(x, n).maxCoeff(&index);
}
template <class X>
void iamax_kernel(const void* x, const void*, std::size_t n, void* result) {
  Eigen::Index index;
  vector<X>(x, n).abs().maxCoeff(&index);
  *static_cast<std::int64_t*>(result) = index;
}

/// The function of arrays: x, y and, where three are read, z.
template <tally::elementwise what, class X, class V>
auto expression_of(const V& x, const V& y, const V& z) {
  using bench::plain::alpha, bench::plain::beta, bench::plain::gamma;
  using bench::plain::low, bench::plain::high;
  using e = tally::elementwise;
  if constexpr (what == e::copy) return x;
  if constexpr (what == e::axpy) return static_cast<X>(alpha) * x + y;
  if constexpr (what == e::waxpby) return static_cast<X>(alpha) * x + static_cast<X>(beta) * y;
  if constexpr (what == e::axpbypcz) {
    return static_cast<X>(alpha) * x + static_cast<X>(beta) * y + static_cast<X>(gamma) * z;
  }
  if constexpr (what == e::add) return x + y;
  if constexpr (what == e::mul) return x * y;
  if constexpr (what == e::relu) return x.max(X(0));
  if constexpr (what == e::sigmoid) return x.logistic();
  if constexpr (what == e::exp) return x.exp();
  if constexpr (what == e::inv) return x.inverse();
  if constexpr (what == e::abs) return x.abs();
  if constexpr (what == e::sqrt) return x.sqrt();
  if constexpr (what == e::log) return x.log();
  if constexpr (what == e::tanh) return x.tanh();
  if constexpr (what == e::sign) return x.sign();
  if constexpr (what == e::scale) return static_cast<X>(alpha) * x;
  if constexpr (what == e::add_constant) return x + static_cast<X>(alpha);
  if constexpr (what == e::clamp) return x.max(static_cast<X>(low)).min(static_cast<X>(high));
  if constexpr (what == e::pow) return x.cube();
  if constexpr (what == e::compare_constant) {
    return (x < static_cast<X>(high)).template cast<X>();
  }
  if constexpr (what == e::div) return x / y;
  if constexpr (what == e::minimum) return x.min(y);
  if constexpr (what == e::maximum) return x.max(y);
  if constexpr (what == e::compare) return (x < y).template cast<X>();
  if constexpr (what == e::where) return (x != X(0)).select(y, z);
  if constexpr (what == e::jacobi_step) return x + static_cast<X>(alpha) * y / z;
}

template <tally::elementwise what, class X>
void elementwise_kernel(const void* x, const void* y, std::size_t n, void* z) {
  Eigen::Map<Eigen::Array<X, Eigen::Dynamic, 1>> to(static_cast<X*>(z),
                                                    static_cast<Eigen::Index>(n));
  to = expression_of<what, X>(vector<X>(x, n), vector<X>(y, n), vector<X>(z, n));
}
template <class X>
eigen_kernel* elementwise_kernel_of(bench::operation what) {
  eigen_kernel* found = nullptr;
  bench::plain::visit(what, [&]<class G>(G) { found = &elementwise_kernel<G::ours, X>; });
  return found;
}

template <class X, class Y, class A>
eigen_kernel* kernel_of(bench::operation what) {
  if (what == bench::operation::dot) return &kernel<X, Y, A>;
  if constexpr (std::is_floating_point_v<X> && std::is_same_v<X, A>) {
    if (what == bench::operation::sum) return &sum_kernel<X, A>;
    if (what == bench::operation::asum) return &asum_kernel<X>;
    if (what == bench::operation::nrm2) return &nrm2_kernel<X>;
    if (what == bench::operation::sum_of_squares) return &sum_of_squares_kernel<X>;
    if (what == bench::operation::max_norm) return &max_norm_kernel<X>;
    if (what == bench::operation::wrms_norm) return &wrms_norm_kernel<X>;
    if (what == bench::operation::max) return &max_kernel<X>;
    if (what == bench::operation::iamax) return &iamax_kernel<X>;
    if constexpr (std::is_same_v<X, Y>) return elementwise_kernel_of<X>(what);
  }
  return nullptr;
}

}  // namespace

eigen_kernel* bench_eigen_kernel(const bench::workload& w) {
  eigen_kernel* found = nullptr;
  visit(w, [&]<class X, class Y, class A>(std::span<const X>, std::span<const Y>,
                                          std::type_identity<A>) {
    found = kernel_of<X, Y, A>(w.what);
  });
  return found;
}
