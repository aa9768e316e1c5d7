// Short rows whose columns are within some thousands of the diagonal. A block moves along the
// diagonal in tiles of adjacent rows, one thread each. A ring buffer in shared memory has the part
// of x in reach; each tile adds as many elements as it has rows. Beside it are values and 16-bit
// differences of this and the next tiles. Nothing is gathered from memory, and x is read about
// once.
//
// Promise: y has the bits of the row order: a thread adds to each lane of its row in order. If
// offsets have changed since the plan, no index is out of bounds.
#include "backends/common/order/row_order.hpp"
#include "backends/cuda/device/bulk_copy.cuh"
#include "backends/cuda/device/fold.cuh"
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/analysis/tile_columns.hpp"
#include "backends/cuda/spmv/common/result.cuh"
#include "backends/cuda/spmv/common/shared_load.cuh"
#include "backends/cuda/spmv/common/terms.cuh"
#include "backends/cuda/spmv/method.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <algorithm>
#include <bit>
#include <string>

namespace tally::backends::cuda {
namespace {

struct ring_rows_job {
  spmv_job product;
  difference_range columns;
  std::int32_t ring = 0;  ///< elements, in whole units of 16 bytes
};

/// Staging buffers: one is summed while others fill.
constexpr unsigned stages = 3;

/// Rows per tile and blocks per SM, at most.
template <class T>
constexpr unsigned max_rows = sizeof(T) == 8 ? 896 : 640;
template <class T>
constexpr unsigned max_blocks = sizeof(T) == 8 ? 1 : 2;

/// Rows per SM, at least (tuning/spmv.md).
constexpr unsigned min_rows = 256;

/// Returns `p` modulo `size`, from 0 on.
__device__ inline std::int32_t ring_index(std::int64_t p, std::int32_t size) {
  const auto at = static_cast<std::int32_t>(p % size);
  return at < 0 ? at + size : at;
}

/// The same for 0 <= p < 2 * size, or any p if the size is a power of two.
template <bool power_of_two>
__device__ std::int32_t around(std::int32_t p, std::int32_t size) {
  if constexpr (power_of_two) return p & (size - 1);
  const auto place = static_cast<std::uint32_t>(p);
  return static_cast<std::int32_t>(::min(place, place - static_cast<std::uint32_t>(size)));
}

/// Ring buffer of x in shared memory. Element i is at i + `shift`, modulo the size, so that aligned
/// units of 16 bytes stay aligned.
template <class T, bool power_of_two>
class x_ring {
 public:
  static constexpr int unit = 16 / static_cast<int>(sizeof(T));

  __device__ x_ring(const spmv_job& job, void* memory, std::int32_t size)
      : x_(static_cast<const T*>(job.x.data)),
        ring_(static_cast<T*>(memory)),
        size_(size),
        shift_(static_cast<int>(reinterpret_cast<std::uint64_t>(x_) % 16 / sizeof(T))),
        end_(job.column_count + shift_) {}

  /// Returns an element's place, not yet reduced.
  __device__ std::int64_t place(std::int64_t i) const { return i + shift_; }

  /// Copies missing elements before `end`, at first from `begin` on, as two copies of the barrier.
  /// Called by the threads of brings().
  __device__ void bring(bulk_barrier& barrier, std::int64_t begin, std::int64_t end) {
    const std::int64_t from =
        is_empty_ ? ::max(begin + shift_, std::int64_t{0}) / unit * unit : copied_end_;
    const std::int64_t to = ::max(from, (::min(end + shift_, end_) + unit - 1) / unit * unit);
    if (!power_of_two && is_empty_) lap_begin_ = from - ring_index(from, size_);
    is_empty_ = false;
    copied_end_ = to;
    const auto in_ring = [this](std::int64_t p) {
      if constexpr (power_of_two) return p & (size_ - 1);
      return std::int64_t{around<false>(static_cast<std::int32_t>(p - lap_begin_), size_)};
    };
    const auto take = [&](std::int64_t p) { ring_[in_ring(p)] = x_[p - shift_]; };
#if __CUDA_ARCH__ >= 900
    // Units partly outside x go by element.
    const std::int64_t first = ::max(from, std::int64_t{shift_ > 0 ? unit : 0});
    const std::int64_t last = ::max(first, ::min(to, end_ / unit * unit));
    const std::int64_t at = in_ring(first);
    const std::int64_t ahead = ::min(last - first, size_ - at);
    const auto copy = [&](std::int64_t p, std::int64_t count) {
      barrier.copy(ring_ + in_ring(p), x_ + (p - shift_),
                   static_cast<unsigned>(count) * static_cast<unsigned>(sizeof(T)));
    };
    copy(first, ahead);
    copy(first + ahead, last - first - ahead);
#pragma unroll 1
    for (std::int64_t p = ::max(from, std::int64_t{shift_}); p < ::min(first, end_); ++p) take(p);
#pragma unroll 1
    for (std::int64_t p = last; p < ::min(to, end_); ++p) take(p);
#else
    for (std::int64_t p = ::max(from, std::int64_t{shift_}) + threadIdx.x; p < ::min(to, end_);
         p += blockDim.x) {
      take(p);
    }
#endif
    if (!power_of_two && to - lap_begin_ >= size_) lap_begin_ += size_;
  }

 private:
  const T* x_;
  T* ring_;
  std::int32_t size_;
  int shift_;
  std::int64_t end_;             ///< behind the last element
  std::int64_t copied_end_ = 0;  ///< end of the copied places
  std::int64_t lap_begin_ = 0;   ///< place at the ring's begin; unused with powers of two
  bool is_empty_ = true;
};

/// A tile's terms in shared memory.
struct staged_tile {
  std::uint32_t begin;  ///< first term, lower 32 bits
  int terms;
  int value_shift, delta_shift;
};

/// Sums a row, with values and differences at these shared-memory addresses. `own` is the ring
/// place of difference 0; `own` plus a difference is not negative.
template <class T, bool power_of_two>
__device__ dot_sum<T> sum_in_ring(unsigned value, unsigned difference, int count, unsigned ring,
                                  std::int32_t own, std::int32_t size) {
  constexpr int lanes = static_cast<int>(row_order::lanes), at_once = 4;
  dot_sum<T> sums[lanes];
#pragma unroll 1
  for (int i = 0; i < count; i += lanes) {
#pragma unroll
    for (int first = 0; first < lanes; first += at_once) {
      if (i + first >= count) break;
      std::int16_t apart[at_once] = {};
      T loaded[at_once] = {}, element[at_once] = {};
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int at = i + first + k;
        load_shared_if(at < count, difference + at * sizeof apart[k], apart[k]);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const auto place =
            static_cast<unsigned>(around<power_of_two>(own + std::int32_t{apart[k]}, size));
        load_shared_if(i + first + k < count, ring + place * sizeof element[k], element[k]);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int at = i + first + k;
        load_shared_if(at < count, value + at * sizeof loaded[k], loaded[k]);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        dot_sum<T>& sum = sums[first + k];
        if (i + first + k < count) sum = sum + term_of<T, T, T>(loaded[k], element[k]);
      }
    }
  }
  return fold_within_thread(sums);
}

/// A block's tiles, in shared memory.
template <class T>
struct tiles_of_block {
  const ring_rows_job& job;
  int rows = static_cast<int>(blockDim.x - warp);
  std::int64_t first;
  int count;
  char* ring;
  std::size_t value_bytes = bytes_to_bring<T>(job.product.tile_terms);
  std::size_t stage_bytes = value_bytes + bytes_to_bring<std::int16_t>(job.product.tile_terms);

  __device__ tiles_of_block(const ring_rows_job& of, void* memory)
      : job(of), ring(static_cast<char*>(memory)) {
    const std::int64_t all = (job.product.rows + rows - 1) / rows;
    first = all * blockIdx.x / gridDim.x;
    count = static_cast<int>(all * (blockIdx.x + 1) / gridDim.x - first);
  }
  __device__ char* values(unsigned stage) const {
    return ring + static_cast<std::size_t>(job.ring) * sizeof(T) + stage * stage_bytes;
  }
};

template <class T, bool power_of_two>
class tile_copier {
 public:
  explicit __device__ tile_copier(const tiles_of_block<T>& of)
      : of_(of), ring_(of.job.product, of.ring, of.job.ring) {
    begin_ = begin_of(0);
    next_ = begin_of(1);
    after_ = begin_of(2);
  }

  /// Copies tile `turn`, as five copies of the barrier. Called by the threads of brings().
  __device__ void copy_tile(int turn, staged_tile& place, bulk_barrier& barrier) {
    const spmv_job& product = of_.job.product;
    char* const to = of_.values(static_cast<unsigned>(turn) % stages);
    const auto terms = static_cast<int>(
        ::max(::min(next_ - begin_, std::int64_t{product.tile_terms}), std::int64_t{0}));
    const std::int64_t first_difference = bring(barrier, to + of_.value_bytes, product.differences,
                                                product.nonzeros, begin_, begin_ + terms);
    const std::int64_t first_value = bring(barrier, to, static_cast<const T*>(product.values.data),
                                           product.nonzeros, begin_, begin_ + terms);
    const std::int64_t row = (of_.first + turn) * of_.rows;
    ring_.bring(barrier, row + of_.job.columns.lowest, row + of_.rows + of_.job.columns.highest);
    if (threadIdx.x == 0) {
      place = {static_cast<std::uint32_t>(begin_), terms, static_cast<int>(begin_ - first_value),
               static_cast<int>(begin_ - first_difference)};
    }
    barrier.arrive();
    begin_ = next_;
    next_ = after_;
    after_ = begin_of(turn + 3);
  }

 private:
  __device__ std::int64_t begin_of(int turn) const {
    const spmv_job& product = of_.job.product;
    return product.offset(::min((of_.first + turn) * of_.rows, product.rows));
  }

  const tiles_of_block<T>& of_;
  x_ring<T, power_of_two> ring_;
  std::int64_t begin_, next_, after_;  ///< of the next tile and of those behind
};

/// Sums a thread's rows, one per tile. (Threads of the first warp may make one, at the first row.)
template <class T, bool power_of_two>
class row_summer {
 public:
  explicit __device__ row_summer(const tiles_of_block<T>& of)
      : of_(of),
        row_(of.first * of.rows + ::max(static_cast<int>(threadIdx.x) - static_cast<int>(warp), 0)),
        place_(
            ring_index(x_ring<T, power_of_two>(of.job.product, of.ring, of.job.ring).place(row_) +
                           of.job.columns.lowest,
                       of.job.ring)),
        begin_(low(row_)),
        end_(low(row_ + 1)) {}

  __device__ void sum_row(int turn, const staged_tile& tile, bulk_barrier& barrier) {
    const spmv_job& product = of_.job.product;
    const std::uint32_t begin = begin_, end = end_;
    if (turn + 1 < of_.count) {
      begin_ = low(row_ + of_.rows);
      end_ = low(row_ + of_.rows + 1);
    }
    barrier.wait(static_cast<unsigned>(turn) / stages);
    const auto in_tile = [&](std::uint32_t at) {
      return static_cast<int>(::min(at - tile.begin, static_cast<std::uint32_t>(tile.terms)));
    };
    const int start = in_tile(begin), terms = in_tile(end) - start;
    const unsigned values = shared_address(of_.values(static_cast<unsigned>(turn) % stages));
    const dot_sum<T> sum = sum_in_ring<T, power_of_two>(
        values + static_cast<unsigned>(start + tile.value_shift) * sizeof(T),
        values + static_cast<unsigned>(of_.value_bytes) +
            static_cast<unsigned>(start + tile.delta_shift) * sizeof(std::int16_t),
        terms, shared_address(of_.ring), place_ - of_.job.columns.lowest, of_.job.ring);
    if (row_ < product.rows) write_row<T>(product, row_, finish_parts(sum, conjugate::none));
    row_ += of_.rows;
    place_ = around<power_of_two>(place_ + of_.rows, of_.job.ring);
  }

 private:
  __device__ std::uint32_t low(std::int64_t row) const {
    const spmv_job& product = of_.job.product;
    return static_cast<std::uint32_t>(
        product.offsets[static_cast<std::size_t>(::min(row, product.rows))]);
  }

  const tiles_of_block<T>& of_;
  std::int64_t row_;
  std::int32_t place_;         ///< of the first element in reach
  std::uint32_t begin_, end_;  ///< lower 32 bits
};

/// The first warp copies tiles; other threads have a row of each.
template <class T, bool power_of_two>
__global__ void __launch_bounds__(max_rows<T> + warp, max_blocks<T>)
    spmv_ring_rows(const __grid_constant__ ring_rows_job job) {
  extern __shared__ uint4 memory[];
  __shared__ bulk_barrier brought[stages], read[stages];
  __shared__ staged_tile places[stages];
  const tiles_of_block<T> tiles(job, memory);
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < stages; ++i) {
      brought[i].expect(5);
      read[i].expect(static_cast<unsigned>(tiles.rows));
    }
  }
  __syncthreads();
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x < warp) {
    if (!brings()) return;
    // Not written by the launch before: no need to wait.
    tile_copier<T, power_of_two> copier(tiles);
    wait_for_launch_before();
    let_launch_after_start();
#pragma unroll 1
    for (int turn = 0; turn < tiles.count; ++turn) {
      const unsigned stage = static_cast<unsigned>(turn) % stages;
      if (turn >= static_cast<int>(stages)) {
        read[stage].wait(static_cast<unsigned>(turn) / stages - 1);
        brought[stage].reuse();
      }
      copier.copy_tile(turn, places[stage], brought[stage]);
    }
    return;
  }
  row_summer<T, power_of_two> summer(tiles);
  wait_for_launch_before();
  let_launch_after_start();
#pragma unroll 1
  for (int turn = 0; turn < tiles.count; ++turn) {
    const unsigned stage = static_cast<unsigned>(turn) % stages;
    summer.sum_row(turn, places[stage], brought[stage]);
    // One arrival per warp would do, as fast, but racecheck does not see that.
    read[stage].arrive();
  }
#else
  tile_copier<T, power_of_two> copier(tiles);
  row_summer<T, power_of_two> summer(tiles);
  for (int turn = 0; turn < tiles.count; ++turn) {
    const unsigned stage = static_cast<unsigned>(turn) % stages;
    copier.copy_tile(turn, places[stage], brought[stage]);
    __syncthreads();
    if (threadIdx.x >= warp) summer.sum_row(turn, places[stage], brought[stage]);
    __syncthreads();
  }
#endif
}

struct ring_choice {
  void (*kernel)(ring_rows_job) = nullptr;  ///< null without room
  unsigned tile = 0;                        ///< rows per tile
  unsigned blocks = 0;                      ///< per SM
  std::size_t terms = 0;                    ///< of the largest tile
  std::size_t ring = 0;
  std::size_t bytes = 0;  ///< dynamic shared memory

  unsigned rows() const { return blocks * tile; }  ///< per SM, at a time
};

template <class T, bool power_of_two>
ring_choice choice_with(std::size_t terms, const difference_range& columns, std::size_t room) {
  constexpr std::size_t unit = x_ring<T, power_of_two>::unit;
  ring_choice best;
  for (unsigned tile = rows_per_row_tile; tile <= max_rows<T>; tile += rows_per_row_tile) {
    ring_choice one{.kernel = &spmv_ring_rows<T, power_of_two>, .tile = tile};
    // Elements for the next tiles arrive meanwhile.
    one.ring = (stages * tile + columns.width() + 3 * unit) / unit * unit;
    if (power_of_two) one.ring = std::bit_ceil(one.ring);
    one.terms = tile / rows_per_row_tile * terms;
    one.bytes = one.ring * sizeof(T) +
                stages * (bytes_to_bring<T>(one.terms) + bytes_to_bring<std::int16_t>(one.terms));
    one.blocks = static_cast<unsigned>(
        std::min<std::size_t>(room / (one.bytes + static_shared_bytes), max_blocks<T>));
    if (one.rows() > best.rows()) best = one;
  }
  return best;
}

/// Returns the choice with most rows at a time, for at most `terms` terms in `rows_per_row_tile`
/// adjacent rows. Other sizes than powers of two take two more instructions per term.
ring_choice choice_of(type element, std::size_t terms, const difference_range& columns,
                      int device) {
  return with_special(element, [&]<class T>() {
    const std::size_t room = max_shared_bytes(device);
    const ring_choice power = choice_with<T, true>(terms, columns, room);
    const ring_choice any = choice_with<T, false>(terms, columns, room);
    const ring_choice& best = any.rows() > power.rows() ? any : power;
    return best.rows() >= min_rows ? best : ring_choice{};
  });
}

class rows_by_ring : public method {
 public:
  rows_by_ring(const search& s, const column_differences& differences)
      : terms_(s.found[result_words::tile_terms]), differences_(differences) {}

  std::string describe(const std::string&) const override {
    return "ring: each row in a thread, and x in shared memory, since differences column - row are "
           "from " +
           std::to_string(differences_.range.lowest) + " to " +
           std::to_string(differences_.range.highest) + differences_.describe();
  }
  bool multiply(const spmv_call& call) const override {
    if (!call.is_plain()) return false;
    const int device = call.current.device();
    const ring_choice ring = choice_of(call.element(), terms_, differences_.range, device);
    if (ring.kernel == nullptr) return false;
    ring_rows_job job{call.job, differences_.range, static_cast<std::int32_t>(ring.ring)};
    job.product.tile_terms = static_cast<std::int32_t>(ring.terms);
    job.product.differences = differences_.data;
    call.launch(ring.kernel,
                {.blocks = std::min(blocks_of(call.product.a.rows, ring.tile),
                                    ring.blocks * multiprocessors(device)),
                 .threads = ring.tile + warp,
                 .shared_bytes = ring.bytes},
                job);
    return true;
  }

 private:
  std::size_t terms_;
  column_differences differences_;
};

}  // namespace

std::unique_ptr<const method> find_ring(search& s) {
  if (s.matrix.rows < min_ring_rows) return nullptr;
  const column_differences& differences = tile_differences(s);
  if (differences.data == nullptr ||
      choice_of(s.matrix.values.element, s.found[result_words::tile_terms], differences.range,
                s.current().device())
              .kernel == nullptr) {
    return nullptr;
  }
  return std::make_unique<rows_by_ring>(s, differences);
}

}  // namespace tally::backends::cuda
