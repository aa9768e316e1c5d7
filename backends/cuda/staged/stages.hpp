// Stages: memory through which vectors of the host go to a device in parts, and come back. While
// one part is worked on, the next is on its way, and the host's threads gather the one after that.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/staged/copy_threads.hpp"

#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/workspace.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tally::backends::cuda {

/// A vector of a call, and how it gets to the device.
struct staged_vector {
  enum class way : std::uint8_t {
    none,    ///< the device reaches it
    bus,     ///< it is pinned: the device copies it from where it is
    threads  ///< the host's threads gather it in pinned memory, or scatter it from there
  };

  operand host;
  bool read = true;
  bool written = false;
  way moves = way::none;
  /// A device reaches some of it, so that work on the executor's stream may still write it.
  bool is_shared = false;
};

/// So many vectors a call may have.
inline constexpr std::size_t most_staged_vectors = 32;

/// The vectors of a call where the device reaches them.
using staged_operands = std::array<operand, most_staged_vectors>;

class stages {
 public:
  /// Three: one is gathered, one travels and one is worked on.
  static constexpr std::size_t count = 3;
  /// What kernels may leave for the host at each part.
  static constexpr std::size_t result_bytes = 1024;

  stages(const executor& on, const workspace_options& options);
  ~stages();
  stages(const stages&) = delete;
  stages& operator=(const stages&) = delete;

  const executor& on() const { return on_; }
  std::size_t bytes() const { return bytes_; }
  int threads() const { return threads_.count(); }

  /// Says how a vector moves.
  staged_vector vector(const operand& v, bool read = true, bool written = false) const;

  /// Says whether vectors are so short that kernels read them in pinned memory.
  bool are_short(std::span<const staged_vector> vectors) const;

  /// How many elements of each vector go at once. Parts are nodes of a tree: they begin at
  /// multiples of their own length, which is `first` at both ends of the vectors and up to `most`
  /// between, so that little is done while nothing is on its way. Where the two are equal, all
  /// parts are so long.
  struct parts {
    std::size_t first, most;

    /// Returns the length of the part that begins at `next`, with so many elements left; the last
    /// one may be cut short.
    std::size_t length(std::size_t next, std::size_t left) const {
      if (first == most) return most;
      const std::size_t aligned = next == 0 ? first : next & (~next + 1);
      return std::min({most, aligned, std::max(first, std::bit_floor(left / 2))});
    }
  };

  /// Returns the parts of some vectors: powers of two.
  parts parts_of(std::span<const staged_vector> vectors) const;

  /// Says whether short vectors may end with zeros up to a whole chunk: that changes no sum, and a
  /// kernel takes 1.5 us less for 1000 elements that it reads over the bus.
  enum class padding : std::uint8_t { none, zeros };

  /// Calls work(operands) with short vectors where kernels reach them. If one is written, it waits
  /// for the stream and brings it back.
  template <class Work>
  void run_short(std::span<const staged_vector> vectors, padding ends, const Work& work) {
    staged_operands here;
    gather_short(vectors, ends, here);
    work(here);
    scatter_short(vectors, here);
  }

  /// Takes vectors of n elements through the stages. work(here, first, result) queues the work on
  /// the part that begins at `first`, which may leave result_bytes at `result`; then the host calls
  /// retire(result, first, leaves), in order, once that is there. The part has `leaves` times as
  /// many elements as the first one, or is the last.
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

  /// Waits for the executor's stream.
  void wait() const;

 private:
  struct stage {
    std::byte* host = nullptr;  ///< pinned; the same address serves the device
    std::byte* device = nullptr;
    std::byte* result = nullptr;  ///< pinned, too
    cudaEvent_t brought = nullptr, worked = nullptr, taken = nullptr;
    std::size_t first = 0, size = 0, leaves = 1;  ///< the part that is in it
  };

  /// Copies strips of the part that is in a stage: gathers them there, or scatters them from there.
  struct strips {
    void operator()(std::size_t i) const;

    std::span<const staged_vector> vectors;
    const stage* in = nullptr;
    bool gathers = true;
    std::size_t strip = 0, of_each = 0;
    std::array<std::size_t, most_staged_vectors> chosen{}, offsets{};
  };

  /// Waits, when a call ends early, until nothing that it has queued uses stages or vectors.
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
  strips copying_;  ///< what the threads do
  cudaStream_t in_ = nullptr, out_ = nullptr;
  cudaEvent_t before_ = nullptr;  ///< what was queued on the executor's stream before a call
};

}  // namespace tally::backends::cuda
