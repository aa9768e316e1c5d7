// A plan that may rely on columns searches a matrix for hot ones (hot_columns.hpp) as this header
// says.
#pragma once

#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis.hpp"
#include "backends/cuda/spmv/survey.hpp"

#include <vector>

namespace tally::backends::cuda {

class hot_search {
 public:
  /// The matrix and the plan outlive it.
  hot_search(const csr_operand& a, cut_analysis& to) : a_(a), to_(to), job_(a) {}

  /// Says whether products may have hot columns.
  static bool may_find(const current_device& current, const csr_operand& a);

  /// Looks at all terms, unless there is too little memory, and says whether it has. `matrix` tells
  /// what else to look at: whether columns are checked. `rows` is what was found of rows; what is
  /// found of columns comes to `found`.
  bool look(const current_device& current, cudaStream_t stream, const csr_survey& matrix,
            const survey_words& rows, survey_words& found);

  /// Looks at a sample first, and at all terms if its columns are hot.
  bool look_at_sample(const current_device& current, cudaStream_t stream, const csr_survey& matrix,
                      const survey_words& rows, survey_words& found);

  /// Takes the hot columns if they have enough of the terms, by what was found of rows and columns.
  void take(const survey_words& found);

  /// Gives back the memory that only the search needs. It is called once, at the end.
  void end();

 private:
  void make_room_for_uses(const current_device& current, cudaStream_t stream);
  bool make_room_for_codes(const current_device& current, cudaStream_t stream,
                           const survey_words& rows);
  survey_words run(const current_device& current, cudaStream_t stream,
                   const std::vector<survey_launch>& launches) const;

  const csr_operand& a_;
  cut_analysis& to_;
  csr_survey job_;  ///< the one with which it looks
};

}  // namespace tally::backends::cuda
