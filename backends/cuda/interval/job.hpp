// These structs tell the launches of sums over an interval what to do. Each is the only parameter
// of its kernels.
#pragma once

#include "src/core/types/typed_vector.hpp"

#include <tally/interval_sum.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// One launch sums at most so many vectors, or products of two.
inline constexpr unsigned most_vectors = 64;

/// Is a vector, or two, that some adjacent blocks sum.
struct listed_vector {
  const void* x = nullptr;
  const void* y = nullptr;
  std::int64_t n = 0;
  std::ptrdiff_t x_increment = 1;
  std::ptrdiff_t y_increment = 1;
  unsigned first_word = 0;  ///< in scratch memory, where it has several blocks
};

struct vectors_job {
  unsigned vectors = 1;
  unsigned tiles = 1;           ///< a block takes this many (sum_shape)
  type x_type = type::float64;  ///< only kernels of any vectors read this and y_type
  type y_type = type::float64;
  bool swapped = false;            ///< whether x and y have changed places
  bool scaled_up = false;          ///< which of a norm's scaled sums is the result
  std::uint32_t tag = 0;           ///< as in sum_job
  std::uint64_t* words = nullptr;  ///< scratch memory (scratch.hpp)
  std::uint64_t* ended = nullptr;  ///< each vector counts itself here when it ends, or null
  void* sums = nullptr;            ///< the numbers of each sum; the device can write here
  /// The first block of each vector, and behind them the number of blocks. They lie side by side,
  /// since a block looks for its vector here first, and parameters come through a cache that is
  /// cold then.
  unsigned first_block[most_vectors + 1] = {};
  listed_vector list[most_vectors] = {};
};

/// One launch writes the terms of at most so many fields.
inline constexpr unsigned most_fields = 32;

struct listed_terms {
  typed_vector x;
  typed_vector y;
  int n = 0;
  void* to = nullptr;      ///< the first term of the first number
  std::size_t stride = 0;  ///< numbers from there to the first one of the next number
};

struct terms_job {
  summand what = summand::product;
  unsigned numbers = 1;   ///< a field has this many
  double scale = 1;       ///< what elements are multiplied by before they are squared
  std::uint32_t tag = 0;  ///< as in sum_job
  listed_terms list[most_fields] = {};
};

}  // namespace tally::backends::cuda
