// Kernels of transform, for nvcc.
//
// Contiguous, equally aligned vectors are accessed in vectors of up to 16 bytes, with as many
// elements as the widest type has in 16; others element by element, adjacent ones by adjacent
// threads.
#pragma once

#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/user_functions/functions.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tally {
namespace detail {

/// Bits of one or several elements; integers, since std::complex can't be constructed on a device.
template <std::size_t size>
struct bits_of;
template <>
struct bits_of<1> {
  using type = std::uint8_t;
};
template <>
struct bits_of<2> {
  using type = std::uint16_t;
};
template <>
struct bits_of<4> {
  using type = std::uint32_t;
};
template <>
struct bits_of<8> {
  using type = std::uint64_t;
};
template <>
struct bits_of<16> {
  using type = uint4;
};

/// `count` adjacent elements at an address aligned to `alignment` bytes, the size of each access.
/// Not a byte array, which is copied byte by byte (tuning/transform.md: adjacent).
template <class T, int count = 1, std::size_t alignment = alignof(T)>
class adjacent {
 public:
  __device__ T operator[](int i) const { return __builtin_bit_cast(T, elements_[i]); }
  __device__ void put(int i, const T& value) { memcpy(elements_ + i, &value, sizeof(T)); }

  __device__ static adjacent load(const T* from) {
    piece all[pieces];
#pragma unroll
    for (int i = 0; i < pieces; ++i) all[i] = reinterpret_cast<const piece*>(from)[i];
    adjacent result;
    memcpy(result.elements_, all, sizeof all);
    return result;
  }
  __device__ void store(T* to) const {
    piece all[pieces];
    memcpy(all, elements_, sizeof all);
#pragma unroll
    for (int i = 0; i < pieces; ++i) reinterpret_cast<piece*>(to)[i] = all[i];
  }

 private:
  using piece = typename bits_of<alignment>::type;
  static constexpr int pieces = static_cast<int>(count * sizeof(T) / alignment);
  typename bits_of<sizeof(T)>::type elements_[count];
};

/// The kernel's parameter. Y is `no_vector` for one input.
template <class F, class Z, class X, class Y>
struct map_job {
  static constexpr bool two = !std::is_same_v<Y, no_vector>;
  /// Elements per word.
  static constexpr int lanes = 16 / static_cast<int>((std::max)({sizeof(X), sizeof(Y), sizeof(Z)}));
  template <class T>
  using word = adjacent<T, lanes, lanes * sizeof(T)>;

  on_device_function<F> f;
  const detail::stored_t<X>* x;
  const detail::stored_t<Y>* y;
  Z* z;
  std::ptrdiff_t x_increment;
  std::ptrdiff_t y_increment;
  std::ptrdiff_t z_increment;
  std::int64_t n;
  std::int64_t head;   ///< elements before the first word
  std::int64_t whole;  ///< number of words

  __device__ Z value(const X& a, const Y& b) const { return canonical(static_cast<Z>(f(a, b))); }
};

/// `words` per thread, all loads in flight at once. The last block also takes the elements before
/// and after the words.
template <int words, class F, class Z, class X, class Y>
__global__ void __launch_bounds__(256)
    map_words(const TALLY_GRID_CONSTANT map_job<F, Z, X, Y> job) {
  using Job = map_job<F, Z, X, Y>;
  constexpr int lanes = Job::lanes;
  const std::int64_t first =
      std::int64_t{blockIdx.x} * static_cast<int>(words * blockDim.x) + threadIdx.x;
  typename Job::template word<detail::stored_t<X>> x[words];
  typename Job::template word<detail::stored_t<Y>> y[words];
#pragma unroll
  for (int k = 0; k < words; ++k) {
    const std::int64_t word = first + k * static_cast<int>(blockDim.x);
    if (word >= job.whole) break;
    x[k] = x[k].load(job.x + job.head + word * lanes);
    if constexpr (Job::two) y[k] = y[k].load(job.y + job.head + word * lanes);
  }
#pragma unroll
  for (int k = 0; k < words; ++k) {
    const std::int64_t word = first + k * static_cast<int>(blockDim.x);
    if (word >= job.whole) break;
    typename Job::template word<Z> z;
#pragma unroll
    for (int i = 0; i < lanes; ++i) z.put(i, job.value(x[k][i], y[k][i]));
    z.store(job.z + job.head + word * lanes);
  }
  if (blockIdx.x == gridDim.x - 1) {  // less than a word at either end
    std::int64_t i = threadIdx.x;
    if (i >= job.head) i += job.whole * lanes;
    if (i < job.n) {
      adjacent<detail::stored_t<Y>> b;
      if constexpr (Job::two) b = b.load(job.y + i);
      job.z[i] = job.value(job.x[i], b[0]);
    }
  }
}

/// `count` elements per thread, all loads in flight at once.
template <int count, class F, class Z, class X, class Y>
__global__ void __launch_bounds__(256)
    map_elements(const TALLY_GRID_CONSTANT map_job<F, Z, X, Y> job) {
  using Job = map_job<F, Z, X, Y>;
  const std::int64_t first =
      std::int64_t{blockIdx.x} * static_cast<int>(count * blockDim.x) + threadIdx.x;
  adjacent<detail::stored_t<X>> x[count];
  adjacent<detail::stored_t<Y>> y[count];
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const std::int64_t i = first + k * static_cast<int>(blockDim.x);
    if (i >= job.n) break;
    x[k] = x[k].load(job.x + i * job.x_increment);
    if constexpr (Job::two) y[k] = y[k].load(job.y + i * job.y_increment);
  }
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const std::int64_t i = first + k * static_cast<int>(blockDim.x);
    if (i >= job.n) break;
    job.z[i * job.z_increment] = job.value(x[k][0], y[k][0]);
  }
}

/// Words or elements per thread; threads per block.
struct map_shape {
  int each;
  unsigned threads;
};

/// Shapes of compute-bound built-in functions (backends/cuda/transform/kernel.cuh); not tuned here.
inline constexpr map_shape words_shape = {2, 128};
inline constexpr map_shape elements_shape = {4, 256};

template <class F, class Z, class X, class Y = no_vector>
class map_on_device {
  static_assert(travels<F>);
  using job = map_job<F, Z, X, Y>;

 public:
  explicit map_on_device(const F& f) : job_{{f}, nullptr, nullptr, nullptr, 1, 1, 1, 0, 0, 0} {}

  void run(const executor& where, const char* function, const operand& x, const operand* y,
           const output_operand& z) {
    job_.x = static_cast<const detail::stored_t<X>*>(x.data);
    job_.x_increment = x.increment;
    if (y != nullptr) {
      job_.y = static_cast<const detail::stored_t<Y>*>(y->data);
      job_.y_increment = y->increment;
    }
    job_.z = static_cast<Z*>(z.data);
    job_.z_increment = z.increment;
    job_.n = static_cast<std::int64_t>(z.size);
    const std::int64_t before = elements_before_word<Z>(z);
    aligned_alike_ = before >= 0 && before == elements_before_word<X>(x) &&
                     (y == nullptr || before == elements_before_word<Y>(*y));
    job_.head = (std::min)(before, job_.n);
    job_.whole = (job_.n - job_.head) / job::lanes;
    launch_map(where, function, x, y, z, this, launch);
  }

 private:
  /// -1 if words don't hold adjacent elements.
  template <class T>
  static std::int64_t elements_before_word(const operand& v) {
    if (v.increment != 1) return -1;
    const auto past = reinterpret_cast<std::uintptr_t>(v.data) / sizeof(T) % job::lanes;
    return (job::lanes - static_cast<std::int64_t>(past)) % job::lanes;
  }

  static int launch(void* self, CUstream_st* stream) {
    const auto& call = *static_cast<const map_on_device*>(self);
    const map_shape shape = call.aligned_alike_ ? words_shape : elements_shape;
    const auto kernel = call.aligned_alike_ ? map_words<words_shape.each, F, Z, X, Y>
                                            : map_elements<elements_shape.each, F, Z, X, Y>;
    const std::int64_t count = call.aligned_alike_ ? call.job_.whole : call.job_.n;
    const std::int64_t a_block = shape.each * std::int64_t{shape.threads};
    const auto blocks = std::max<std::int64_t>((count + a_block - 1) / a_block, 1);
    return detail::launch(kernel, static_cast<unsigned>(blocks), shape.threads, stream, call.job_);
  }

  job job_;
  bool aligned_alike_ = false;
};

}  // namespace detail
}  // namespace tally
