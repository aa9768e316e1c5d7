// Search for hub columns (hub_columns.hpp).
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis/analysis_launch.hpp"
#include "backends/cuda/spmv/analysis/plan.hpp"

#include <vector>

namespace tally::backends::cuda {

class hub_search {
 public:
  /// Pre: the matrix and the plan live longer.
  hub_search(const csr_operand& a, cuda_plan& to) : a_(a), to_(to), job_(a) {}

  static bool may_find(const current_device& current, const csr_operand& a);

  /// Examines all terms; returns false if memory does not suffice. `matrix` has the checks wanted,
  /// `rows` the results for rows; those for columns go to `found`.
  bool look(const current_device& current, cudaStream_t stream, const analysis_job& matrix,
            const analysis_results& rows, analysis_results& found);

  /// Examines a sample, and all terms if it has hub columns.
  bool examine_sample(const current_device& current, cudaStream_t stream,
                      const analysis_job& matrix, const analysis_results& rows,
                      analysis_results& found);

  /// Plans hub columns if they have enough of the terms.
  void take(const analysis_results& found);

  /// Frees the memory of the search. Called once, last.
  void end();

 private:
  void allocate_counters(const current_device& current, cudaStream_t stream);
  bool allocate_codes(const current_device& current, cudaStream_t stream,
                      const analysis_results& rows);
  analysis_results run(const current_device& current, cudaStream_t stream,
                       const std::vector<analysis_launch>& launches) const;

  const csr_operand& a_;
  cuda_plan& to_;
  analysis_job job_;
};

}  // namespace tally::backends::cuda
