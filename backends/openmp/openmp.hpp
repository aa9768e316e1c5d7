// The openmp backend: each thread runs the simd backend's kernels on a part.
#pragma once

#include "backends/simd/simd.hpp"

namespace tally::backends::openmp {

class backend final : public simd::backend {
 public:
  constexpr backend() : simd::backend("openmp", backend_class::openmp) {}

  std::string describe(const executor&) const override;
  executor make() const override { return tally::openmp(); }
  void dot(const executor&, const dot_arguments& a) const;
  void multi_dot(const executor&, const multi_sum& a) const;
  void reduce(const executor&, const reduce_arguments& a) const;
  void weighted(const executor&, const weighted_norm_arguments& a) const;
  void scan(const executor&, const scan_arguments& a) const;
  void exact(const executor&, const exact_arguments& a) const;
  void exact_dot(const executor&, const dot_arguments& a) const;
  void transform(const executor&, const transform_arguments& a, type computation) const;
  void multi_axpy(const executor&, const multi_axpy_arguments& a, type computation,
                  bool alpha_on_host) const;
  void multi_axpy_dot(const executor&, const multi_axpy_arguments& update, type computation,
                      bool alpha_on_host, const multi_sum& sums) const;
  void fused(const executor&, const fused_update& a) const;
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
  std::shared_ptr<const csr_transpose> transpose(const executor&, const csr_operand& matrix,
                                                 bool keeps_values) const;
  csr_defect find_defect(const executor&, const csr_operand& matrix) const;
};

extern const backend instance;

}  // namespace tally::backends::openmp
