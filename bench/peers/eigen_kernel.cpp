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

/// `f` makes an expression of x and y, or also z.
template <class X, class F>
void write(const void* x, const void* y, std::size_t n, void* z, F f) {
  Eigen::Map<Eigen::Array<X, Eigen::Dynamic, 1>> to(static_cast<X*>(z),
                                                    static_cast<Eigen::Index>(n));
  if constexpr (std::is_invocable_v<F, decltype(vector<X>(x, n)), decltype(vector<X>(y, n))>) {
    to = f(vector<X>(x, n), vector<X>(y, n));
  } else {
    to = f(vector<X>(x, n), vector<X>(y, n), vector<X>(z, n));
  }
}
template <class X>
eigen_kernel* elementwise_kernel_of(bench::operation what) {
  using from = const void*;
  switch (what) {
    case bench::operation::copy:
      return [](from x, from y, std::size_t n, void* z) {
        write<X>(x, y, n, z, [](auto a, auto) { return a; });
      };
    case bench::operation::axpy:
      return [](from x, from y, std::size_t n, void* z) {
        write<X>(x, y, n, z,
                 [](auto a, auto b) { return static_cast<X>(bench::plain::alpha) * a + b; });
      };
    case bench::operation::waxpby:
      return [](from x, from y, std::size_t n, void* z) {
        write<X>(x, y, n, z, [](auto a, auto b) {
          return static_cast<X>(bench::plain::alpha) * a + static_cast<X>(bench::plain::beta) * b;
        });
      };
    case bench::operation::axpbypcz:
      return [](from x, from y, std::size_t n, void* z) {
        write<X>(x, y, n, z, [](auto a, auto b, auto c) {
          return static_cast<X>(bench::plain::alpha) * a + static_cast<X>(bench::plain::beta) * b +
                 static_cast<X>(bench::plain::gamma) * c;
        });
      };
    case bench::operation::add:
      return [](from x, from y, std::size_t n, void* z) {
        write<X>(x, y, n, z, [](auto a, auto b) { return a + b; });
      };
    case bench::operation::mul:
      return [](from x, from y, std::size_t n, void* z) {
        write<X>(x, y, n, z, [](auto a, auto b) { return a * b; });
      };
    case bench::operation::relu:
      return [](from x, from y, std::size_t n, void* z) {
        write<X>(x, y, n, z, [](auto a, auto) { return a.max(X(0)); });
      };
    case bench::operation::sigmoid:
      return [](from x, from y, std::size_t n, void* z) {
        write<X>(x, y, n, z, [](auto a, auto) { return a.logistic(); });
      };
    case bench::operation::exp:
      return [](from x, from y, std::size_t n, void* z) {
        write<X>(x, y, n, z, [](auto a, auto) { return a.exp(); });
      };
    default:
      return nullptr;
  }
}

template <class X, class Y, class A>
eigen_kernel* kernel_of(bench::operation what) {
  if (what == bench::operation::dot) return &kernel<X, Y, A>;
  if constexpr (std::is_floating_point_v<X> && std::is_same_v<X, A>) {
    if (what == bench::operation::sum) return &sum_kernel<X, A>;
    if (what == bench::operation::asum) return &asum_kernel<X>;
    if (what == bench::operation::nrm2) return &nrm2_kernel<X>;
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
