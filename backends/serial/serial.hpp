// The serial backend: plain loops on one thread.
#pragma once

#include "backends/backend.hpp"

namespace tally::backends::serial {

class backend : public backends::backend {
 public:
  constexpr explicit backend(std::string_view called = "serial",
                             backend_class which = backend_class::serial)
      : backends::backend(called, which, true) {}

  std::string describe(const executor&) const override;
  executor make() const override { return tally::serial(); }
  bool reaches(const executor&, const place& memory) const override;
  void* allocate(const executor&, std::size_t bytes, reach who) const override;
  void deallocate(const executor&, void* memory, reach who) const noexcept override;
  void copy_bytes(const executor&, const void* from, void* to, std::size_t bytes) const override;
  void pin(const executor&, void* memory, std::size_t bytes) const override;
  void unpin(const executor&, void* memory) const override;
  std::shared_ptr<const backends::backend> make_staged(const executor&,
                                                       const workspace_options& options) const;
  void dot(const executor&, const dot_arguments& a) const;
  void reduce(const executor&, const reduce_arguments& a) const;
  void weighted(const executor&, const weighted_norm_arguments& a) const;
  void scan(const executor&, const scan_arguments& a) const;
  void sum_interval(const executor&, const interval_arguments& a) const;
  void join_nodes(const executor&, const join_arguments& a) const;
  void exact(const executor&, const exact_arguments& a) const;
  void round_words(const executor&, const round_arguments& a) const;
  void transform(const executor&, const transform_arguments& a, type computation) const;
  void fill(const executor&, const element_bytes& value, const output_operand& z) const;
  void swap(const executor&, const output_operand& x, const output_operand& y) const;
  void gather(const executor&, const gather_arguments& a) const;
  void for_each_part(const executor&, const char* function, std::size_t size,
                     const part_calls& calls) const;
  void extremum(const executor&, const extremum_arguments& a) const;
  out_of_range_key histogram(const executor&, const histogram_arguments& a) const;
  void spmv(const executor&, const csr_product& a) const;
  void spmm(const executor& where, const csr_products& a) const;
  std::shared_ptr<const spmv_analysis> analyse(const executor&, const csr_operand& matrix,
                                               const planned_products& products) const;
  std::shared_ptr<const csr_transpose> transpose(const executor&, const csr_operand& matrix,
                                                 bool keeps_values) const;
  csr_defect find_defect(const executor&, const csr_operand& matrix) const;
};

extern const backend instance;

/// Adds terms one by one.
void add_exact(const exact_arguments& a, exact_sums& to);

}  // namespace tally::backends::serial
