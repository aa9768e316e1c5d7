// OpenBLAS, BLIS and MKL, through BLAS's C interface.
#include "bench/elementwise.hpp"
#include "bench/in_place.hpp"
#include "bench/peers/library.hpp"
#include "bench/peers/mkl.hpp"
#include "bench/peers/peers.hpp"

#include <complex>
#include <concepts>
#include <functional>
#include <string>
#include <utility>

namespace bench::peers {
namespace {

struct blas {
  using double_dot = double(int, const double*, int, const double*, int);
  using float_dot = float(int, const float*, int, const float*, int);
  using complex_dot = void(int, const void*, int, const void*, int, void*);

  using double_asum = double(int, const double*, int);
  using float_asum = float(int, const float*, int);
  using double_iamax = int(int, const double*, int);  // OpenBLAS's is wider: equivalent here
  using float_iamax = int(int, const float*, int);
  using double_axpy = void(int, double, const double*, int, double*, int);
  using float_axpy = void(int, float, const float*, int, float*, int);

  std::string name;
  std::string version;
  std::function<void(int)> set_threads;
  library from;
  double_dot* ddot = from.function<double_dot>("cblas_ddot");
  float_dot* sdot = from.function<float_dot>("cblas_sdot");
  double_asum* dasum = from.function<double_asum>("cblas_dasum");
  float_asum* sasum = from.function<float_asum>("cblas_sasum");
  double_asum* dnrm2 = from.function<double_asum>("cblas_dnrm2");
  float_asum* snrm2 = from.function<float_asum>("cblas_snrm2");
  double_axpy* daxpy = from.function<double_axpy>("cblas_daxpy");
  float_axpy* saxpy = from.function<float_axpy>("cblas_saxpy");
  double_iamax* idamax = from.function<double_iamax>("cblas_idamax");
  float_iamax* isamax = from.function<float_iamax>("cblas_isamax");
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
concept has_dot =
    std::same_as<X, Y> && std::same_as<A, X> && (std::floating_point<X> || tally::is_complex_v<X>);

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

contenders ways_of_one(const blas& b, const workload& w) {
  contenders list;
  visit(w, [&]<class X, class A>(std::span<const X> x, auto, std::type_identity<A>) {
    if constexpr (std::floating_point<X> && std::same_as<X, A>) {
      const auto add = [&](auto f) {
        list.push_back(on_host(
            b.name, b.version, w,
            [f, x = x.data(), n = static_cast<int>(x.size())] { return f(n, x, 1); },
            [&b, threads = w.threads] { b.set_threads(threads); }));
      };
      const auto of_type = [](auto* in_double, auto* in_float) {
        if constexpr (std::same_as<X, double>) {
          return in_double;
        } else {
          return in_float;
        }
      };
      if (w.what == operation::asum) add(of_type(b.dasum, b.sasum));
      if (w.what == operation::nrm2) add(of_type(b.dnrm2, b.snrm2));
      if (w.what == operation::iamax) {
        add([f = of_type(b.idamax, b.isamax)](int n, const X* v, int increment) {
          return std::int64_t{f(n, v, increment)};
        });
      }
    }
  });
  return list;
}

/// z is updated in place, and starts as y for the check.
contenders axpy(const blas& b, const workload& w) {
  contenders list;
  if (w.what != operation::axpy) return list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y>,
                                          std::type_identity<A>) {
    if constexpr (has_dot<X, Y, A> && std::floating_point<X>) {
      contender c = on_host(
          b.name, b.version + ", y in place", w,
          [&b, x = x.data(), n = static_cast<int>(x.size()), z = static_cast<X*>(w.z)] {
            if constexpr (std::same_as<X, double>) {
              b.daxpy(n, plain::alpha, x, 1, z, 1);
            } else {
              b.saxpy(n, static_cast<X>(plain::alpha), x, 1, z, 1);
            }
          },
          [&b, threads = w.threads] { b.set_threads(threads); });
      list.push_back(in_place(std::move(c), w));
    }
  });
  return list;
}

/// Null if not installed.
const blas* find_openblas() {
  static const library l{"libopenblas.so.0", "libopenblas.so"};
  if (!l) return nullptr;
  static const blas b{"OpenBLAS", l.function<char*()>("openblas_get_config")(),
                      l.function<void(int)>("openblas_set_num_threads"), l};
  return &b;
}

const blas* find_blis() {
  static const library l{"libblis.so.4", "libblis.so"};
  if (!l) return nullptr;
  static const blas b{"BLIS", l.function<char*()>("bli_info_get_version_str")(),
                      l.function<void(long)>("bli_thread_set_num_threads"), l};
  return &b;
}

/// Name of MKL's vector function; null if it has none.
const char* vector_function(operation what) {
  switch (what) {
    case operation::add:
      return "Add";
    case operation::mul:
      return "Mul";
    case operation::exp:
      return "Exp";
    case operation::inv:
      return "Inv";
    case operation::abs:
      return "Abs";
    case operation::sqrt:
      return "Sqrt";
    case operation::log:
      return "Ln";
    case operation::tanh:
      return "Tanh";
    case operation::div:
      return "Div";
    case operation::minimum:
      return "Fmin";
    case operation::maximum:
      return "Fmax";
    default:
      return nullptr;
  }
}

/// MKL's vector functions; `accuracy` is a mode of mkl_vml_defines.h.
contenders vector_math(const blas& b, const workload& w) {
  contenders list;
  const char* const name = vector_function(w.what);
  if (name == nullptr) return list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (has_dot<X, Y, A> && std::floating_point<X>) {
      using of_one = void(int, const X*, X*, long long accuracy);
      using of_two = void(int, const X*, const X*, X*, long long accuracy);
      const std::string symbol = (std::same_as<X, double> ? "vmd" : "vms") + std::string(name);
      auto* const one = b.from.function<of_one>(symbol.c_str());
      auto* const two = b.from.function<of_two>(symbol.c_str());
      constexpr long long low = 1, high = 2;
      for (const auto& [mode, accuracy] :
           {std::pair("MKL (HA)", high), std::pair("MKL (LA)", low)}) {
        list.push_back(on_host(
            mode, b.version, w,
            [=, is_of_one = w.x_alone(), n = static_cast<int>(x.size()), x = x.data(), y = y.data(),
             z = static_cast<X*>(w.z)] {
              is_of_one ? one(n, x, z, accuracy) : two(n, x, y, z, accuracy);
            },
            [&b, threads = w.threads] { b.set_threads(threads); }));
      }
    }
  });
  return list;
}

const blas* find_blas_of_mkl() {
  const mkl* const m = find_mkl();
  if (m == nullptr) return nullptr;
  static const blas b{"MKL", m->version, m->set_threads, m->from};
  return &b;
}

}  // namespace

contenders openblas(const workload& w) {
  const blas* const b = find_openblas();
  return b ? ways(*b, w) : contenders();
}

/// The transposed column-major matrix, whose columns are the rows here, times y.
contenders openblas_rows(const workload& w) {
  contenders list;
  const blas* const b = find_openblas();
  if (b == nullptr || w.y_has_rows) return list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (has_dot<X, Y, A> && std::floating_point<X>) {
      using gemv =
          void(int order, int transposed, int, int, X, const X*, int, const X*, int, X, X*, int);
      constexpr int column_major = 102, transposed = 112;
      auto* const f =
          b->from.function<gemv>(std::same_as<X, double> ? "cblas_dgemv" : "cblas_sgemv");
      list.push_back(on_host(
          "OpenBLAS gemv", b->version, w,
          [=, n = static_cast<int>(x.size()), k = static_cast<int>(w.rows), x = x.data(),
           y = y.data(), results = std::make_shared<std::vector<X>>(w.rows)] {
            f(column_major, transposed, n, k, 1, x, n, y, 1, 0, results->data(), 1);
            return results->front();
          },
          [b, threads = w.threads] { b->set_threads(threads); }));
    }
  });
  return list;
}
namespace {

/// op(A) y + z: the rows' products with y, or y updated by the rows.
contenders gemv(const blas& b, const workload& w) {
  contenders list;
  if (w.what != operation::gemv && w.what != operation::multi_axpy) return list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (has_dot<X, Y, A> && std::floating_point<X>) {
      using function =
          void(int order, int transposed, int, int, X, const X*, int, const X*, int, X, X*, int);
      constexpr int column_major = 102, as_it_is = 111, transposed = 112;
      auto* const f =
          b.from.function<function>(std::same_as<X, double> ? "cblas_dgemv" : "cblas_sgemv");
      const auto n = static_cast<int>(x.size()), k = static_cast<int>(w.rows);
      const bool updates = w.what == operation::multi_axpy;
      const int op = updates || w.columns ? as_it_is : transposed;
      const int height = w.columns ? k : n, width = w.columns ? n : k;
      const std::vector<X> factors(w.rows, static_cast<X>(bench::plain::gamma / k));
      list.push_back(on_host(
          b.name + " gemv", b.version, w,
          [=, x = x.data(), y = y.data(), z = static_cast<X*>(w.z)] {
            f(column_major, op, height, width, 1, x, height, updates ? factors.data() : y, 1,
              updates ? X{1} : X{0}, z, 1);
          },
          [&b, threads = w.threads] { b.set_threads(threads); }));
    }
  });
  return list;
}

}  // namespace

contenders openblas_several(const workload& w) {
  const blas* const b = find_openblas();
  return b ? gemv(*b, w) : contenders();
}
contenders mkl_several(const workload& w) {
  const blas* const b = find_blas_of_mkl();
  return b ? gemv(*b, w) : contenders();
}
contenders blis(const workload& w) {
  const blas* const b = find_blis();
  return b ? ways(*b, w) : contenders();
}
contenders blas_of_mkl(const workload& w) {
  const blas* const b = find_blas_of_mkl();
  return b ? ways(*b, w) : contenders();
}
contenders openblas_axpy(const workload& w) {
  const blas* const b = find_openblas();
  return b ? axpy(*b, w) : contenders();
}
contenders blis_axpy(const workload& w) {
  const blas* const b = find_blis();
  return b ? axpy(*b, w) : contenders();
}
contenders mkl_elementwise(const workload& w) {
  const blas* const b = find_blas_of_mkl();
  if (b == nullptr) return {};
  contenders list = axpy(*b, w);
  return list += vector_math(*b, w);
}
contenders openblas_of_one(const workload& w) {
  const blas* const b = find_openblas();
  return b ? ways_of_one(*b, w) : contenders();
}
contenders blis_of_one(const workload& w) {
  const blas* const b = find_blis();
  return b ? ways_of_one(*b, w) : contenders();
}
contenders blas_of_mkl_of_one(const workload& w) {
  const blas* const b = find_blas_of_mkl();
  return b ? ways_of_one(*b, w) : contenders();
}

}  // namespace bench::peers
