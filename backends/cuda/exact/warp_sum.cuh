// Sum of a warp's terms: in narrow levels, or in columns of wide ones where those don't hold them,
// and at last in limbs.
//
// Promise: no addition rounds, so the limbs are the exact sum.
#pragma once

#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/exact/levels.hpp"

#include <tally/numerics/exact_sum.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Dynamic shared memory per warp, for the threads' columns.
template <class Tile>
inline constexpr std::size_t column_bytes =
    wide_levels<typename Tile::sum_of, Tile::paired>::levels * warp * sizeof(double);

/// Adds each thread's m * 2^exponent to the limbs. Pre: exponents are 32 or more apart, so that no
/// step below has two threads at a limb.
template <class T>
__device__ void deposit(std::int64_t* words, std::int64_t m, int exponent) {
  using sum = exact_sum<T>;
  if (exponent < sum::lowest_exponent) {  // m has no bits below
    const int shift = sum::lowest_exponent - exponent;
    m = shift < 64 ? m >> shift : 0;
    exponent = sum::lowest_exponent;
  }
  std::int64_t pieces[3];
  const int first = sum::split(m, exponent, pieces);
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    if (m != 0) words[first + i] += pieces[i];
    __syncwarp();
  }
}

template <class Tile>
class warp_sum {
  using T = typename Tile::sum_of;
  static constexpr bool paired = Tile::paired;
  static constexpr int count = Tile::loads * Tile::per_load;
  using narrow = narrow_levels<T, paired, count>;
  using wide = wide_levels<T, paired>;
  /// Tiles before wide levels' sums are taken, at most.
  static constexpr int max_tiles = wide::terms / count;

 public:
  __device__ warp_sum(double* columns, std::int64_t* words, int thread)
      : columns_(columns), words_(words), thread_(thread) {
    for (int i = thread; i < exact_sum<T>::words; i += static_cast<int>(warp)) words[i] = 0;
    __syncwarp();
  }

  __device__ void add(Tile& tile, int i) {
    // In a replay limbs already have what narrow levels took, of any exponent.
    if (bank_ != 0 && (held_ >> i & 1) != 0) return;
    if (tiles_left_ == 0) {
      if (bank_ == 0) {
        if (add_narrow(tile)) {
          in_row_ = 1;
          held_ |= 1u << i;
          return;
        }
        // The next tiles will probably fail, too, the more so the more have.
        tiles_left_ = in_row_;
        in_row_ = in_row_ * 2 < max_tiles ? in_row_ * 2 : max_tiles;
      } else {
        tiles_left_ = max_tiles;
      }
      clear_columns();
    }
    tile.renew();
    wide::template add<warp>(columns_ + thread_, tile, bank_, seen_);
    if (--tiles_left_ == 0) take_columns();
  }

  /// Ends a batch. Returns true if it must be replayed for another exponent bank; in the end the
  /// bank is 0 again. With `last`, after false, the limbs are complete.
  __device__ bool turn(int tiles, bool last) {
    if (wide::banked && bank_ == 0) {
      banks_left_ =
          (seen_by_any(seen::below) ? 0b0011 : 0) | (seen_by_any(seen::above) ? 0b1100 : 0);
      seen_ &= seen::special;
    }
    const bool again = wide::banked && banks_left_ != 0;
    if (tiles_left_ > 0 && (again || bank_ != 0 || last)) {
      take_columns();
      tiles_left_ = 0;
    }
    if (narrow_tiles_ > 0 && (last || narrow_tiles_ + tiles > narrow::tiles)) take_narrow();
    if (again) {
      const int next = __ffs(banks_left_);  // 1 to 4
      bank_ = next < 3 ? next - 3 : next - 2;
      banks_left_ &= banks_left_ - 1;
    } else {
      bank_ = 0;
      held_ = 0;
    }
    if (last && !again && seen_by_any(seen::special)) {
      const bool nan = seen_by_any(seen::nan);
      const bool plus = seen_by_any(seen::plus_infinity);
      const bool minus = seen_by_any(seen::minus_infinity);
      if (thread_ == 0) {
        words_[exact_sum<T>::nan_word] = nan;
        words_[exact_sum<T>::plus_infinity_word] = plus;
        words_[exact_sum<T>::minus_infinity_word] = minus;
      }
    }
    return again;
  }

 private:
  __device__ bool seen_by_any(unsigned what) { return __any_sync(whole_warp, seen_ & what); }

  /// Adds a tile to narrow levels, whose window may move. Returns whether they held all threads'
  /// tiles.
  __device__ bool add_narrow(Tile& tile) {
#pragma unroll 1
    for (bool moved = false;; moved = true) {
      if (narrow_.limit != 0) {
        std::int64_t more[narrow::levels];
        if (__all_sync(whole_warp, narrow_.add(tile, more))) {
          narrow_.commit(more);
          ++narrow_tiles_;
          return true;
        }
        if (moved) return false;
      }
      tile.renew();
      const std::uint32_t limit = narrow::limit_for(largest_term_of_warp(tile));
      if (limit <= narrow_.limit && limit + (8u << 20) > narrow_.limit) return false;
      if (narrow_tiles_ > 0) take_narrow();
      narrow_.limit = limit;
      tile.renew();
    }
  }

  /// Returns the largest magnitude_of of the warp's terms, or the next above.
  __device__ std::uint32_t largest_term_of_warp(const Tile& tile) {
    // Floats need no conversion to double (tuning/exact.md: largest_term_of_warp).
    if constexpr (requires { tile.largest_size(); }) {
      const float largest = from_bits(largest_of_warp(bits_of(tile.largest_size())));
      if (Tile::is_true_size(largest)) return magnitude_of(Tile::term_of_size(largest));
    }
    return largest_of_warp(narrow::largest_of(tile));
  }

  __device__ void take_narrow() {
    std::int64_t own = 0;
#pragma unroll
    for (int i = 0; i < narrow::levels; ++i) {
      std::int64_t sum = narrow_.sums[i];
#pragma unroll
      for (unsigned d = 1; d < warp; d *= 2) sum += __shfl_xor_sync(whole_warp, sum, d);
      if (thread_ == i) own = sum;
      narrow_.sums[i] = 0;
    }
    narrow_tiles_ = 0;
    deposit<T>(words_, own, thread_ < narrow::levels ? narrow_.exponent(thread_) : 0);
  }

  __device__ void clear_columns() {
#pragma unroll 1
    for (int i = 0; i < wide::levels; ++i) columns_[i * warp + thread_] = 0;
  }

  /// Each thread adds up one level of all, from different ones on, against bank conflicts.
  __device__ void take_columns() {
    __syncwarp();
    std::int64_t sum = 0;
    if (thread_ < wide::levels) {
#pragma unroll 8
      for (unsigned i = 0; i < warp; ++i) {
        sum += wide::sum_of(columns_[thread_ * warp + (thread_ + i) % warp], thread_);
      }
    }
    __syncwarp();
    deposit<T>(words_, sum, wide::exponent(thread_, bank_));
  }

  narrow narrow_;
  int narrow_tiles_ = 0;  // since the sums of narrow_ were taken
  int tiles_left_ = 0;    // that wide levels still take; 0: empty columns
  int in_row_ = 1;        // next value of tiles_left_
  int bank_ = 0;
  // Bit per tile that narrow levels took.
  std::uint32_t held_ = 0;
  unsigned banks_left_ = 0;
  unsigned seen_ = 0;
  double* const columns_;
  std::int64_t* const words_;
  const int thread_;
};

}  // namespace tally::backends::cuda
