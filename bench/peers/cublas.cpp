// cuBLAS, with results in device memory (device pointer mode) and on the host.
#include "bench/elementwise.hpp"
#include "bench/peers/device_peers.hpp"
#include "bench/peers/library.hpp"

#include <cublas_v2.h>

#include <complex>
#include <concepts>
#include <iterator>
#include <string>
#include <vector>

namespace bench::peers {
namespace {

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(call) + ": status " + std::to_string(status));
}

const library& cublas() {
  static const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
  static const library l{name, TALLY_BENCH_CUDA_LIBRARY_DIR "/" + name};
  return l;
}

#define CUBLAS_FUNCTION(name) cublas().function<decltype(name)>(#name)

/// The function for float or double, by its name behind the letter.
#define CUBLAS_OF(X, name)                   \
  [] {                                       \
    if constexpr (std::same_as<X, double>) { \
      return CUBLAS_FUNCTION(cublasD##name); \
    } else {                                 \
      return CUBLAS_FUNCTION(cublasS##name); \
    }                                        \
  }()

/// A handle for results in the memory of `mode`, on stream().
cublasHandle_t handle(cublasPointerMode_t mode) {
  const auto make = [](cublasPointerMode_t m) {
    cublasHandle_t h = nullptr;
    check(CUBLAS_FUNCTION(cublasCreate_v2)(&h), "cublasCreate");
    check(CUBLAS_FUNCTION(cublasSetStream_v2)(h, stream()), "cublasSetStream");
    check(CUBLAS_FUNCTION(cublasSetPointerMode_v2)(h, m), "cublasSetPointerMode");
    return h;
  };
  static const cublasHandle_t device = make(CUBLAS_POINTER_MODE_DEVICE);
  static const cublasHandle_t host = make(CUBLAS_POINTER_MODE_HOST);
  return mode == CUBLAS_POINTER_MODE_DEVICE ? device : host;
}

std::string version() {
  int value = 0;
  CUBLAS_FUNCTION(cublasGetVersion_v2)(handle(CUBLAS_POINTER_MODE_HOST), &value);
  return std::to_string(value);
}

template <class T>
constexpr bool is_16_bit = std::same_as<T, tally::float16> || std::same_as<T, tally::bfloat16>;

template <class X, class Y, class A>
constexpr bool has_dot =
    std::same_as<X, Y> && (std::same_as<A, X> || (is_16_bit<X> && std::same_as<A, float>));

/// Returns the dot function, looked up once: f(handle, n, x, y, result).
template <class X>
auto dot_of() {
  using n_type = std::int64_t;
  if constexpr (std::same_as<X, double>) {
    return [f = CUBLAS_FUNCTION(cublasDdot_v2_64)](cublasHandle_t h, n_type n, const X* x,
                                                   const X* y, X* r) {
      check(f(h, n, x, 1, y, 1, r), "cublasDdot");
    };
  } else if constexpr (std::same_as<X, float>) {
    return [f = CUBLAS_FUNCTION(cublasSdot_v2_64)](cublasHandle_t h, n_type n, const X* x,
                                                   const X* y, X* r) {
      check(f(h, n, x, 1, y, 1, r), "cublasSdot");
    };
  } else {
    constexpr cudaDataType type = std::same_as<X, tally::float16>        ? CUDA_R_16F
                                  : std::same_as<X, tally::bfloat16>     ? CUDA_R_16BF
                                  : std::same_as<X, std::complex<float>> ? CUDA_C_32F
                                                                         : CUDA_C_64F;
    constexpr cudaDataType compute = is_16_bit<X> ? CUDA_R_32F : type;
    return [f = CUBLAS_FUNCTION(cublasDotEx_64)](cublasHandle_t h, n_type n, const X* x, const X* y,
                                                 X* r) {
      check(f(h, n, x, type, 1, y, type, 1, r, type, compute), "cublasDotEx");
    };
  }
}

}  // namespace

launch cublas_dot(const workload& w) {
  launch f;
  if (!cublas()) return f;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (has_dot<X, Y, A>) {
      f = [=, dot = dot_of<X>()](cudaStream_t, void* result) {
        dot(handle(CUBLAS_POINTER_MODE_DEVICE), static_cast<std::int64_t>(x.size()), x.data(),
            y.data(), static_cast<X*>(result));
      };
    }
  });
  return f;
}

contenders cublas_on_device(const workload& w) {
  const launch f = cublas_dot(w);
  if (!f) return {};
  contender c = on_device("cuBLAS", version(), f, w);
  visit(w, [&]<class X, class Y, class A>(std::span<const X>, std::span<const Y>,
                                          std::type_identity<A>) {
    if constexpr (is_16_bit<X>) {  // the result has the operands' type
      c.label += ", result in 16 bits";
      c.compute = [compute = c.compute](void* result) {
        compute(result);
        *static_cast<A*>(result) = *static_cast<const X*>(result);
      };
    }
  });
  return {c};
}

contenders cublas_of_one_on_device(const workload& w) {
  contenders list;
  if (!cublas()) return list;
  visit(w, [&]<class X, class A>(std::span<const X> x_span, auto, std::type_identity<A>) {
    if constexpr (std::floating_point<X> && std::same_as<X, A>) {
      const X* const x = x_span.data();
      const auto n = static_cast<std::int64_t>(x_span.size());
      const auto add = [&](const char* call, auto* f, auto* result_type) {
        list.push_back(on_device(
            "cuBLAS", version(),
            [=](cudaStream_t, void* result) {
              check(f(handle(CUBLAS_POINTER_MODE_DEVICE), n, x, 1,
                      static_cast<decltype(result_type)>(result)),
                    call);
            },
            w));
      };
      constexpr X* number = nullptr;
      constexpr std::int64_t* index = nullptr;
      if (w.what == operation::asum) {
        if constexpr (std::same_as<X, double>) {
          add("cublasDasum", CUBLAS_FUNCTION(cublasDasum_v2_64), number);
        } else {
          add("cublasSasum", CUBLAS_FUNCTION(cublasSasum_v2_64), number);
        }
      }
      if (w.what == operation::nrm2) {
        add("cublasnrm2", CUBLAS_OF(X, nrm2_v2_64), number);
      }
      if (w.what == operation::iamax) {
        if constexpr (std::same_as<X, double>) {
          add("cublasIdamax", CUBLAS_FUNCTION(cublasIdamax_v2_64), index);
        } else {
          add("cublasIsamax", CUBLAS_FUNCTION(cublasIsamax_v2_64), index);
        }
        list.back().compute = [compute = list.back().compute](void* result) {
          compute(result);
          --*static_cast<std::int64_t*>(result);  // counts from 1
        };
      }
    }
  });
  return list;
}

contenders cublas_to_host(const workload& w) {
  contenders list;
  if (!cublas()) return list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (has_dot<X, Y, A>) {
      list.push_back(on_host("cuBLAS", version(), w, [=, dot = dot_of<X>()] {
        X result;
        dot(handle(CUBLAS_POINTER_MODE_HOST), static_cast<std::int64_t>(x.size()), x.data(),
            y.data(), &result);
        return static_cast<A>(result);
      }));
    }
  });
  return list;
}

namespace {

/// BLAS level 1 and geam; factors, vectors and sums in device memory.
template <std::floating_point X>
class vectors_of {
 public:
  explicit vectors_of(std::size_t n) : n_(static_cast<std::int64_t>(n)) {}

  const X* alpha() const { return static_cast<const X*>(factors_().data()); }
  const X* beta() const { return alpha() + 1; }
  const X* gamma() const { return alpha() + 2; }

  void copy(const X* x, X* z) const {
    check(CUBLAS_OF(X, copy_v2_64)(on_device(), n_, x, 1, z, 1), "cublascopy");
  }
  void scal(const X* factor, X* z) const {
    check(CUBLAS_OF(X, scal_v2_64)(on_device(), n_, factor, z, 1), "cublasscal");
  }
  void axpy(const X* factor, const X* x, X* z) const {
    check(CUBLAS_OF(X, axpy_v2_64)(on_device(), n_, factor, x, 1, z, 1), "cublasaxpy");
  }
  void dot(const X* x, const X* y, X* sum) const {
    check(CUBLAS_OF(X, dot_v2_64)(on_device(), n_, x, 1, y, 1, sum), "cublasdot");
  }
  void nrm2(const X* x, X* norm) const {
    check(CUBLAS_OF(X, nrm2_v2_64)(on_device(), n_, x, 1, norm), "cublasnrm2");
  }
  /// z = alpha x + beta y, as matrices of one column.
  void geam(const X* x, const X* y, X* z) const {
    check(CUBLAS_OF(X, geam_64)(on_device(), CUBLAS_OP_N, CUBLAS_OP_N, n_, 1, alpha(), x, n_,
                                beta(), y, n_, z, n_),
          "cublasgeam");
  }

 private:
  static cublasHandle_t on_device() { return handle(CUBLAS_POINTER_MODE_DEVICE); }

  std::int64_t n_;
  on_demand<device_memory> factors_{[] {
    const X values[] = {plain::alpha, plain::beta, plain::gamma};
    return device_memory(tally::operand{values, std::size(values), 1, tally::type_of<X>});
  }};
};

/// Calls f if cuBLAS updates vectors of the workload's types.
template <class F>
void visit_updates(const workload& w, F&& f) {
  if (!cublas()) return;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (has_dot<X, Y, A> && std::floating_point<X>) {
      f(vectors_of<X>(x.size()), x.data(), y.data(), static_cast<X*>(w.z));
    }
  });
}

}  // namespace

contenders cublas_updates_on_device(const workload& w) {
  contenders list;
  visit_updates(w, [&]<class X>(const vectors_of<X>& v, const X* x, const X* y, X*) {
    const auto add = [&](const char* name, const char* label, auto f) {
      list.push_back(on_device(
          name, version() + label, [=](cudaStream_t, void* z) { f(static_cast<X*>(z)); }, w));
    };
    if (w.what == operation::axpy) {
      add("cuBLAS", ", y in place", [=](X* z) { v.axpy(v.alpha(), x, z); });
      list.back().compute = [compute = list.back().compute, v, y, z = w.z](void* result) {
        v.copy(y, static_cast<X*>(z));
        compute(result);
      };
    }
    if (w.what == operation::waxpby) {
      add("cuBLAS geam", "", [=](X* z) { v.geam(x, y, z); });
      add("cuBLAS copy, scal, axpy", "", [=](X* z) {
        v.copy(y, z);
        v.scal(v.beta(), z);
        v.axpy(v.alpha(), x, z);
      });
    }
    if (w.what == operation::axpbypcz) {
      add("cuBLAS scal, axpy, axpy", "", [=](X* z) {
        v.scal(v.gamma(), z);
        v.axpy(v.alpha(), x, z);
        v.axpy(v.beta(), y, z);
      });
    }
  });
  return list;
}

contenders cublas_fused_on_device(const workload& w) {
  contenders list;
  visit_updates(w, [&]<class X>(const vectors_of<X>& v, const X* x, const X* y, X* z) {
    const auto add = [&](const char* name, auto f) {
      list.push_back(
          on_device(name, version(), [=](cudaStream_t, void* sum) { f(static_cast<X*>(sum)); }, w));
    };
    if (w.what == operation::axpy_dot) {
      add("cuBLAS axpy, dot", [=](X* sum) {
        v.axpy(v.alpha(), x, z);
        v.dot(z, y, sum);
      });
    } else {
      add("cuBLAS copy, axpy, nrm2", [=](X* sum) {
        v.copy(y, z);
        v.axpy(v.alpha(), x, z);
        v.nrm2(z, sum);
      });
    }
  });
  return list;
}

contenders cublas_rows_on_device(const workload& w) {
  contenders list;
  if (!cublas()) return list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (has_dot<X, Y, A> && std::floating_point<X>) {
      const on_demand<device_memory> factors([] {
        const X values[] = {1, 0};
        return device_memory(tally::operand{values, 2, 1, tally::type_of<X>});
      });
      const auto n = static_cast<int>(x.size()), rows = static_cast<int>(w.rows);
      const auto transposed = CUBLAS_OP_T;  // columns of BLAS's matrix are the rows here
      if (w.y_has_rows) {
        const auto f = [] { return CUBLAS_OF(X, gemvStridedBatched); };
        list.push_back(on_device(
            "cuBLAS gemvStridedBatched", version(),
            [=](cudaStream_t, void* results) {
              const auto* const one = static_cast<const X*>(factors().data());
              check(f()(handle(CUBLAS_POINTER_MODE_DEVICE), transposed, n, 1, one, x.data(), n, n,
                        y.data(), 1, n, one + 1, static_cast<X*>(results), 1, 1, rows),
                    "cublasgemvStridedBatched");
            },
            w));
      } else {
        const auto f = [] { return CUBLAS_OF(X, gemv_v2); };
        list.push_back(on_device(
            "cuBLAS gemv", version(),
            [=](cudaStream_t, void* results) {
              const auto* const one = static_cast<const X*>(factors().data());
              check(f()(handle(CUBLAS_POINTER_MODE_DEVICE), transposed, n, rows, one, x.data(), n,
                        y.data(), 1, one + 1, static_cast<X*>(results), 1),
                    "cublasgemv");
            },
            w));
      }
    }
  });
  return list;
}

contenders cublas_several_on_device(const workload& w) {
  contenders list;
  const bool updates = w.what == operation::multi_axpy;
  if (!cublas() || !(updates || w.what == operation::gemv)) return list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (has_dot<X, Y, A> && std::floating_point<X>) {
      const on_demand<device_memory> constants([k = w.rows] {
        std::vector<X> values(k + 2, static_cast<X>(plain::gamma / static_cast<double>(k)));
        values[0] = 1;
        values[1] = 0;
        return device_memory(tally::as_operand(values));
      });
      const auto n = static_cast<int>(x.size()), k = static_cast<int>(w.rows);
      const auto op = updates || w.columns ? CUBLAS_OP_N : CUBLAS_OP_T;
      const int height = w.columns ? k : n, width = w.columns ? n : k;
      const auto f = [] { return CUBLAS_OF(X, gemv_v2); };
      list.push_back(on_device(
          "cuBLAS gemv", version(),
          [=](cudaStream_t, void* z) {
            const auto* const one = static_cast<const X*>(constants().data());
            check(f()(handle(CUBLAS_POINTER_MODE_DEVICE), op, height, width, one, x.data(), height,
                      updates ? one + 2 : y.data(), 1, updates ? one : one + 1, static_cast<X*>(z),
                      1),
                  "cublasgemv");
          },
          w));
    }
  });
  return list;
}

}  // namespace bench::peers
