// Functions of the caller's on a GPU: which of them travel there, and what they are in a kernel.
// Included by <tally/functions.hpp> in sources that nvcc compiles.
#pragma once

#include <tally/error.hpp>
#include <tally/executor.hpp>

#include <cuda_runtime.h>

#include <functional>
#include <string>
#include <type_traits>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define TALLY_GRID_CONSTANT __grid_constant__
#else
#define TALLY_GRID_CONSTANT
#endif

namespace tally::functions {

#if defined(__CUDACC_EXTENDED_LAMBDA__)
template <class F>
inline constexpr bool only_on_device = __nv_is_extended_device_lambda_closure_type(F);
template <class F>  // nvcc copies the one's captures itself
inline constexpr bool is_lambda_of_both = __nv_is_extended_host_device_lambda_closure_type(F);
#else
template <class F>
inline constexpr bool only_on_device = false;
template <class F>
inline constexpr bool is_lambda_of_both = false;
#endif

/// Whether a function travels to the device: as bytes, and not as an address on the host.
template <class F>
inline constexpr bool travels =
    std::is_class_v<F> && (std::is_trivially_copyable_v<F> || is_lambda_of_both<F>);
/// Throws the error of a function that runs on a device only.
[[noreturn]] inline void refuse_on_host(const char* function, const executor& where) {
  throw error(errc::invalid_argument,
              std::string(function) + ": a __device__ lambda can't run on " +
                  std::string(where.name()) + "; make it __host__ __device__");
}

/// Queues a kernel with one parameter, and returns how that went. (After <<<...>>> one would have
/// to ask cudaGetLastError, which tells and clears what any call before has left there.)
template <class Job>
cudaError_t launch(void (*kernel)(Job), unsigned blocks, unsigned threads, cudaStream_t stream,
                   const Job& job) {
  void* parameters[] = {const_cast<Job*>(&job)};
  const cudaError_t status = cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks),
                                              dim3(threads), parameters, 0, stream);
  if (status != cudaSuccess) (void)cudaGetLastError();  // It is thrown instead.
  return status;
}

// --- Functions ------------------------------------------------------------------------------------

/// Sums and products rounded once, whatever nvcc's flags: neither contracted nor flushed.
__device__ inline double add(double a, double b) { return __dadd_rn(a, b); }
__device__ inline float add(float a, float b) {
  float sum;
  asm("add.rn.f32 %0, %1, %2;" : "=f"(sum) : "f"(a), "f"(b));
  return sum;
}
__device__ inline double multiply(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float multiply(float a, float b) {
  float product;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(a), "f"(b));
  return product;
}
template <class T>
__device__ T add(T a, T b) {
  return a + b;
}
template <class T>
__device__ T multiply(T a, T b) {
  return a * b;
}

/// What std::plus<T> takes; of std::plus<>, what the sum is: int for two int8, say.
template <class T, class Sum>
struct operands_as {
  using type = T;
};
template <class Sum>
struct operands_as<void, Sum> {
  using type = std::remove_cvref_t<Sum>;
};

/// In the place of a second vector, and of its elements, where there is one.
struct no_vector {};

/// A function of the standard library, which has none for devices, as one; others as they are.
template <class F>
struct on_device_function {
  F f;
  template <class T>
  __device__ auto operator()(const T& value, no_vector) const {
    return f(value);
  }
  template <class... T>
  __device__ auto operator()(const T&... values) const {
    return f(values...);
  }
};
template <class T>
struct on_device_function<std::plus<T>> {
  std::plus<T> f;
  template <class A, class B>
  __device__ auto operator()(const A& a, const B& b) const {
    using C = typename operands_as<T, decltype(a + b)>::type;
    return add(static_cast<C>(a), static_cast<C>(b));
  }
};
template <class T>
struct on_device_function<std::multiplies<T>> {
  std::multiplies<T> f;
  template <class A, class B>
  __device__ auto operator()(const A& a, const B& b) const {
    using C = typename operands_as<T, decltype(a * b)>::type;
    return multiply(static_cast<C>(a), static_cast<C>(b));
  }
};

}  // namespace tally::functions
