// The kokkos backend: Kokkos's default execution space. It checks the others, with no kernel in
// common, and finds most types at run time.
#pragma once

#include "backends/backend.hpp"

#include <tally/sparse/row_functions.hpp>
#include <tally/user_functions/functions.hpp>

namespace tally::backends::kokkos {

class backend final : public backends::backend {
 public:
  constexpr explicit backend(bool is_host)
      : backends::backend("kokkos", backend_class::kokkos, is_host) {}

  std::string describe(const executor&) const override;
  executor make() const override { return tally::kokkos(); }
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
  void exact(const executor&, const exact_arguments& a) const;
  void round_words(const executor&, const round_arguments& a) const;
  void transform(const executor&, const transform_arguments& a, type computation) const;
  void multi_axpy_dot(const executor&, const multi_axpy_arguments& update, type computation,
                      bool alpha_on_host, const multi_sum& sums) const;
  void fill(const executor&, const element_bytes& value, const output_operand& z) const;
  void swap(const executor&, const output_operand& x, const output_operand& y) const;
  void gather(const executor&, const gather_arguments& a) const;
  void for_each_part(const executor&, const char* function, std::size_t size,
                     const part_calls& calls) const;
  void extremum(const executor&, const extremum_arguments& a) const;
  out_of_range_key histogram(const executor&, const histogram_arguments& a) const;
  void spmv(const executor&, const csr_product& a) const;
  std::shared_ptr<const spmv_analysis> analyse(const executor&, const csr_operand& matrix,
                                               const planned_products& products) const;
  std::shared_ptr<const csr_transpose> transpose(const executor&, const csr_operand& matrix,
                                                 bool keeps_values) const;
  csr_defect find_defect(const executor&, const csr_operand& matrix) const;
};

extern const backend instance;

/// Initialises Kokkos if it is not, to be finalised at exit. @throws error no_device if Kokkos is
/// finalised, or its device is absent.
void initialize();

bool is_running() noexcept;

/// Name of Kokkos's default execution space: "OpenMP".
const char* space_name();

/// Whether a pointer may be a device's: Kokkos runs on one, and is initialised.
inline bool in_use() noexcept { return !instance.is_on_host && is_running(); }

/// Returns who can reach `pointer`: the host, if the device's runtime does not know it. Pre:
/// `in_use`.
place locate(const void* pointer) noexcept;

/// See tally::run_on_kokkos.
void lend(const executor& where, void* result, std::size_t bytes, bool wait, std::size_t memory,
          void* context, void (*queue)(void* context, const kokkos_queue& lent));

/// Computes in double or float, on a device; of norms only the largest of magnitudes.
void apply_to_rows(const executor& where, const row_function_arguments& a, bool in_double);

}  // namespace tally::backends::kokkos
