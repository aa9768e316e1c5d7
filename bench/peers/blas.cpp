// OpenBLAS and BLIS, through the C interface of BLAS that both export.
#include "bench/peers/library.hpp"
#include "bench/peers/peers.hpp"

#include <complex>
#include <concepts>
#include <functional>
#include <string>

namespace bench::peers {
namespace {

/// What is used of one library.
struct blas {
  using double_dot = double(int, const double*, int, const double*, int);
  using float_dot = float(int, const float*, int, const float*, int);
  using complex_dot = void(int, const void*, int, const void*, int, void*);

  std::string name;
  std::string version;
  std::function<void(int)> set_threads;
  library from;
  double_dot* ddot = from.function<double_dot>("cblas_ddot");
  float_dot* sdot = from.function<float_dot>("cblas_sdot");
  complex_dot* cdotu = from.function<complex_dot>("cblas_cdotu_sub");
  complex_dot* zdotu = from.function<complex_dot>("cblas_zdotu_sub");
};

template <class T>
T dot(const blas& b, int n, const T* x, const T* y) {
  if constexpr (std::same_as<T, double>) {
    return b.ddot(n, x, 1, y, 1);
  } else if constexpr (std::same_as<T, float>) {
    return b.sdot(n, x, 1, y, 1);
  } else {
    T r;
    (std::same_as<T, std::complex<double>> ? b.zdotu : b.cdotu)(n, x, 1, y, 1, &r);
    return r;
  }
}

/// BLAS has no mixed types.
template <class X, class Y, class A>
concept has_dot = std::same_as<X, Y> && std::same_as<A, X> &&
    (std::floating_point<X> || tally::is_complex_v<X>);

contenders ways(const blas& b, const workload& w) {
  contenders list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (has_dot<X, Y, A>) {
      list.push_back(on_host(
          b.name, b.version, w,
          [&b, x = x.data(), y = y.data(), n = static_cast<int>(x.size())] {
            return dot(b, n, x, y);
          },
          [&b, threads = w.threads] { b.set_threads(threads); }));
    }
  });
  return list;
}

}  // namespace

contenders openblas(const workload& w) {
  static const library l{"libopenblas.so.0", "libopenblas.so"};
  if (!l) return {};
  static const blas b{"OpenBLAS", l.function<char*()>("openblas_get_config")(),
                      l.function<void(int)>("openblas_set_num_threads"), l};
  return ways(b, w);
}

contenders blis(const workload& w) {
  static const library l{"libblis.so.4", "libblis.so"};
  if (!l) return {};
  static const blas b{"BLIS", l.function<char*()>("bli_info_get_version_str")(),
                      l.function<void(long)>("bli_thread_set_num_threads"), l};
  return ways(b, w);
}

}  // namespace bench::peers
