// Parameter of the kernels of multi_axpy.
#pragma once

#include "backends/common/elementwise/elementwise.hpp"
#include "backends/common/types/typed_vector.hpp"

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Vectors per launch, at most: the parameters' room.
inline constexpr int vectors_per_launch = 32;

/// Threads per block. Not measured.
inline constexpr unsigned threads_of_update = 256;

struct multi_axpy_job {
  typed_vector y;
  typed_vector x;               ///< type of all vectors
  typed_vector alpha;           ///< factors in memory of the device; null data: `factors`
  std::int64_t n = 0;           ///< elements
  std::int64_t head = 0;        ///< elements before the first load
  std::int64_t whole = 0;       ///< loads
  int vectors = 0;              ///< at most `vectors_per_launch`
  bool reads_y = true;          ///< whether beta times y is added
  bool keeps_computed = false;  ///< whether y's type is the computation's

  static constexpr std::size_t factor_bytes = sizeof(factor_of<complex_number<double>>::type);
  const void* data[vectors_per_launch];
  std::ptrdiff_t increment[vectors_per_launch];  ///< as of a `typed_vector`
  // Factors, in the type of the computation.
  alignas(16) unsigned char beta[factor_bytes] = {};
  alignas(16) unsigned char factors[vectors_per_launch * factor_bytes] = {};
};

}  // namespace tally::backends::cuda
