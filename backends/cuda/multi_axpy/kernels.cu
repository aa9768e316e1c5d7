// All kernels of multi_axpy: a thread updates its elements by one vector after another, 8 loads in
// flight.
#include "backends/cuda/multi_axpy/kernels.hpp"
#include "backends/cuda/transform/kernel.cuh"

#include <cstring>

namespace tally::backends::cuda {
namespace {

/// The factors of a launch in shared memory, from the parameters or from memory of the device.
template <class V>
class launch_factors {
  using factor = typename factor_of<V>::type;

 public:
  __device__ explicit launch_factors(const multi_axpy_job& job) {
    static_assert(sizeof(factor) <= multi_axpy_job::factor_bytes);
    memcpy(&beta, job.beta, sizeof beta);
    __shared__ alignas(16) unsigned char memory[vectors_per_launch * sizeof(factor)];
    all_ = reinterpret_cast<factor*>(memory);
    const auto j = static_cast<int>(threadIdx.x);
    if (j < job.vectors) {
      if (job.alpha.data != nullptr) {
        all_[j] = in_memory(job.alpha, static_cast<std::size_t>(j));
      } else {
        memcpy(&all_[j], job.factors + j * sizeof(factor), sizeof(factor));
      }
    }
    __syncthreads();
  }
  __device__ const factor& operator[](int j) const { return all_[j]; }

  factor beta;

 private:
  /// Returns a factor, converted as by `scalar`.
  static __device__ factor in_memory(const typed_vector& from, std::size_t j) {
    if constexpr (std::is_arithmetic_v<V>) {
      return from.get<V>(j);
    } else {
      if (!from.complex) return {from.get<V>(j), true};
      using R = decltype(V::re);
      const auto value = from.get<complex_number<double>>(j);
      return {{static_cast<R>(value.re), static_cast<R>(value.im)}, value.im == 0};
    }
  }

  factor* all_;
};

/// Returns a number that changes no other when added.
template <class V>
__device__ V neutral() {
  if constexpr (std::is_integral_v<V>) {
    return 0;
  } else if constexpr (std::is_arithmetic_v<V>) {
    return -V{0};
  } else {
    using R = decltype(V::re);
    return {-R{0}, -R{0}};
  }
}

// --- Contiguous vectors of one type --------------------------------------------------------------

/// Elements of type T, computed as V.
template <class T>
struct update_type {
  static constexpr bool is_16_bit = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
  using V = std::conditional_t<is_16_bit, float, T>;

  static __device__ V value_of(T element) {
    if constexpr (is_16_bit) {
      return convert<float>(element);
    } else {
      return element;
    }
  }
  /// Rounds a step's result to T. A NaN of 32 and more bits stays one until the end.
  static __device__ V stepped(V value) {
    if constexpr (is_16_bit) {
      return convert<float>(narrow<T>(canonical(value)));
    } else {
      return value;
    }
  }
  static __device__ T element_of(V value) {
    if constexpr (is_16_bit) {
      return narrow<T>(value);
    } else {
      return canonical(value);
    }
  }
};

/// Adds `rows` vectors from j on to `per_load` elements.
template <int rows, class T, int per_load, class V>
__device__ void add_vectors(const multi_axpy_job& job, const launch_factors<V>& alpha, int j,
                            std::int64_t at, V (&sums)[per_load]) {
  elements<T, per_load> x[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) x[r].load(static_cast<const T*>(job.data[j + r]) + at);
#pragma unroll
  for (int r = 0; r < rows; ++r) {
#pragma unroll
    for (int i = 0; i < per_load; ++i) {
      const V product = scaled(alpha[j + r], update_type<T>::value_of(x[r][i]));
      sums[i] = update_type<T>::stepped(plus(product, sums[i]));
    }
  }
}

template <class T, int per_load, class V>
__device__ void update_at(const multi_axpy_job& job, const launch_factors<V>& alpha,
                          std::int64_t at) {
  V sums[per_load];
  T* const y = static_cast<T*>(job.y.data) + at;
  elements<T, per_load> old;
  if (job.reads_y) old.load(y);
#pragma unroll
  for (int i = 0; i < per_load; ++i) {
    sums[i] = job.reads_y ? scaled(alpha.beta, update_type<T>::value_of(old[i])) : neutral<V>();
  }
  int j = 0;
#pragma unroll 1
  for (; j + 8 <= job.vectors; j += 8) add_vectors<8, T>(job, alpha, j, at, sums);
  if (job.vectors & 4) add_vectors<4, T>(job, alpha, j, at, sums), j += 4;
  if (job.vectors & 2) add_vectors<2, T>(job, alpha, j, at, sums), j += 2;
  if (job.vectors & 1) add_vectors<1, T>(job, alpha, j, at, sums);
  T results[per_load];
#pragma unroll
  for (int i = 0; i < per_load; ++i) results[i] = update_type<T>::element_of(sums[i]);
  elements<T, per_load>::store(results, y);
}

/// A load of each vector per thread; the last block takes the elements before and after all loads.
template <class T, int per_load>
__global__ void __launch_bounds__(threads_of_update)
    update_vectors(const __grid_constant__ multi_axpy_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  const launch_factors<typename update_type<T>::V> alpha(job);
  const std::int64_t load = std::int64_t{blockIdx.x} * threads_of_update + threadIdx.x;
  if (load < job.whole) update_at<T, per_load>(job, alpha, job.head + load * per_load);
  if constexpr (per_load > 1) {
    if (blockIdx.x != gridDim.x - 1) return;
    std::int64_t i = threadIdx.x;
    if (i >= job.head) i += job.whole * per_load;
    if (i < job.n) update_at<T, 1>(job, alpha, i);
  }
}

template <class T>
multi_axpy_kernel* uniform(bool wide) {
  constexpr int per_load = 16 / static_cast<int>(sizeof(T));
  return wide ? &update_vectors<T, per_load> : &update_vectors<T, 1>;
}

// --- Any vectors ---------------------------------------------------------------------------------

template <class V>
__global__ void __launch_bounds__(threads_of_update)
    update_any(const __grid_constant__ multi_axpy_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  const launch_factors<V> alpha(job);
  const std::int64_t step = std::int64_t{gridDim.x} * threads_of_update;
  for (std::int64_t i = std::int64_t{blockIdx.x} * threads_of_update + threadIdx.x; i < job.n;
       i += step) {
    const auto at = static_cast<std::size_t>(i);
    V sum = job.reads_y ? scaled(alpha.beta, job.y.get<V>(at)) : neutral<V>();
#pragma unroll 1
    for (int j = 0; j < job.vectors; ++j) {
      typed_vector x = job.x;
      x.data = const_cast<void*>(job.data[j]);
      x.increment = job.increment[j];
      sum = canonical(plus(scaled(alpha[j], x.get<V>(at)), sum));
      if (job.keeps_computed) continue;
      job.y.put(at, sum);
      sum = job.y.get<V>(at);
    }
    if (job.keeps_computed) job.y.put(at, sum);
  }
}

}  // namespace

multi_axpy_kernel* uniform_update_kernel(type element, bool wide) {
  switch (element) {
    case type::float32:
      return uniform<float>(wide);
    case type::float64:
      return uniform<double>(wide);
    case type::float16:
      return uniform<float16>(wide);
    case type::bfloat16:
      return uniform<bfloat16>(wide);
    case type::complex64:  // aligned as its parts, so a single element is loaded as two
      return wide ? &update_vectors<complex_number<float>, 2> : nullptr;
    case type::complex128:
      return wide ? &update_vectors<complex_number<double>, 1> : nullptr;
    default:
      return nullptr;
  }
}

multi_axpy_kernel* any_update_kernel(type computation) {
  return with_type<accumulator_types>(
      computation, []<class C>() -> multi_axpy_kernel* { return &update_any<computed_t<C>>; });
}

}  // namespace tally::backends::cuda
