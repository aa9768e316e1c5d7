// cuBLAS: into device memory (its device pointer mode), and returning to the host.
#include "bench/elementwise.hpp"
#include "bench/peers/device_peers.hpp"
#include "bench/peers/library.hpp"

#include <cublas_v2.h>

#include <complex>
#include <concepts>
#include <string>

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

/// A function of the type that the header declares.
#define CUBLAS_FUNCTION(name) cublas().function<decltype(name)>(#name)

/// The handle for results in the memory that `mode` says, its work on stream().
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

/// The function of this pair, looked up once: f(handle, n, x, y, result).
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
    if constexpr (is_16_bit<X>) {  // its result has the operands' type
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
      if (w.what == operation::iamax) {
        if constexpr (std::same_as<X, double>) {
          add("cublasIdamax", CUBLAS_FUNCTION(cublasIdamax_v2_64), index);
        } else {
          add("cublasIsamax", CUBLAS_FUNCTION(cublasIsamax_v2_64), index);
        }
        list.back().compute = [compute = list.back().compute](void* result) {
          compute(result);
          --*static_cast<std::int64_t*>(result);  // it counts from 1
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

contenders cublas_axpy_on_device(const workload& w) {
  contenders list;
  if (w.what != operation::axpy || !cublas()) return list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (has_dot<X, Y, A> && std::floating_point<X>) {
      const on_demand<device_memory> factor([] {
        const X value = plain::alpha;
        return device_memory(tally::operand{&value, 1, 1, tally::type_of<X>});
      });
      const auto f = [] {
        if constexpr (std::same_as<X, double>) {
          return CUBLAS_FUNCTION(cublasDaxpy_v2_64);
        } else {
          return CUBLAS_FUNCTION(cublasSaxpy_v2_64);
        }
      };
      list.push_back(on_device(
          "cuBLAS", version() + ", y in place",
          [=, n = static_cast<std::int64_t>(x.size())](cudaStream_t, void* z) {
            check(f()(handle(CUBLAS_POINTER_MODE_DEVICE), n, static_cast<const X*>(factor().data()),
                      x.data(), 1, static_cast<X*>(z), 1),
                  "cublasaxpy");
          },
          w));
      list.back().compute = [compute = list.back().compute, y, z = w.z](void* result) {
        bench::check(
            cudaMemcpyAsync(z, y.data(), y.size_bytes(), cudaMemcpyDeviceToDevice, stream()),
            "cudaMemcpyAsync");
        compute(result);
      };
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
        const auto f = [] {
          if constexpr (std::same_as<X, double>) {
            return CUBLAS_FUNCTION(cublasDgemvStridedBatched);
          } else {
            return CUBLAS_FUNCTION(cublasSgemvStridedBatched);
          }
        };
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
        const auto f = [] {
          if constexpr (std::same_as<X, double>) {
            return CUBLAS_FUNCTION(cublasDgemv_v2);
          } else {
            return CUBLAS_FUNCTION(cublasSgemv_v2);
          }
        };
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

}  // namespace bench::peers
