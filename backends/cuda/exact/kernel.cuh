// The exact grade on a GPU: one launch for each call.
//
// A thread adds up tiles of terms in narrow levels, or in a column of wide ones where those don't
// hold them (exact_levels.hpp). The levels' sums are integers; a warp adds its threads' and puts
// them into words of its own, in the layout of exact_sum. A block adds its warps' words, blocks add
// theirs to the workspace's, and the last block to do so rounds. All of that is integer addition,
// so who adds what, and when, changes nothing.
#pragma once

#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/exact/job.hpp"
#include "backends/cuda/exact/kernels.hpp"
#include "backends/cuda/exact/levels.hpp"
#include "src/core/types/tables.hpp"

#include <tally/exact_sum.hpp>

#include <type_traits>

namespace tally::backends::cuda {

/// Dynamic shared memory of a warp: its threads' columns.
template <class Tile>
inline constexpr std::size_t column_bytes =
    wide_levels<typename Tile::sum_of, Tile::paired>::levels * warp * sizeof(double);

// --- The workspace ---------------------------------------------------------------------------

static_assert(exact_workspace::words(2, exact_sum<double>::words) <= 8192);

__device__ inline std::uint32_t largest_of_warp(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(whole_warp, value);
#else
#pragma unroll
  for (unsigned d = 1; d < warp; d *= 2) {
    const std::uint32_t other = __shfl_xor_sync(whole_warp, value, d);
    value = other > value ? other : value;
  }
  return value;
#endif
}

__device__ inline void add_to(std::uint64_t* word, std::int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
}

/// A number for every caller, 0 first. Writes before it, of other threads before the block's
/// barrier too, are seen by whoever gets a later one.
__device__ inline unsigned next_number(std::uint64_t* word) {
  unsigned number;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
               : "=r"(number)
               : "l"(word)
               : "memory");
  return number;
}

// --- A warp ----------------------------------------------------------------------------------

/// Adds each thread's m * 2^exponent to the words of an exact_sum<T>. The threads' exponents are 32
/// or more apart, so each step below has a word for each thread.
template <class T>
__device__ void deposit(std::int64_t* words, std::int64_t m, int exponent) {
  using sum = exact_sum<T>;
  if (exponent < sum::lowest_exponent) {  // no bit of m is below that
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

/// A thread's sums, and the warp's words.
template <class Tile>
class warp_sum {
  using T = typename Tile::sum_of;
  static constexpr bool paired = Tile::paired;
  static constexpr int count = Tile::rows * Tile::lanes;
  using narrow = narrow_levels<T, paired, count>;
  using wide = wide_levels<T, paired>;
  /// Tiles that wide levels take before their sums are.
  static constexpr int most_tiles = wide::terms / count;

 public:
  __device__ warp_sum(double* columns, std::int64_t* words, int lane)
      : columns_(columns), words_(words), lane_(lane) {
    for (int i = lane; i < exact_sum<T>::words; i += static_cast<int>(warp)) words[i] = 0;
    __syncwarp();
  }

  /// Tile i of a chunk.
  __device__ void add(Tile& tile, int i) {
    // The chunk once more, for a bank: what narrow levels took is all there, whatever its
    // exponents.
    if (bank_ != 0 && (held_ >> i & 1) != 0) return;
    if (tiles_left_ == 0) {
      if (bank_ == 0) {
        if (add_narrow(tile)) {
          in_row_ = 1;
          held_ |= 1u << i;
          return;
        }
        // The next tiles are likely to fail too, the more so the more did.
        tiles_left_ = in_row_;
        in_row_ = in_row_ * 2 < most_tiles ? in_row_ * 2 : most_tiles;
      } else {
        tiles_left_ = most_tiles;
      }
      clear_columns();
    }
    tile.renew();
    wide::template add<warp>(columns_ + lane_, tile, bank_, seen_);
    if (--tiles_left_ == 0) take_columns();
  }

  /// After the tiles of a chunk were added: whether they are to be added once more, for the terms
  /// of another bank. They are those of bank 0 in the end. With `last`, all is in the words then.
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
      if (lane_ == 0) {
        words_[exact_sum<T>::nan_word] = nan;
        words_[exact_sum<T>::plus_infinity_word] = plus;
        words_[exact_sum<T>::minus_infinity_word] = minus;
      }
    }
    return again;
  }

 private:
  __device__ bool seen_by_any(unsigned what) { return __any_sync(whole_warp, seen_ & what); }

  /// Whether narrow levels held the whole warp's tile. Moves their window where that may help.
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
      const std::uint32_t limit = narrow::limit_for(largest_of_warp(narrow::largest_of(tile)));
      if (limit <= narrow_.limit && limit + (8u << 20) > narrow_.limit) return false;
      if (narrow_tiles_ > 0) take_narrow();
      narrow_.limit = limit;
      tile.renew();
    }
  }

  __device__ void take_narrow() {
    std::int64_t mine = 0;
#pragma unroll
    for (int i = 0; i < narrow::levels; ++i) {
      std::int64_t sum = narrow_.sums[i];
#pragma unroll
      for (unsigned d = 1; d < warp; d *= 2) sum += __shfl_xor_sync(whole_warp, sum, d);
      if (lane_ == i) mine = sum;
      narrow_.sums[i] = 0;
    }
    narrow_tiles_ = 0;
    deposit<T>(words_, mine, lane_ < narrow::levels ? narrow_.exponent(lane_) : 0);
  }

  __device__ void clear_columns() {
#pragma unroll 1
    for (int i = 0; i < wide::levels; ++i) columns_[i * warp + lane_] = 0;
  }

  /// Each thread adds up a level of all threads, each beginning with another's.
  __device__ void take_columns() {
    __syncwarp();
    std::int64_t sum = 0;
    if (lane_ < wide::levels) {
#pragma unroll 8
      for (unsigned i = 0; i < warp; ++i) {
        sum += wide::sum_of(columns_[lane_ * warp + (lane_ + i) % warp], lane_);
      }
    }
    __syncwarp();
    deposit<T>(words_, sum, wide::exponent(lane_, bank_));
  }

  narrow narrow_;
  int narrow_tiles_ = 0;  // added to narrow_ since its sums were taken
  int tiles_left_ = 0;    // that wide levels take; 0: the columns hold nothing
  int in_row_ = 1;        // how many they take next time
  int bank_ = 0;
  std::uint32_t held_ = 0;  // which tiles of the chunk narrow levels took; it has 32 at most
  unsigned banks_left_ = 0;
  unsigned seen_ = 0;
  double* const columns_;
  std::int64_t* const words_;
  const int lane_;
};

// --- Tiles -----------------------------------------------------------------------------------

/// The terms of contiguous vectors that start at multiples of what a thread loads.
template <class X, class Y, int count>
class vector_tile {
  static constexpr bool is_value = std::is_same_v<Y, no_vector>;
  static constexpr bool has_y = !is_value && !std::is_same_v<Y, squared>;
  using DX = on_device_t<X>;
  using DY = std::conditional_t<has_y, on_device_t<Y>, char>;
  static constexpr bool wide_types =
      std::is_same_v<X, double> || (has_y && std::is_same_v<Y, double>);
  /// Whether products are exact in float.
  static constexpr bool short_products =
      has_y &&
      (std::is_same_v<X, bool> || (std::is_same_v<X, float16> && std::is_same_v<Y, float16>));

 public:
  using sum_of = std::conditional_t<wide_types, double, float>;
  static constexpr bool paired = wide_types && !is_value;
  static constexpr int widest = sizeof(DX) > sizeof(DY) ? sizeof(DX) : sizeof(DY);
  static constexpr int lanes = 16 / widest < 8 ? 16 / widest : 8;
  static constexpr int rows = count / lanes;
  static constexpr unsigned products = 1;

  __device__ explicit vector_tile(const exact_job& job)
      : keeps_(job.absolute ? 0x7fffffffu : ~0u) {}

  /// Elements from `first` on; zeros after the vectors' end.
  __device__ void load(const exact_job& job, std::int64_t tile, int lane) {
    constexpr int row_of_warp = static_cast<int>(warp) * lanes;
    const std::int64_t first = tile * (row_of_warp * rows);
    const std::int64_t start = first + lane * lanes;
    const DX* const x = static_cast<const DX*>(job.x) + start;
    const DY* const y = static_cast<const DY*>(job.y) + start;
    if (first + row_of_warp * rows <= job.n) {
#pragma unroll
      for (int row = 0; row < rows; ++row) {
        x_[row].load(x + row * row_of_warp);
        if constexpr (has_y) y_[row].load(y + row * row_of_warp);
      }
    } else {
      const std::int64_t left = job.n - start;
#pragma unroll
      for (int row = 0; row < rows; ++row) {
        const int i = row * row_of_warp;
        x_[row] = {};
        if constexpr (has_y) y_[row] = {};
        if (i < left) {
          const int some = left - i < lanes ? static_cast<int>(left - i) : lanes;
          x_[row].load(x + i, some);
          if constexpr (has_y) y_[row].load(y + i, some);
        }
      }
    }
  }

  __device__ void renew() {
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      x_[row].renew();
      if constexpr (has_y) y_[row].renew();
    }
  }

  __device__ double x(int row, int i) const {
    const X value = x_[row].at(i);
    if constexpr (!is_value) {
      return convert<double>(value);
    } else if constexpr (std::is_same_v<X, double>) {
      return from_bits(static_cast<std::uint64_t>(bits_of(value)) &
                       (std::uint64_t{keeps_} << 32 | 0xffffffffu));
    } else {
      return convert<double>(from_bits(bits_of(value) & keeps_));
    }
  }
  __device__ double y(int row, int i) const {
    if constexpr (has_y) {
      return convert<double>(y_[row].at(i));
    } else {
      return is_value ? 1.0 : x(row, i);
    }
  }
  __device__ double high(int row, int i) const {
    if constexpr (short_products) {
      return convert<double>(convert<float>(x_[row].at(i)) * convert<float>(y_[row].at(i)));
    } else if constexpr (is_value) {
      return x(row, i);
    } else {
      return x(row, i) * y(row, i);
    }
  }

 private:
  elements<DX, lanes> x_[rows];
  elements<DY, lanes> y_[has_y ? rows : 1];
  std::uint32_t keeps_;  // of the upper word of an element: without the sign for magnitudes
};

/// A part of an element, as doubles: the parts of a complex number; of an int64 the upper half, in
/// place, and the lower. Others have one.
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

/// The terms of any vectors: one of the products of an element's term in each tile.
class any_tile {
 public:
  using sum_of = double;
  static constexpr bool paired = true;
  static constexpr int lanes = 1;
  static constexpr int rows = 8;
  static constexpr unsigned products = 0;  // the job says

  __device__ explicit any_tile(const exact_job&) {}

  __device__ void load(const exact_job& job, std::int64_t tile, int lane) {
    const exact_job::product p = job.product_of[blockIdx.x % job.parts][tile % job.products];
    const std::int64_t first = tile / job.products * (rows * static_cast<int>(warp)) + lane;
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
    if (p.negative) {
#pragma unroll
      for (double& x : x_) x = -x;
    }
  }

  __device__ void renew() {
#pragma unroll
    for (int row = 0; row < rows; ++row) asm volatile("" : "+d"(x_[row]), "+d"(y_[row]));
  }
  __device__ double x(int row, int) const { return x_[row]; }
  __device__ double y(int row, int) const { return y_[row]; }

 private:
  __device__ static void load(double (&to)[rows], const void* data, std::ptrdiff_t increment,
                              type element, int part, bool absolute, std::int64_t first,
                              std::int64_t n) {
    const auto load_as = [&]<class E>(std::type_identity<E>) {
      if (element != type_of<E>) return;
      using D = on_device_t<E>;
      const D* const from = static_cast<const D*>(data) + first * increment;
      D all[rows] = {};
#pragma unroll
      for (int row = 0; row < rows; ++row) {
        const std::int64_t i = row * static_cast<std::int64_t>(warp);
        if (first + i < n) all[row] = from[i * increment];
      }
#pragma unroll
      for (int row = 0; row < rows; ++row) to[row] = part_of(all[row], part, absolute);
    };
    [&]<class... E>(type_list<E...>) { (load_as(std::type_identity<E>()), ...); }(element_types{});
  }

  /// A part of an integer may be 0 where the integer is not, and infinity times it another matter:
  /// the first part meets what is not finite as the whole integer, the second not at all.
  __device__ static void mend(double (&integers)[rows], double (&others)[rows],
                              const std::int64_t* data, std::ptrdiff_t increment, int part,
                              std::int64_t first) {
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      if (others[row] - others[row] == 0) continue;
      if (part == 0) {
        const std::int64_t i = first + row * static_cast<std::int64_t>(warp);
        integers[row] = static_cast<double>(data[i * increment]);
      } else {
        integers[row] = others[row] = 0;
      }
    }
  }

  double x_[rows];
  double y_[rows];
};

// --- The whole -------------------------------------------------------------------------------

/// Rounds and writes the result: `words` of each part, of which those outside [low, high) are 0.
template <class T, unsigned count>
__device__ void round_and_deliver(const exact_job& job, const std::int64_t (*words)[count], int low,
                                  int high) {
  const auto as = [&]<class R>(R) {
    R part[2] = {};
    for (unsigned i = 0; i < job.parts; ++i) {
      part[i] = job.root ? exact_sum<T>::template round_root_words<R>(words[i], low, high)
                         : exact_sum<T>::template round_words<R>(words[i], low, high);
    }
    if (job.parts == 1) {
      deliver<1>(complex_number<R>{part[0], R()}, job.tag, job.result);
    } else {
      deliver<2>(complex_number<R>{part[0], part[1]}, job.tag, job.result);
    }
  };
  if (job.to_float) {
    as(float());
  } else {
    as(double());
  }
}

template <class Tile>
__global__ void __launch_bounds__(exact_warps* warp, exact_blocks)
    exact_kernel(const exact_job job) {
  using T = typename Tile::sum_of;
  constexpr int words_of_sum = exact_sum<T>::words;
  extern __shared__ double columns[];
  __shared__ std::int64_t words[exact_warps][words_of_sum];
  __shared__ int low, high;
  __shared__ bool last;
  const int lane = threadIdx.x % warp;
  const unsigned w = threadIdx.x / warp;
  const unsigned warps = blockDim.x / warp;
  warp_sum<Tile> sum(columns + w * (column_bytes<Tile> / sizeof(double)), words[w], lane);
  if (threadIdx.x == 0) {
    low = exact_sum<T>::limbs;
    high = 0;
  }
  wait_for_launch_before();

  // Blocks with the same remainder work on the same part of the result.
  const unsigned part = job.parts == 1 ? 0 : blockIdx.x % job.parts;
  const std::int64_t all_warps = std::int64_t{gridDim.x / job.parts} * warps;
  constexpr int in_tile = static_cast<int>(warp) * Tile::lanes * Tile::rows;
  const std::int64_t tiles = (job.n + in_tile - 1) / in_tile * (Tile::products ? 1 : job.products);
  Tile tile(job);
  std::int64_t first = (std::int64_t{blockIdx.x / job.parts} * warps + w) * job.tiles;
#pragma unroll 1
  while (first < tiles) {
    unsigned next = 0;
    if (job.dynamic && lane == 0) {
      next = atomicAdd(reinterpret_cast<unsigned*>(job.workspace + exact_workspace::chunk +
                                                   part * exact_workspace::apart),
                       1u);
    }
    const int some = static_cast<int>(first + job.tiles < tiles ? job.tiles : tiles - first);
    std::int64_t after = 0;
    do {
#pragma unroll 1
      for (int i = 0; i < some; ++i) {
        tile.load(job, first + i, lane);
        sum.add(tile, i);
      }
      after = job.dynamic ? (all_warps + __shfl_sync(whole_warp, next, 0)) * job.tiles
                          : first + all_warps * job.tiles;
    } while (sum.turn(static_cast<int>(job.tiles), after >= tiles));
    first = after;
  }
  let_launch_after_start();
  __syncthreads();

  std::uint64_t* const sums = job.workspace + exact_workspace::sums;
  for (int i = threadIdx.x; i < words_of_sum; i += blockDim.x) {
    std::int64_t total = 0;
    for (unsigned j = 0; j < warps; ++j) total += words[j][i];
    if (gridDim.x == 1) {
      words[0][i] = total;
      if (total != 0 && i < exact_sum<T>::limbs) {
        atomicMin(&low, i);
        atomicMax(&high, i + 1);
      }
    } else if (total != 0) {
      add_to(sums + (part * words_of_sum + i) * exact_workspace::apart, total);
    }
  }
  __syncthreads();
  if (gridDim.x > 1) {
    if (threadIdx.x == 0)
      last = next_number(job.workspace + exact_workspace::ticket) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    for (unsigned i = threadIdx.x; i < job.parts * words_of_sum; i += blockDim.x) {
      std::uint64_t* const from = sums + i * exact_workspace::apart;
      const auto total = static_cast<std::int64_t>(__ldcg(from));
      const int limb = static_cast<int>(i % words_of_sum);
      words[i / words_of_sum][limb] = total;
      if (total == 0) continue;
      *from = 0;
      if (limb < exact_sum<T>::limbs) {
        atomicMin(&low, limb);
        atomicMax(&high, limb + 1);
      }
    }
    if (threadIdx.x < 3)
      job.workspace[threadIdx.x * exact_workspace::apart] = 0;  // The sums are 0.
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    round_and_deliver<T>(job, words, low, high);
    if (job.ended != nullptr) atomicAdd(reinterpret_cast<unsigned long long*>(job.ended), 1ull);
  }
}

/// For exact_kernels.hpp.
template <class Tile>
exact_kernel_choice exact_kernel_of() {
  return {reinterpret_cast<const void*>(&exact_kernel<Tile>),
          static_cast<int>(warp) * Tile::lanes * Tile::rows, Tile::lanes, column_bytes<Tile>,
          exact_sum<typename Tile::sum_of>::words};
}

/// Long tiles, and the shortest. A thread's loads are 128 bytes, of bool and float 160: all in
/// flight at once, they lie in what shared memory leaves of L1. With twice as many, the product of
/// two vectors of double took 14 % longer at 2^28, of float 479 us instead of 471. With half of
/// them and three blocks at a time, the sum of doubles took 491 us instead of 499, but with
/// exponents spread over 2^+-100 666 instead of 618. Asking L2 for the next tile ahead made all of
/// them 10 to 16 % slower. (One H200; in [-1, 1) where not said.)
template <class X, class Y>
exact_kernel_pair vector_kernels() {
  constexpr int size = sizeof(on_device_t<X>);
  constexpr int vectors = std::is_same_v<X, Y> ? 2 : 1;
  constexpr int count = std::is_same_v<X, bool> ? 32 : 128 / (vectors * size);
  constexpr int least = 16 / size;
  return {exact_kernel_of<vector_tile<X, Y, count>>(),
          exact_kernel_of<vector_tile<X, Y, (least > 4 ? least : 4)>>()};
}

}  // namespace tally::backends::cuda
