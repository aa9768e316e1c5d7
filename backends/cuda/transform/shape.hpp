// Partition of element-wise kernels: loads per thread, threads per block. It changes no bit.
#pragma once

#include <tally/operations/elementwise.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// Loads per block, at most. Fewer let the start of blocks limit the speed (tuning/transform.md:
/// loads_per_block).
inline constexpr unsigned loads_per_block = 256;

/// A function on elements of `size` bytes or, if `every`, all functions on elements of up to
/// `size`. The first match counts.
struct transform_case {
  elementwise what;
  bool every;
  std::size_t size;
  unsigned max_loads;  ///< per thread, in flight at once, at most: 1, 2 or 4
  /// 0: bound by arithmetic, with more loads the longer the vectors are. Else several loads only
  /// while the loads are 0.9 to `max_places` times the resident threads, that is in L2.
  unsigned max_places = 0;
};

/// Evidence: tuning/transform.md, transform_cases.
inline constexpr transform_case transform_cases[] = {
    {elementwise::sigmoid, false, 4, 4},
    {elementwise::sigmoid, false, 8, 4},
    {elementwise::exp, false, 8, 2},
    {elementwise::exp, false, 4, 2},
    {elementwise::copy, true, 2, 2},
    // Two loads pay in L2; from memory they cost little.
    {elementwise::copy, false, 4, 2, 8},
    {elementwise::copy, false, 8, 2, 8},
    {elementwise::relu, false, 4, 2, 8},
    {elementwise::relu, false, 8, 2, 8},
    {elementwise::copy, true, 16, 1},
};

/// Loads per thread, at most, of short functions of one vector (tuning/transform.md:
/// max_loads_of_short). Others have one.
template <class T>
inline constexpr unsigned max_loads_of_short = sizeof(T) > 2 ? 2 : 1;

constexpr const transform_case& case_of(elementwise what, std::size_t size) {
  return *std::ranges::find_if(transform_cases, [&](const transform_case& c) {
    return c.every ? size <= c.size : what == c.what && size == c.size;
  });
}

/// `loads`, a power of two, are per thread.
struct transform_shape {
  unsigned loads;
  unsigned threads;
  std::uint64_t blocks;
  bool early;  ///< whether blocks let the next launch start before they end
};

constexpr std::uint64_t blocks_of(std::uint64_t whole, unsigned loads, unsigned threads) {
  const std::uint64_t a_block = std::uint64_t{loads} * threads;
  return std::max<std::uint64_t>(1, (whole + a_block - 1) / a_block);
}

/// Cuts vectors of `whole` loads that start alike (evidence: tuning/transform.md,
/// shape_of_vectors):
/// - A thread has no more loads than keep all threads resident.
/// - Where arithmetic counts, blocks are halved while half of the SMs would be idle.
/// - Short functions of two vectors have blocks of 128 threads while no SM has more than four.
/// - The next launch's blocks start early if each SM has one block, or about as many as it has room
///   for. With fewer they would take room before it is known which SM is free first; with more the
///   slower start of blocks counts.
constexpr transform_shape shape_of_vectors(std::uint64_t whole, const transform_case& c,
                                           bool is_binary, unsigned multiprocessors,
                                           unsigned threads_each) {
  const std::uint64_t places = std::uint64_t{multiprocessors} * threads_each;
  const bool computes = c.max_loads > 1 && c.max_places == 0;
  transform_shape s{};
  s.loads = 1;
  if (computes) {
    while (s.loads < c.max_loads && whole > s.loads * places) s.loads *= 2;
  } else if (10 * whole > 9 * places && whole <= c.max_places * places) {
    s.loads = c.max_loads;
  }
  s.threads = loads_per_block / s.loads;
  s.blocks = blocks_of(whole, s.loads, s.threads);
  while (computes && s.threads > 64 && 2 * s.blocks <= multiprocessors) {
    s.threads /= 2;
    s.blocks = blocks_of(whole, s.loads, s.threads);
  }
  const std::uint64_t tenths = 10 * s.blocks * s.threads / places;
  s.early =
      s.blocks <= multiprocessors || ((computes || s.loads == 1) && tenths >= 9 && tenths <= 12);
  constexpr unsigned half = loads_per_block / 2;
  if (is_binary && c.max_loads == 1 && blocks_of(whole, 1, half) <= 4 * multiprocessors) {
    s = {1, half, blocks_of(whole, 1, half), true};
  }
  return s;
}

/// Loads per thread for other contiguous vectors (tuning/transform.md: loads_of_shifted).
inline constexpr unsigned loads_of_shifted = 2;

constexpr transform_shape shape_of_shifted(std::uint64_t whole) {
  constexpr unsigned threads = loads_per_block / loads_of_shifted;
  return {loads_of_shifted, threads, blocks_of(whole, loads_of_shifted, threads), true};
}

/// All other vectors: one element a thread, or more where a grid can't have as many threads.
constexpr transform_shape shape_of_elements(std::uint64_t n) {
  constexpr unsigned threads = 256;
  return {1, threads, blocks_of(std::min(n, std::uint64_t{1} << 30), 1, threads), true};
}

}  // namespace tally::backends::cuda
