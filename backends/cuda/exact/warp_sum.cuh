// A warp adds up its threads' terms here: in narrow levels, or in columns of wide ones where those
// don't hold them, and at last in words of its own.
//
// Promise: no addition rounds, so the words are the exact sum of the terms.
#pragma once

#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/exact/levels.hpp"

#include <tally/exact_sum.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// A warp needs this much dynamic shared memory for its threads' columns.
template <class Tile>
inline constexpr std::size_t column_bytes =
    wide_levels<typename Tile::sum_of, Tile::paired>::levels * warp * sizeof(double);

/// Adds each thread's m * 2^exponent to the words of an exact_sum<T>. The threads' exponents are 32
/// or more apart, so that in each step below each thread has a word to itself.
template <class T>
__device__ void deposit(std::int64_t* words, std::int64_t m, int exponent) {
  using sum = exact_sum<T>;
  if (exponent < sum::lowest_exponent) {  // m has no bit below that
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

/// Holds a thread's sums and adds them to its warp's words.
template <class Tile>
class warp_sum {
  using T = typename Tile::sum_of;
  static constexpr bool paired = Tile::paired;
  static constexpr int count = Tile::loads * Tile::per_load;
  using narrow = narrow_levels<T, paired, count>;
  using wide = wide_levels<T, paired>;
  /// Wide levels take at most this many tiles before their sums must be taken.
  static constexpr int most_tiles = wide::terms / count;

 public:
  __device__ warp_sum(double* columns, std::int64_t* words, int thread)
      : columns_(columns), words_(words), thread_(thread) {
    for (int i = thread; i < exact_sum<T>::words; i += static_cast<int>(warp)) words[i] = 0;
    __syncwarp();
  }

  /// Adds tile i of a batch.
  __device__ void add(Tile& tile, int i) {
    // The batch is here once more, for a bank. The words have all that narrow levels took, whatever
    // its exponents are.
    if (bank_ != 0 && (held_ >> i & 1) != 0) return;
    if (tiles_left_ == 0) {
      if (bank_ == 0) {
        if (add_narrow(tile)) {
          in_row_ = 1;
          held_ |= 1u << i;
          return;
        }
        // The next tiles are likely to fail too, the more so the more have failed.
        tiles_left_ = in_row_;
        in_row_ = in_row_ * 2 < most_tiles ? in_row_ * 2 : most_tiles;
      } else {
        tiles_left_ = most_tiles;
      }
      clear_columns();
    }
    tile.renew();
    wide::template add<warp>(columns_ + thread_, tile, bank_, seen_);
    if (--tiles_left_ == 0) take_columns();
  }

  /// Is called after the tiles of a batch were added. It returns whether they are to be added once
  /// more, for the terms of another bank; in the end the bank is 0 again. With `last`, and once it
  /// returns false, the words have everything.
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
      const int next = __ffs(banks_left_);  // it is 1 to 4
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

  /// Adds a tile to narrow levels, moving their window where that may help. It returns whether they
  /// held the whole warp's tile.
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

  /// Returns the largest magnitude_of of the terms of the whole warp's tile, or the one after it.
  __device__ std::uint32_t largest_term_of_warp(const Tile& tile) {
    // Floats need no conversions to double, of which a multiprocessor does 16 at a time: the
    // product of 2^20 floats takes 5.5 us instead of 5.8, the sum of 2^22 7.6 instead of 7.9 (one
    // H200).
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

  /// Each thread adds up one level of all threads. Each begins with another thread's, so that they
  /// don't meet in a bank.
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
  int narrow_tiles_ = 0;  // tiles added to narrow_ since its sums were taken
  int tiles_left_ = 0;    // tiles that wide levels still take; 0: the columns hold nothing
  int in_row_ = 1;        // how many they take the next time
  int bank_ = 0;
  // The tiles of the batch that narrow levels took; a batch has 32 at most.
  std::uint32_t held_ = 0;
  unsigned banks_left_ = 0;
  unsigned seen_ = 0;
  double* const columns_;
  std::int64_t* const words_;
  const int thread_;
};

}  // namespace tally::backends::cuda
