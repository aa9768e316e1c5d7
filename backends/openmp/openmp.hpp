// The openmp backend: each thread runs the simd backend's kernels on a part.
#pragma once

#include "backends/simd/simd.hpp"

namespace tally::backends::openmp {

class backend final : public simd::backend {
 public:
  constexpr backend() : simd::backend("openmp") {}

  std::string describe(const executor&) const override;
  executor make() const override { return tally::openmp(); }
  void dot(const executor&, const dot_arguments& a) const override;
  void multi_dot(const executor&, const multi_sum& a) const override;
  void reduce(const executor&, const reduce_arguments& a) const override;
  void weighted(const executor&, const weighted_norm_arguments& a) const override;
  void scan(const executor&, const scan_arguments& a) const override;
  void exact(const executor&, const exact_arguments& a) const override;
  void transform(const executor&, const transform_arguments& a, type computation) const override;
  void multi_axpy(const executor&, const multi_axpy_arguments& a, type computation,
                  bool alpha_on_host) const override;
  void multi_axpy_dot(const executor&, const multi_axpy_arguments& update, type computation,
                      bool alpha_on_host, const multi_sum& sums) const override;
  void fused(const executor&, const fused_update& a) const override;
  void fill(const executor&, const element_bytes& value, const output_operand& z) const override;
  void swap(const executor&, const output_operand& x, const output_operand& y) const override;
  void gather(const executor&, const gather_arguments& a) const override;
  void for_each_part(const executor&, const char* function, std::size_t size,
                     const part_calls& calls) const override;
  void extremum(const executor&, const extremum_arguments& a) const override;
  out_of_range_key histogram(const executor&, const histogram_arguments& a) const override;
  void spmv(const executor&, const csr_product& a) const override;
  void spmm(const executor&, const csr_products& a) const override;
  std::shared_ptr<const spmv_analysis> analyse(const executor&, const csr_operand& matrix,
                                               const planned_products& products) const override;
  csr_defect find_defect(const executor&, const csr_operand& matrix) const override;
};

extern const backend instance;

}  // namespace tally::backends::openmp
