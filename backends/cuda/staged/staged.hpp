// Backend of a workspace: operations that take operands in host memory and run cuda's on parts of
// them. Each workspace has its own, so an executor only names it.
#pragma once

#include "backends/backend.hpp"

#include <memory>
#include <span>

namespace tally::backends::cuda::staged {

struct workspace_memory;  // backends/cuda/staged/call.hpp

/// Operations that it lacks throw. They are virtual, and the class is not final, so that a static
/// program without a workspace has none of them.
class backend : public backends::backend {
 public:
  backend(const executor& on, const workspace_options& options);
  virtual ~backend();

  std::string describe(const executor&) const override;
  bool reaches(const executor&, const place& memory) const override;
  void* allocate(const executor&, std::size_t bytes, reach who) const override;
  void deallocate(const executor&, void* memory, reach who) const noexcept override;
  void copy_bytes(const executor&, const void* from, void* to, std::size_t bytes) const override;
  void pin(const executor&, void* memory, std::size_t bytes) const override;
  void unpin(const executor&, void* memory) const override;
  virtual std::shared_ptr<const backends::backend> make_staged(
      const executor&, const workspace_options& options) const;
  virtual void dot(const executor&, const dot_arguments& a) const;
  virtual void multi_dot(const executor&, const multi_sum& a) const;
  virtual void reduce(const executor&, const reduce_arguments& a) const;
  virtual void weighted(const executor&, const weighted_norm_arguments& a) const;
  virtual void exact(const executor&, const exact_arguments& a) const;
  virtual void multi_exact(const executor&, std::span<const exact_arguments> all) const;
  virtual void round_words(const executor&, const round_arguments& a) const;
  virtual void transform(const executor&, const transform_arguments& a, type computation) const;
  virtual void multi_axpy(const executor&, const multi_axpy_arguments& a, type computation,
                          bool alpha_on_host) const;
  virtual void multi_axpy_dot(const executor&, const multi_axpy_arguments& update, type computation,
                              bool alpha_on_host, const multi_sum& sums) const;
  virtual void fused(const executor&, const fused_update& a) const;
  virtual void fill(const executor&, const element_bytes& value, const output_operand& z) const;
  virtual void swap(const executor&, const output_operand& x, const output_operand& y) const;
  virtual void extremum(const executor&, const extremum_arguments& a) const;
  virtual out_of_range_key histogram(const executor&, const histogram_arguments& a) const;

  executor make() const override { refuse("workspace"); }
  virtual void sum_interval(const executor&, const interval_arguments&) const {
    refuse("sum_interval");
  }
  virtual void join_nodes(const executor&, const join_arguments&) const { refuse("join_nodes"); }
  virtual void join_words(const executor&, const join_words_arguments&) const {
    refuse("join_words");
  }
  virtual void scan(const executor&, const scan_arguments& a) const {
    refuse(a.exclusive ? "exclusive_scan" : "inclusive_scan");
  }
  virtual void gather(const executor&, const gather_arguments& a) const {
    refuse(a.scatters ? "scatter" : "gather");
  }
  virtual void for_each_part(const executor&, const char* function, std::size_t,
                             const part_calls&) const {
    refuse(function + sizeof "tally::" - 1);
  }
  virtual void spmv(const executor&, const csr_product& a) const;
  virtual std::shared_ptr<const spmv_analysis> analyse(const executor&, const csr_operand&,
                                                       const planned_products&) const {
    refuse("spmv_plan");
  }
  virtual std::shared_ptr<const csr_transpose> transpose(const executor&, const csr_operand&,
                                                         bool) const {
    refuse("spmv");
  }
  virtual csr_defect find_defect(const executor&, const csr_operand&) const { refuse("validate"); }

 private:
  [[noreturn]] static void refuse(const char* function);

  const executor& below() const;

  const std::unique_ptr<workspace_memory> memory_;
};

}  // namespace tally::backends::cuda::staged
