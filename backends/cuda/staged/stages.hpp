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

  /// Returns how many elements of each vector go at once: a power of two.
  std::size_t part_of(std::span<const staged_vector> vectors) const;

  /// Calls work(operands) with short vectors where kernels reach them. If one is written, it waits
  /// for the stream and brings it back.
  template <class Work>
  void run_short(std::span<const staged_vector> vectors, const Work& work) {
    staged_operands here;
    gather_short(vectors, here);
    work(here);
    scatter_short(vectors, here);
  }

  /// Takes vectors of n elements through the stages, `part` elements at a time. work(here, first,
  /// result) queues the work on a part, which may leave result_bytes at `result`; then the host
  /// calls retire(result, first), in order, once that is there.
  template <class Work, class Retire>
  void run_parts(std::span<const staged_vector> vectors, std::size_t n, std::size_t part,
                 const Work& work, const Retire& retire) {
    const std::size_t parts = (n + part - 1) / part;
    drain at_end(*this);
    begin_parts(vectors);
    for (std::size_t p = 0; p < parts + count - 1; ++p) {
      if (p < parts) {
        const std::size_t first = p * part;
        staged_operands here;
        bring(vectors, first, std::min(part, n - first), all_[p % count], here);
        work(here, first, all_[p % count].result);
        take_back(vectors, first, here, all_[p % count]);
      }
      if (p + 1 >= count) {
        const std::size_t q = p + 1 - count, first = q * part;
        wait_for(vectors, first, std::min(part, n - first), all_[q % count]);
        retire(all_[q % count].result, first);
      }
    }
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
  };

  /// Waits, when a call ends early, until nothing that it has queued uses stages or vectors.
  struct drain {
    explicit drain(const stages& of) : all(of) {}
    ~drain();
    drain(const drain&) = delete;
    drain& operator=(const drain&) = delete;
    const stages& all;
    bool is_needed = true;
  };

  void allocate();
  void free() noexcept;
  void begin_parts(std::span<const staged_vector> vectors);
  void gather_short(std::span<const staged_vector> vectors, staged_operands& here);
  void scatter_short(std::span<const staged_vector> vectors, const staged_operands& here);
  void bring(std::span<const staged_vector> vectors, std::size_t first, std::size_t n,
             const stage& s, staged_operands& here);
  void take_back(std::span<const staged_vector> vectors, std::size_t first,
                 const staged_operands& here, const stage& s);
  void wait_for(std::span<const staged_vector> vectors, std::size_t first, std::size_t n,
                const stage& s);
  template <class Copy>
  void copy_on_threads(std::span<const staged_vector> vectors, std::size_t n, bool staged_vector::*,
                       const Copy& copy);

  executor on_;
  std::size_t bytes_;
  copy_threads threads_;
  std::array<stage, count> all_{};
  cudaStream_t in_ = nullptr, out_ = nullptr;
  cudaEvent_t before_ = nullptr;  ///< what was queued on the executor's stream before a call
};

}  // namespace tally::backends::cuda
