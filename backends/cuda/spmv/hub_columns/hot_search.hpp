// Search for hub columns (hot_columns.hpp).
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis/analysis.hpp"
#include "backends/cuda/spmv/analysis/survey.hpp"

#include <vector>

namespace tally::backends::cuda {

class hot_search {
 public:
  /// Pre: the matrix and the plan live longer.
  hot_search(const csr_operand& a, cut_analysis& to) : a_(a), to_(to), job_(a) {}

  static bool may_find(const current_device& current, const csr_operand& a);

  /// Examines all terms; returns false if memory does not suffice. `matrix` has the checks wanted,
  /// `rows` the results for rows; those for columns go to `found`.
  bool look(const current_device& current, cudaStream_t stream, const csr_survey& matrix,
            const survey_words& rows, survey_words& found);

  /// Examines a sample, and all terms if it has hub columns.
  bool look_at_sample(const current_device& current, cudaStream_t stream, const csr_survey& matrix,
                      const survey_words& rows, survey_words& found);

  /// Plans hub columns if they have enough of the terms.
  void take(const survey_words& found);

  /// Frees the memory of the search. Called once, last.
  void end();

 private:
  void make_room_for_uses(const current_device& current, cudaStream_t stream);
  bool make_room_for_codes(const current_device& current, cudaStream_t stream,
                           const survey_words& rows);
  survey_words run(const current_device& current, cudaStream_t stream,
                   const std::vector<survey_launch>& launches) const;

  const csr_operand& a_;
  cut_analysis& to_;
  csr_survey job_;
};

}  // namespace tally::backends::cuda
