// Backend of a workspace: operations that take operands in host memory and run cuda's on parts of
// them. Each workspace has its own, so an executor only names it.
#pragma once

#include "backends/backend.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/staged/stages.hpp"

#include <memory>
#include <mutex>
#include <span>

namespace tally::backends::cuda::staged {

class grown_memory {
 public:
  /// Returns uninitialised memory, which only grows.
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

struct workspace_memory {
  stages through;
  grown_memory words;           ///< of exact sums
  grown_memory counts;          ///< and of samples outside
  std::recursive_mutex in_use;  ///< recursive for operations that call others
};

/// Operations that it lacks throw.
class backend final : public backends::backend {
 public:
  backend(const executor& on, const workspace_options& options)
      : backends::backend("workspace", false), memory_{{on, options}, {}, {}, {}} {}

  std::string describe(const executor&) const override;
  bool reaches(const executor&, const place& memory) const override;
  void* allocate(const executor&, std::size_t bytes, reach who) const override;
  void deallocate(const executor&, void* memory, reach who) const noexcept override;
  void copy_bytes(const executor&, const void* from, void* to, std::size_t bytes) const override;
  void pin(const executor&, void* memory, std::size_t bytes) const override;
  void unpin(const executor&, void* memory) const override;
  std::shared_ptr<const backends::backend> make_staged(
      const executor&, const workspace_options& options) const override;
  void dot(const executor&, const dot_arguments& a) const override;
  void multi_dot(const executor&, const multi_sum& a) const override;
  void reduce(const executor&, const reduce_arguments& a) const override;
  void weighted(const executor&, const weighted_norm_arguments& a) const override;
  void exact(const executor&, const exact_arguments& a) const override;
  void multi_exact(const executor&, std::span<const exact_arguments> all) const override;
  void round_words(const executor&, const round_arguments& a) const override;
  void transform(const executor&, const transform_arguments& a, type computation) const override;
  void multi_axpy(const executor&, const multi_axpy_arguments& a, type computation,
                  bool alpha_on_host) const override;
  void multi_axpy_dot(const executor&, const multi_axpy_arguments& update, type computation,
                      bool alpha_on_host, const multi_sum& sums) const override;
  void fused(const executor&, const fused_update& a) const override;
  void fill(const executor&, const element_bytes& value, const output_operand& z) const override;
  void swap(const executor&, const output_operand& x, const output_operand& y) const override;
  void extremum(const executor&, const extremum_arguments& a) const override;
  out_of_range_key histogram(const executor&, const histogram_arguments& a) const override;

  executor make() const override { refuse("workspace"); }
  void sum_interval(const executor&, const interval_arguments&) const override {
    refuse("sum_interval");
  }
  void join_nodes(const executor&, const join_arguments&) const override { refuse("join_nodes"); }
  void join_words(const executor&, const join_words_arguments&) const override {
    refuse("join_words");
  }
  void scan(const executor&, const scan_arguments& a) const override {
    refuse(a.exclusive ? "exclusive_scan" : "inclusive_scan");
  }
  void gather(const executor&, const gather_arguments& a) const override {
    refuse(a.scatters ? "scatter" : "gather");
  }
  void for_each_part(const executor&, const char* function, std::size_t,
                     const part_calls&) const override {
    refuse(function + sizeof "tally::" - 1);
  }
  void spmv(const executor&, const csr_product& a) const override;
  std::shared_ptr<const spmv_analysis> analyse(const executor&, const csr_operand&,
                                               const planned_products&) const override {
    refuse("spmv_plan");
  }
  std::shared_ptr<const csr_transpose> transpose(const executor&, const csr_operand&,
                                                 bool) const override {
    refuse("spmv");
  }
  csr_defect find_defect(const executor&, const csr_operand&) const override { refuse("validate"); }

 private:
  [[noreturn]] static void refuse(const char* function);

  const executor& below() const { return memory_.through.on(); }

  mutable workspace_memory memory_;
};

/// A call, with nested ones, which has the workspace for itself.
class call {
 public:
  /// @throws error invalid_argument if the stream is being captured.
  explicit call(workspace_memory& memory);

  stages& through() const { return memory_.through; }
  workspace_memory& memory() const { return memory_; }
  /// The cuda executor that does the work.
  const executor& on() const { return memory_.through.on(); }
  cudaStream_t stream() const { return on().stream(); }

 private:
  workspace_memory& memory_;
  std::lock_guard<std::recursive_mutex> lock_;
  current_device current_;
  beside_captures mode_;
};

/// Results in host memory are written by the host, or by a call that waits.
struct result_place {
  explicit result_place(const void* result);
  bool on_host;
};

/// Adds a sum's limbs on the device, in normal form however many parts were added, to the caller's,
/// of the sum `to.element`.
void add_words(const call& c, const std::int64_t* from, const output& to);

void deliver(const call& c, const void* made, std::size_t bytes, void* to);

}  // namespace tally::backends::cuda::staged
