// The column of a workspace: rows that take operands in host memory and run cuda's own rows on
// parts of them. Each workspace is a column of its own, so an executor needs to say no more than
// which.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/staged/stages.hpp"
#include "src/core/table.hpp"

#include <memory>
#include <mutex>
#include <span>

namespace tally::backends::cuda::staged {

dot_row dot;
multi_dot_row multi_dot;
reduce_row reduce;
exact_row exact;
exact_sums_row exact_sums;
round_words_row round_words;
transform_row transform;
fill_row fill;
swap_row swap;
extremum_row extremum;
histogram_row histogram;

/// Memory of the device that only grows.
class grown_memory {
 public:
  /// Returns room for so many bytes, which holds nothing yet.
  void* of(std::size_t bytes);
  ~grown_memory() { free(); }
  grown_memory() = default;
  grown_memory(const grown_memory&) = delete;
  grown_memory& operator=(const grown_memory&) = delete;

 private:
  void free() noexcept;

  int device_ = -1;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// What a workspace has.
struct workspace_memory {
  stages through;
  grown_memory words;           ///< of exact sums
  grown_memory counts;          ///< of histograms, and what is outside
  std::recursive_mutex in_use;  ///< recursive for rows that call others
};

/// One call through a workspace, which has it for itself, with the calls inside it.
class call {
 public:
  /// @throws error invalid_argument if the executor's stream is being captured.
  explicit call(const executor& where);

  stages& through() const { return memory_.through; }
  workspace_memory& memory() const { return memory_; }
  /// The executor of cuda whose rows do the work.
  const executor& on() const { return memory_.through.on(); }
  cudaStream_t stream() const { return on().stream(); }

 private:
  workspace_memory& memory_;
  std::lock_guard<std::recursive_mutex> lock_;
  current_device current_;
  beside_captures mode_;
};

/// Where a result goes: host memory is written by the host, or by a row that waits.
struct result_place {
  explicit result_place(const void* result);
  bool on_host;
};

/// Adds the words of a sum that the device has to those of the caller's, of the sum `to.element`:
/// their normal form, however many parts were added to them.
void add_words(const call& c, const std::int64_t* from, const output& to);

/// Writes a result that the host has made.
void deliver(const call& c, const void* made, std::size_t bytes, void* to);

}  // namespace tally::backends::cuda::staged
