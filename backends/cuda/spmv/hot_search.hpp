// Search for hub columns (hot_columns.hpp), for a plan that may rely on columns.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis.hpp"
#include "backends/cuda/spmv/survey.hpp"

#include <vector>

namespace tally::backends::cuda {

class hot_search {
 public:
  /// Pre: the matrix and the plan outlive this object.
  hot_search(const csr_operand& a, cut_analysis& to) : a_(a), to_(to), job_(a) {}

  /// Whether products may have hub columns.
  static bool may_find(const current_device& current, const csr_operand& a);

  /// Examines all terms and returns true, or false if memory does not suffice. `matrix` has the
  /// checks of columns wanted, `rows` the results for rows; those for columns go to `found`.
  bool look(const current_device& current, cudaStream_t stream, const csr_survey& matrix,
            const survey_words& rows, survey_words& found);

  /// Examines a sample first, and all terms if it has hub columns.
  bool look_at_sample(const current_device& current, cudaStream_t stream, const csr_survey& matrix,
                      const survey_words& rows, survey_words& found);

  /// Plans hub columns if they have enough of the terms, by the results for rows and columns.
  void take(const survey_words& found);

  /// Frees the memory of the search. Called once, at the end.
  void end();

 private:
  void make_room_for_uses(const current_device& current, cudaStream_t stream);
  bool make_room_for_codes(const current_device& current, cudaStream_t stream,
                           const survey_words& rows);
  survey_words run(const current_device& current, cudaStream_t stream,
                   const std::vector<survey_launch>& launches) const;

  const csr_operand& a_;
  cut_analysis& to_;
  csr_survey job_;  ///< parameter of its launches
};

}  // namespace tally::backends::cuda
