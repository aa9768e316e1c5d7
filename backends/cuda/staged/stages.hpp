// Staging buffers, through which vectors of the host go to a device in parts, and come back: one
// part is worked on, the next travels, and host threads gather the one after.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/staged/copy_threads.hpp"

#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/workspace.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tally::backends::cuda {

struct staged_vector {
  enum class way : std::uint8_t {
    none,    ///< accessible to the device
    bus,     ///< pinned: copied by the device
    threads  ///< gathered in, or scattered from, pinned memory by host threads
  };

  operand host;
  bool read = true;
  bool written = false;
  way moves = way::none;
  /// A device can access some of it: work on the stream may still write it.
  bool is_shared = false;
};

/// Vectors per call, at most.
inline constexpr std::size_t max_staged_vectors = 32;

/// A vector that is written, too.
inline output_operand as_output(const operand& v) {
  return {const_cast<void*>(v.data), v.size, v.increment, v.element};
}

/// Vectors where the device can access them.
using staged_operands = std::array<operand, max_staged_vectors>;

class stages {
 public:
  /// Gathered, travelling, worked on.
  static constexpr std::size_t count = 3;
  /// Left by kernels for the host, per part.
  static constexpr std::size_t result_bytes = 1024;

  stages(const executor& on, const workspace_options& options);
  ~stages();
  stages(const stages&) = delete;
  stages& operator=(const stages&) = delete;

  const executor& on() const { return on_; }
  std::size_t bytes() const { return bytes_; }
  int threads() const { return threads_.count(); }

  staged_vector vector(const operand& v, bool read = true, bool written = false) const;

  /// Whether kernels read these vectors in pinned memory.
  bool are_short(std::span<const staged_vector> vectors) const;

  /// Elements of each vector per part. Parts are nodes of a tree: they begin at multiples of their
  /// length, which is `first` at both ends and up to `max` between, so that little is done while
  /// nothing travels. If both are equal, so are all parts.
  struct parts {
    std::size_t first, max;

    /// Returns the length of the part at `next`, with `left` elements left; the last may be
    /// shorter.
    std::size_t length(std::size_t next, std::size_t left) const {
      if (first == max) return max;
      const std::size_t aligned = next == 0 ? first : next & (~next + 1);
      return std::min({max, aligned, std::max(first, std::bit_floor(left / 2))});
    }
  };

  /// Returns the parts, with lengths that are powers of two.
  parts parts_of(std::span<const staged_vector> vectors) const;

  /// Zeros behind short vectors, to a whole chunk, change no sum and let kernels read faster over
  /// the bus (tuning/host_data.md: padding).
  enum class padding : std::uint8_t { none, zeros };

  /// Calls work(operands) with short vectors where kernels can access them. If one is written,
  /// waits for the stream and brings it back.
  template <class Work>
  void run_short(std::span<const staged_vector> vectors, padding ends, const Work& work) {
    staged_operands here;
    gather_short(vectors, ends, here);
    work(here);
    scatter_short(vectors, here);
  }

  /// Takes vectors of n elements through the buffers. work(here, first, result) queues the work on
  /// the part at `first`, which may leave result_bytes at `result`; then the host calls
  /// retire(result, first, leaves), in order. A part has `leaves` times the first one's elements,
  /// or is the last.
  template <class Work, class Retire>
  void run_parts(std::span<const staged_vector> vectors, std::size_t n, const parts& of,
                 const Work& work, const Retire& retire) {
    drain at_end(*this);
    begin_parts(vectors);
    const auto retire_oldest = [&](std::size_t p) {
      const stage& s = all_[p % count];
      wait_for(vectors, s);
      retire(s.result, s.first, s.leaves);
    };
    std::size_t next = 0, begun = 0;
    const auto begin_next = [&] {
      if (next >= n) return;
      const std::size_t size = of.length(next, n - next);
      stage& s = all_[begun++ % count];
      s.first = next;
      s.size = std::min(size, n - next);
      s.leaves = size / of.first;
      begin_copying(vectors, s, true);
      next += size;
    };
    begin_next();
    std::size_t p = 0;
    for (; p < begun; ++p) {
      threads_.finish();
      if (p + 1 >= count) retire_oldest(p + 1 - count);
      begin_next();
      const stage& s = all_[p % count];
      staged_operands here;
      bring(vectors, s, here);
      work(here, s.first, s.result);
      take_back(vectors, here, s);
    }
    for (std::size_t q = p < count ? 0 : p + 1 - count; q < p; ++q) retire_oldest(q);
    at_end.is_needed = false;
  }

  void wait() const;

 private:
  struct stage {
    std::byte* host = nullptr;  ///< pinned; same address for the device
    std::byte* device = nullptr;
    std::byte* result = nullptr;  ///< pinned
    cudaEvent_t brought = nullptr, worked = nullptr, taken = nullptr;
    std::size_t first = 0, size = 0, leaves = 1;  ///< of the current part
  };

  /// Copies blocks of a part into its buffer, or back.
  struct copy_blocks {
    void operator()(std::size_t i) const;

    std::span<const staged_vector> vectors;
    const stage* in = nullptr;
    bool gathers = true;
    std::size_t strip = 0, of_each = 0;
    std::array<std::size_t, max_staged_vectors> chosen{}, offsets{};
  };

  /// When a call ends early, waits for all that it queued.
  struct drain {
    explicit drain(stages& of) : all(of) {}
    ~drain();
    drain(const drain&) = delete;
    drain& operator=(const drain&) = delete;
    stages& all;
    bool is_needed = true;
  };

  void allocate();
  void free() noexcept;
  void wait_for_shared(std::span<const staged_vector> vectors) const;
  void begin_parts(std::span<const staged_vector> vectors) const;
  void gather_short(std::span<const staged_vector> vectors, padding ends, staged_operands& here);
  void scatter_short(std::span<const staged_vector> vectors, const staged_operands& here);
  void begin_copying(std::span<const staged_vector> vectors, const stage& s, bool gathers);
  void bring(std::span<const staged_vector> vectors, const stage& s, staged_operands& here) const;
  void take_back(std::span<const staged_vector> vectors, const staged_operands& here,
                 const stage& s) const;
  void wait_for(std::span<const staged_vector> vectors, const stage& s);

  executor on_;
  std::size_t bytes_;
  copy_threads threads_;
  std::array<stage, count> all_{};
  copy_blocks copying_;
  cudaStream_t in_ = nullptr, out_ = nullptr;
  cudaEvent_t before_ = nullptr;  ///< work queued on the stream before a call
};

}  // namespace tally::backends::cuda
