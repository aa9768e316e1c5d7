// The CUDA backend: each operation as kernels on an NVIDIA GPU. For the rest of CUDA:
// runtime/device.hpp.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/sparse/assembly.hpp"

#include <tally/sparse/row_functions.hpp>

namespace tally::backends::cuda {

class backend final : public backends::backend {
 public:
  constexpr backend() : backends::backend("cuda", backend_class::cuda, false) {}

  std::string describe(const executor&) const override;
  executor make() const override { return tally::cuda(); }
  bool reaches(const executor&, const place& memory) const override;
  void* allocate(const executor&, std::size_t bytes, reach who) const override;
  void deallocate(const executor&, void* memory, reach who) const noexcept override;
  void copy_bytes(const executor&, const void* from, void* to, std::size_t bytes) const override;
  void pin(const executor&, void* memory, std::size_t bytes) const override;
  void unpin(const executor&, void* memory) const override;
  std::shared_ptr<const backends::backend> make_staged(const executor&,
                                                       const workspace_options& options) const;
  void dot(const executor&, const dot_arguments& a) const;
  void multi_dot(const executor&, const multi_sum& a) const;
  void reduce(const executor&, const reduce_arguments& a) const;
  void weighted(const executor&, const weighted_norm_arguments& a) const;
  void scan(const executor&, const scan_arguments& a) const;
  void sum_interval(const executor&, const interval_arguments& a) const;
  void join_nodes(const executor&, const join_arguments& a) const;
  void join_words(const executor&, const join_words_arguments& a) const;
  void exact(const executor&, const exact_arguments& a) const;
  void multi_exact(const executor&, std::span<const exact_arguments> all) const;
  void round_words(const executor&, const round_arguments& a) const;
  void transform(const executor&, const transform_arguments& a, type computation) const;
  void multi_axpy_dot(const executor&, const multi_axpy_arguments& update, type computation,
                      bool alpha_on_host, const multi_sum& sums) const;
  void fused(const executor&, const fused_update& a) const;
  void multi_axpy(const executor&, const multi_axpy_arguments& a, type computation,
                  bool alpha_on_host) const;
  void fill(const executor&, const element_bytes& value, const output_operand& z) const;
  void swap(const executor&, const output_operand& x, const output_operand& y) const;
  void gather(const executor&, const gather_arguments& a) const;
  void for_each_part(const executor&, const char* function, std::size_t size,
                     const part_calls& calls) const;
  void extremum(const executor&, const extremum_arguments& a) const;
  out_of_range_key histogram(const executor&, const histogram_arguments& a) const;
  void spmv(const executor&, const csr_product& a) const;
  void spmm(const executor&, const csr_products& a) const;
  std::shared_ptr<const spmv_analysis> analyse(const executor&, const csr_operand& matrix,
                                               const planned_products& products) const;
  bool analyse_checks() const override { return true; }
  std::shared_ptr<const csr_transpose> transpose(const executor&, const csr_operand& matrix,
                                                 bool keeps_values) const;
  csr_defect find_defect(const executor&, const csr_operand& matrix) const;
};

extern const backend instance;

/// csr_from_coo. Waits. Pre: sizes and types agree, and all is accessible.
assembled assemble(const executor& where, const coo_arguments& a);

/// diagonal, the largest magnitudes, scale_rows. Pre: as checked, something to write.
void apply_to_rows(const executor& where, const row_function_arguments& a, bool in_double);

/// Throws if the stream is being captured, for an operation that waits.
void refuse_capture(const executor& where, const char* operation);

/// See tally::launch_sum.
void launch_sum(const executor& where, void* result, std::size_t bytes, bool wait,
                std::size_t words, void* context,
                int (*launch)(void* context, const device_sum& lent));

/// See tally::launch_map.
void launch_map(const executor& where, void* context,
                int (*launch)(void* context, CUstream_st* stream));

}  // namespace tally::backends::cuda
