// Tiles: terms that a thread adds up at a time.
#pragma once

#include "backends/cuda/device/any_share.cuh"
#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/exact/job.hpp"
#include "backends/cuda/exact/kernels.hpp"
#include "backends/cuda/exact/levels.hpp"

#include <cstdint>
#include <type_traits>

namespace tally::backends::cuda {

/// Terms of vectors that are contiguous (is_contiguous).
template <class X, class Y, int count>
class vector_tile {
  static constexpr bool is_value = std::is_same_v<Y, no_vector>;
  static constexpr bool has_y = !is_value && !std::is_same_v<Y, squared>;
  using DX = on_device_t<X>;
  using DY = std::conditional_t<has_y, on_device_t<Y>, char>;
  static constexpr bool wide_types =
      std::is_same_v<X, double> || (has_y && std::is_same_v<Y, double>);
  /// Whether float holds the products exactly.
  static constexpr bool short_products =
      has_y &&
      (std::is_same_v<X, bool> || (std::is_same_v<X, float16> && std::is_same_v<Y, float16>));
  static constexpr bool is_float = std::is_same_v<X, float> && (!has_y || std::is_same_v<Y, float>);

 public:
  using sum_of = std::conditional_t<wide_types, double, float>;
  static constexpr bool paired = wide_types && !is_value;
  static constexpr int widest = sizeof(DX) > sizeof(DY) ? sizeof(DX) : sizeof(DY);
  static constexpr int per_load = 16 / widest < 8 ? 16 / widest : 8;
  static constexpr int loads = count / per_load;
  static constexpr unsigned products = 1;

  __device__ explicit vector_tile(const exact_job& job)
      : keeps_(job.absolute ? 0x7fffffffu : ~0u) {}

  /// Zeros after the vectors' end.
  __device__ void load(const exact_job& job, std::int64_t tile, int thread) {
    constexpr int load_of_warp = static_cast<int>(warp) * per_load;
    const std::int64_t first = tile * (load_of_warp * loads);
    const std::int64_t start = first + thread * per_load;
    const DX* const x = static_cast<const DX*>(job.x) + start;
    const DY* const y = static_cast<const DY*>(job.y) + start;
    if (first + load_of_warp * loads <= job.n) {
#pragma unroll
      for (int l = 0; l < loads; ++l) {
        x_[l].load(x + l * load_of_warp);
        if constexpr (has_y) y_[l].load(y + l * load_of_warp);
      }
    } else {
      const std::int64_t left = job.n - start;
#pragma unroll
      for (int l = 0; l < loads; ++l) {
        const int i = l * load_of_warp;
        x_[l] = {};
        if constexpr (has_y) y_[l] = {};
        if (i < left) {
          const int some = left - i < per_load ? static_cast<int>(left - i) : per_load;
          x_[l].load(x + i, some);
          if constexpr (has_y) y_[l].load(y + i, some);
        }
      }
    }
  }

  __device__ void renew() {
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      x_[l].renew();
      if constexpr (has_y) y_[l].renew();
    }
  }

  __device__ double x(int l, int i) const {
    const X value = x_[l].at(i);
    if constexpr (!is_value) {
      return convert<double>(value);
    } else if constexpr (std::is_same_v<X, double>) {
      return from_bits(static_cast<std::uint64_t>(bits_of(value)) &
                       (std::uint64_t{keeps_} << 32 | 0xffffffffu));
    } else {
      return convert<double>(from_bits(bits_of(value) & keeps_));
    }
  }
  __device__ double y(int l, int i) const {
    if constexpr (has_y) {
      return convert<double>(y_[l].at(i));
    } else {
      return is_value ? 1.0 : x(l, i);
    }
  }
  __device__ double high(int l, int i) const {
    if constexpr (short_products) {
      return convert<double>(convert<float>(x_[l].at(i)) * convert<float>(y_[l].at(i)));
    } else if constexpr (is_value) {
      return x(l, i);
    } else {
      return x(l, i) * y(l, i);
    }
  }
  /// Returns the terms' largest size, without NaNs: a product's magnitude in float; for elements
  /// and squares the element's. (Others, converted first, are searched in double; tuning/exact.md:
  /// largest_size.)
  __device__ float largest_size() const
    requires is_float
  {
    float largest = 0;
#pragma unroll
    for (int l = 0; l < loads; ++l) {
#pragma unroll
      for (int i = 0; i < per_load; ++i) {
        float size = x_[l].at(i);
        if constexpr (has_y) size *= y_[l].at(i);
        largest = fmaxf(largest, fabsf(size));
      }
    }
    return largest;
  }
  /// Whether the largest size yields the largest term: no underflow or overflow.
  __device__ static bool is_true_size(float largest) {
    return !has_y || (0x1p-126f <= largest && largest < 0x1p127f);
  }
  __device__ static double term_of_size(float size) {
    const double value = size;
    return is_value || has_y ? value : value * value;
  }

 private:
  elements<DX, per_load> x_[loads];
  elements<DY, per_load> y_[has_y ? loads : 1];
  // Mask of an element's upper word: without the sign for magnitudes.
  std::uint32_t keeps_;
};

/// Returns a part of an element as a double. Complex numbers have two, and so has int64: upper
/// half, in place, and lower half.
template <class T>
__device__ double part_of(T element, int part, bool absolute) {
  return absolute ? fabs(convert<double>(element)) : convert<double>(element);
}
template <class R>
__device__ double part_of(complex_number<R> element, int part, bool absolute) {
  return part_of(part == 0 ? element.re : element.im, 0, absolute);
}
__device__ inline double part_of(std::int64_t element, int part, bool absolute) {
  const bool negate = absolute && element < 0;
  const auto bits = static_cast<std::uint64_t>(element);
  const std::uint64_t magnitude = negate ? 0 - bits : bits;
  if (part == 1) return static_cast<double>(static_cast<std::uint32_t>(magnitude));
  const auto upper = static_cast<std::uint32_t>(magnitude >> 32);
  const double value =
      negate ? static_cast<double>(upper) : static_cast<double>(static_cast<std::int32_t>(upper));
  return value * 0x1p32;
}

/// Products of doubles.
class tile_of_products {
 public:
  using sum_of = double;
  static constexpr bool paired = true;
  static constexpr int per_load = 1;
  static constexpr int loads = 8;

  __device__ void renew() {
#pragma unroll
    for (int l = 0; l < loads; ++l) ptx::opaque(x_[l]), ptx::opaque(y_[l]);
  }
  __device__ double x(int l, int) const { return x_[l]; }
  __device__ double y(int l, int) const { return y_[l]; }

 protected:
  __device__ void negate() {
#pragma unroll
    for (double& x : x_) x = -x;
  }

  double x_[loads];
  double y_[loads];
};

/// Squares of the products of any real vectors x and y, rounded to the result's type.
class weighted_tile : public tile_of_products {
 public:
  static constexpr unsigned products = 1;

  __device__ explicit weighted_tile(const exact_job&) {}

  __device__ void load(const exact_job& job, std::int64_t tile, int thread) {
    const std::int64_t first = tile * (loads * static_cast<int>(warp)) + thread;
    const std::int64_t left = job.n - first;
    const int some = left < loads * warp ? static_cast<int>(left) : loads * warp;
    job.to_float ? load<float>(job, first, some) : load<double>(job, first, some);
  }

 private:
  template <class R>
  __device__ void load(const exact_job& job, std::int64_t first, int left) {
    R x[loads], y[loads];
    load_any<warp>(x, job.x, job.x_type, first * job.x_increment, job.x_increment, left);
    load_any<warp>(y, job.y, job.y_type, first * job.y_increment, job.y_increment, left);
#pragma unroll
    for (int l = 0; l < loads; ++l) x_[l] = x[l] * y[l];
    if (job.mask != nullptr) {
      load_any<warp>(y_, job.mask, job.mask_type, first * job.mask_increment, job.mask_increment,
                     left);
#pragma unroll
      for (int l = 0; l < loads; ++l) x_[l] = y_[l] > 0 ? x_[l] : 0;
    }
#pragma unroll
    for (int l = 0; l < loads; ++l) y_[l] = x_[l];
  }
};

/// Terms of any vectors; a tile has one of the products of an element's term.
class any_tile : public tile_of_products {
 public:
  static constexpr unsigned products = 0;  // from the job

  __device__ explicit any_tile(const exact_job&) {}

  __device__ void load(const exact_job& job, std::int64_t tile, int thread) {
    const exact_job::product p = job.product_of[blockIdx.x % job.parts][tile % job.products];
    const std::int64_t first = tile / job.products * (loads * static_cast<int>(warp)) + thread;
    load(x_, job.x, job.x_increment, job.x_type, p.x, job.absolute, first, job.n);
    if (job.second == exact_job::factor::one) {
#pragma unroll
      for (double& y : y_) y = 1;
    } else {
      const bool is_y = job.second == exact_job::factor::y;
      load(y_, is_y ? job.y : job.x, is_y ? job.y_increment : job.x_increment,
           is_y ? job.y_type : job.x_type, p.y, false, first, job.n);
      if (is_y && job.x_type == type::int64) {
        mend(x_, y_, static_cast<const std::int64_t*>(job.x), job.x_increment, p.x, first);
      } else if (is_y && job.y_type == type::int64) {
        mend(y_, x_, static_cast<const std::int64_t*>(job.y), job.y_increment, p.y, first);
      }
    }
    if (p.negative) negate();
  }

 private:
  __device__ static void load(double (&to)[loads], const void* data, std::ptrdiff_t increment,
                              type element, int part, bool absolute, std::int64_t first,
                              std::int64_t n) {
    [&]<class... T>(type_list<T...>) {
      const auto load_as = [&]<class E>(std::type_identity<E>) {
        if (element != type_of<E>) return;
        using D = on_device_t<E>;
        const D* const from = static_cast<const D*>(data) + first * increment;
        D all[loads] = {};
#pragma unroll
        for (int l = 0; l < loads; ++l) {
          const std::int64_t i = l * static_cast<std::int64_t>(warp);
          if (first + i < n) all[l] = from[i * increment];
        }
#pragma unroll
        for (int l = 0; l < loads; ++l) to[l] = part_of(all[l], part, absolute);
      };
      (load_as(std::type_identity<T>()), ...);
    }(element_types{});
  }

  /// A part of an integer may be 0 where the integer is not, and 0 times infinity is NaN. So if the
  /// other factor is not finite, the first part becomes the integer, and the second product 0.
  __device__ static void mend(double (&integers)[loads], double (&others)[loads],
                              const std::int64_t* data, std::ptrdiff_t increment, int part,
                              std::int64_t first) {
#pragma unroll
    for (int l = 0; l < loads; ++l) {
      if (others[l] - others[l] == 0) continue;
      if (part == 0) {
        const std::int64_t i = first + l * static_cast<std::int64_t>(warp);
        integers[l] = static_cast<double>(data[i * increment]);
      } else {
        integers[l] = others[l] = 0;
      }
    }
  }
};

}  // namespace tally::backends::cuda
