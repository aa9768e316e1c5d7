// The caller's functions on a GPU, for nvcc.
#pragma once

#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define TALLY_GRID_CONSTANT __grid_constant__
#else
#define TALLY_GRID_CONSTANT
#endif

namespace tally::detail {

#if defined(__CUDACC_EXTENDED_LAMBDA__)
template <class F>
inline constexpr bool only_on_device = __nv_is_extended_device_lambda_closure_type(F);
template <class F>  // nvcc copies these captures
inline constexpr bool is_lambda_of_both = __nv_is_extended_host_device_lambda_closure_type(F);
#else
template <class F>
inline constexpr bool only_on_device = false;
template <class F>
inline constexpr bool is_lambda_of_both = false;
#endif

/// Whether a function can be copied to the device: bytes, no host address.
template <class F>
inline constexpr bool travels =
    std::is_class_v<F> && (std::is_trivially_copyable_v<F> || is_lambda_of_both<F>);
/// Throws for a device-only function.
[[noreturn]] inline void refuse_on_host(const char* function, const executor& where) {
  throw error(errc::invalid_argument,
              std::string(function) + ": a __device__ lambda can't run on " +
                  std::string(where.name()) + "; make it __host__ __device__");
}

/// Queues a kernel with one parameter. (<<<...>>> would need cudaGetLastError, which returns and
/// clears earlier errors.)
template <class Job>
cudaError_t launch(void (*kernel)(Job), unsigned blocks, unsigned threads, cudaStream_t stream,
                   const Job& job) {
  void* parameters[] = {const_cast<Job*>(&job)};
  const cudaError_t status = cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks),
                                              dim3(threads), parameters, 0, stream);
  if (status != cudaSuccess) (void)cudaGetLastError();  // thrown by the caller
  return status;
}

// --- Tuples --------------------------------------------------------------------------------------

template <std::size_t i, class T>
struct numbered {
  T value;
};
template <class Indices, class... T>
struct numbered_members;
template <std::size_t... i, class... T>
struct numbered_members<std::index_sequence<i...>, T...> : numbered<i, T>... {};

/// One value per vector. (Functions of std::tuple are the host's.)
template <class... T>
using device_tuple = numbered_members<std::index_sequence_for<T...>, T...>;

/// Returns f(all members).
template <class F, std::size_t... i, class... T>
__device__ auto call_with(const F& f,
                          const numbered_members<std::index_sequence<i...>, T...>& all) {
  return f(static_cast<const numbered<i, T>&>(all).value...);
}

/// f(a, b) for each member a and that of b in the same place.
template <class F, std::size_t... i, class... A, class... B>
__device__ void for_each_pair(const F& f, numbered_members<std::index_sequence<i...>, A...>& a,
                              const numbered_members<std::index_sequence<i...>, B...>& b) {
  (f(static_cast<numbered<i, A>&>(a).value, static_cast<const numbered<i, B>&>(b).value), ...);
}

/// Inputs of types V.
template <class... V>
auto typed_vectors(std::span<const operand> inputs) {
  const operand* next = inputs.data();
  return device_tuple<typed_vector<V>...>{{typed_vector<V>(*next++)}...};
}

// --- Functions -----------------------------------------------------------------------------------

/// Sums and products rounded once, neither contracted nor flushed under any nvcc flags.
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

/// Operand type of std::plus<T>; for std::plus<>, the sum's: int for two int8.
template <class T, class Sum>
struct operands_as {
  using type = T;
};
template <class Sum>
struct operands_as<void, Sum> {
  using type = std::remove_cvref_t<Sum>;
};

/// A function callable on the device: wraps the standard library's host-only ones.
template <class F>
struct on_device_function {
  F f;
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

}  // namespace tally::detail
