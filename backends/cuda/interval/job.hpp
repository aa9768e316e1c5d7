#pragma once

#include "backends/common/types/typed_vector.hpp"

#include <tally/distributed/interval_sum.hpp>
#include <tally/operands/types.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Vectors, or products, per launch, at most.
inline constexpr unsigned max_vectors = 64;

struct listed_vector {
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  std::ptrdiff_t x_increment = 1;
  std::ptrdiff_t y_increment = 1;
  unsigned first_word = 0;  ///< in scratch memory, if several blocks
};

struct vectors_job {
  unsigned vectors = 1;
  unsigned tiles = 1;           ///< per block (sum_shape)
  type x_type = type::float64;  ///< this and y_type are for kernels of any vectors
  type y_type = type::float64;
  bool swapped = false;            ///< whether x and y are exchanged
  std::uint32_t tag = 0;           ///< as in sum_job
  std::uint64_t* words = nullptr;  ///< scratch memory (scratch.hpp)
  std::uint64_t* ended = nullptr;  ///< counter of ended vectors, or null
  void* sums = nullptr;            ///< a node_sum each; device-accessible
  /// The first block of each vector, then the number of blocks. Contiguous: a block first finds its
  /// vector here, while the parameters' cache is cold.
  unsigned first_block[max_vectors + 1] = {};
  listed_vector list[max_vectors] = {};
};

/// Fields per launch, at most.
inline constexpr unsigned max_fields = 32;

struct listed_terms {
  typed_vector x;
  typed_vector y;
  int n = 0;
  void* to = nullptr;      ///< first term of the first number
  std::size_t stride = 0;  ///< from there to the next number's, in numbers
};

struct terms_job {
  summand what = summand::product;
  unsigned numbers = 1;   ///< per field
  std::uint32_t tag = 0;  ///< as in sum_job
  listed_terms list[max_fields] = {};
};

}  // namespace tally::backends::cuda
