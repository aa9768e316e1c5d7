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
#include <span>
#include <type_traits>
#include <utility>

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

/// The kernel's parameter.
template <class F, class Z, class... V>
struct map_job {
  /// Elements per word.
  static constexpr int lanes = 16 / static_cast<int>((std::max)({sizeof(V)..., sizeof(Z)}));
  template <class T>
  using word = adjacent<T, lanes, lanes * sizeof(T)>;
  using words_of_inputs = device_tuple<word<detail::stored_t<V>>...>;
  using elements_of_inputs = device_tuple<adjacent<detail::stored_t<V>>...>;

  on_device_function<F> f;
  device_tuple<typed_vector<V>...> inputs;
  Z* z;
  std::ptrdiff_t z_increment;
  std::int64_t n;
  std::int64_t head;   ///< elements before the first word
  std::int64_t whole;  ///< number of words

  __device__ void load(words_of_inputs& to, std::int64_t word) const {
    for_each_pair([&](auto& of, const auto& v) { of = of.load(v.data + head + word * lanes); }, to,
                  inputs);
  }
  __device__ void load(elements_of_inputs& to, std::int64_t i) const {
    for_each_pair([&](auto& of, const auto& v) { of = of.load(v.data + i * v.increment); }, to,
                  inputs);
  }
  /// Returns element i of the output, from what was loaded.
  template <class Loaded>
  __device__ Z value(const Loaded& inputs, int i) const {
    return call_with([&](const auto&... v) { return value_of(v[i]...); }, inputs);
  }

 private:
  __device__ Z value_of(const V&... elements) const {
    return canonical(static_cast<Z>(f(elements...)));
  }
};

/// `words` per thread, all loads in flight at once. The last block also takes the elements before
/// and after the words.
template <int words, class Z, class Job>
__global__ void __launch_bounds__(256) map_words(const TALLY_GRID_CONSTANT Job job) {
  constexpr int lanes = Job::lanes;
  const std::int64_t first =
      std::int64_t{blockIdx.x} * static_cast<int>(words * blockDim.x) + threadIdx.x;
  typename Job::words_of_inputs in[words];
#pragma unroll
  for (int k = 0; k < words; ++k) {
    const std::int64_t word = first + k * static_cast<int>(blockDim.x);
    if (word >= job.whole) break;
    job.load(in[k], word);
  }
#pragma unroll
  for (int k = 0; k < words; ++k) {
    const std::int64_t word = first + k * static_cast<int>(blockDim.x);
    if (word >= job.whole) break;
    typename Job::template word<Z> z;
#pragma unroll
    for (int i = 0; i < lanes; ++i) z.put(i, job.value(in[k], i));
    z.store(job.z + job.head + word * lanes);
  }
  if (blockIdx.x == gridDim.x - 1) {  // less than a word at either end
    std::int64_t i = threadIdx.x;
    if (i >= job.head) i += job.whole * lanes;
    if (i < job.n) {
      typename Job::elements_of_inputs one;
      job.load(one, i);
      job.z[i] = job.value(one, 0);
    }
  }
}

/// `count` elements per thread, all loads in flight at once.
template <int count, class Job>
__global__ void __launch_bounds__(256) map_elements(const TALLY_GRID_CONSTANT Job job) {
  const std::int64_t first =
      std::int64_t{blockIdx.x} * static_cast<int>(count * blockDim.x) + threadIdx.x;
  typename Job::elements_of_inputs in[count];
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const std::int64_t i = first + k * static_cast<int>(blockDim.x);
    if (i >= job.n) break;
    job.load(in[k], i);
  }
#pragma unroll
  for (int k = 0; k < count; ++k) {
    const std::int64_t i = first + k * static_cast<int>(blockDim.x);
    if (i >= job.n) break;
    job.z[i * job.z_increment] = job.value(in[k], 0);
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

template <class F, class Z, class... V>
class map_on_device {
  static_assert(travels<F>);
  using job = map_job<F, Z, V...>;

 public:
  map_on_device(const F& f, std::span<const operand> inputs, const output_operand& z)
      : inputs_(inputs),
        z_(z),
        job_{{f},
             typed_vectors<V...>(inputs),
             static_cast<Z*>(z.data),
             z.increment,
             static_cast<std::int64_t>(z.size),
             0,
             0} {}

  void run(const executor& where, const char* function) {
    const std::int64_t before = elements_before_word<Z>(z_);
    const operand* next = inputs_.data();
    aligned_alike_ = before >= 0 && (... && (before == elements_before_word<V>(*next++)));
    job_.head = (std::min)(before, job_.n);
    job_.whole = (job_.n - job_.head) / job::lanes;
    launch_map(where, function, inputs_, z_, this, launch);
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
    const auto kernel = call.aligned_alike_ ? map_words<words_shape.each, Z, job>
                                            : map_elements<elements_shape.each, job>;
    const std::int64_t count = call.aligned_alike_ ? call.job_.whole : call.job_.n;
    const std::int64_t a_block = shape.each * std::int64_t{shape.threads};
    const auto blocks = std::max<std::int64_t>((count + a_block - 1) / a_block, 1);
    return detail::launch(kernel, static_cast<unsigned>(blocks), shape.threads, stream, call.job_);
  }

  std::span<const operand> inputs_;
  output_operand z_;
  job job_;
  bool aligned_alike_ = false;
};

}  // namespace detail
}  // namespace tally
