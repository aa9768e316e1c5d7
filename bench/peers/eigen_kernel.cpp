#include "bench/peers/eigen_kernel.hpp"

#include <Eigen/Core>

namespace {

/// The type with which Eigen computes on our element type.
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

}  // namespace

eigen_kernel* bench_eigen_kernel(const bench::workload& w) {
  eigen_kernel* found = nullptr;
  visit(w, [&]<class X, class Y, class A>(std::span<const X>, std::span<const Y>,
                                          std::type_identity<A>) { found = &kernel<X, Y, A>; });
  return found;
}
