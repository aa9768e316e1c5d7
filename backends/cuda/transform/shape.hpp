// This header says how the element-wise kernels cut vectors: how many loads of 16 bytes a thread
// has, and how many threads a block has. None of it can change a bit of the result.
#pragma once

#include <tally/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tally::backends::cuda {

/// A block has at most so many loads of 16 bytes. A device starts a block every 0.7 ns, or
/// every 1.3 ns where blocks let the next launch start early (H200): with half as many a copy of
/// 2^20 doubles takes 5.7 us, not 3.1.
inline constexpr unsigned loads_a_block = 256;

/// A case is a function on elements of `size` bytes, or with `every` all functions on elements of
/// at most `size` bytes. The first case that fits is taken.
struct transform_case {
  elementwise what;
  bool every;
  std::size_t size;
  unsigned most_loads;  ///< a thread has so many loads at most, in flight at once: 1, 2 or 4
  /// Where it is 0, arithmetic counts, and the longer vectors are, the more loads a thread has.
  /// Otherwise a thread has several loads only where a vector has 0.9 to so many times as many
  /// loads as the device has places for threads: that is where it is in the L2 cache.
  unsigned most_places = 0;
};

/// The figures are in us: 2^28 elements, 2^20 elements (which are in L2), and in brackets CUB's
/// DeviceTransform in the same run. A copy of 2^28 floats by 16-byte loads takes 504.7.
/// Device: H200. Date: 2026-11-21; of sigmoid and exp 2026-11-23.
inline constexpr transform_case transform_cases[] = {
    // sigmoid of float: 507, 2.6 (516, 3.1).
    {elementwise::sigmoid, false, 4, 4},
    // sigmoid of double: 1023, 4.55 (1043, 4.6). With 2 loads 1100, with 1 load 1320.
    {elementwise::sigmoid, false, 8, 4},
    // exp of double: 1002, 3.3 (1014, 4.05). With 4 loads 1008, with 1 load 1095.
    {elementwise::exp, false, 8, 2},
    // exp of float: 504, 2.05 (504, 2.5).
    {elementwise::exp, false, 4, 2},
    // relu of float16: 253.8, 1.86 (252.7, 2.03). With 1 load 261.9.
    // sigmoid of float16: 255.2 (332). With 1 load 281.6, with 4 loads 256.3.
    {elementwise::copy, true, 2, 2},
    // Two loads pay in the L2 cache: copy of 2^20, 2^21 and 2^22 floats takes 1.78, 2.84 and 5.30
    // (with 1 load 1.85, 2.99 and 5.49), relu 1.85, 2.97 and 5.29 (1.89, 3.05 and 5.50). They take
    // 1 % more from memory: 2^24 floats 33.6 (33.2). Date: 2026-11-24.
    {elementwise::copy, false, 4, 2, 8},
    {elementwise::copy, false, 8, 2, 8},
    {elementwise::relu, false, 4, 2, 8},
    {elementwise::relu, false, 8, 2, 8},
    // copy of float: 504.3, 1.87 (507.1, 2.36). axpy of float: 731, 2.11 (729, 2.83).
    // mul of double: 1461, 3.29 (1459, 3.83). With 2 loads and 256 threads 3 % more.
    {elementwise::copy, true, 16, 1},
};

constexpr const transform_case& case_of(elementwise what, std::size_t size) {
  return *std::ranges::find_if(transform_cases, [&](const transform_case& c) {
    return c.every ? size <= c.size : what == c.what && size == c.size;
  });
}

/// Says how vectors are cut. A thread has `loads` loads, a power of two.
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

/// Cuts vectors of `whole` loads that start alike, for a device that has so many multiprocessors
/// and can have so many threads in each. A thread has no more loads than it takes for all threads
/// to have places at once: in us, with 1 load and with the most, sigmoid of 2^16 doubles takes 1.21
/// (1.66), of 2^18 floats 1.41 (1.72), exp of 2^18 doubles 1.57 (1.88). Where arithmetic counts,
/// blocks are halved while they leave half of the multiprocessors idle: sigmoid of 2^16 floats
/// takes 1.09, else 1.22. Short functions of two vectors have blocks of 128 threads while no
/// multiprocessor has more than four: add of 2^16 doubles takes 1.04, with 256 threads 1.21, of
/// 2^18 floats 1.15 and 1.28, but of 2^18 doubles 1.82 and 1.55.
///
/// The next launch's blocks start early where each multiprocessor has one block, which takes 0.1 us
/// less, or as many as it has places for. With fewer they would take places before it is known
/// which multiprocessor is free first: exp of 2^18 floats takes 1.24 us, 1.44 with an early start.
/// With more it is the slower start of blocks that counts: exp of 2^22 floats takes 5.7 us, 5.95
/// with an early start; and copy of 2^21 floats with two loads a thread 2.84, else 3.08. Device:
/// H200. Date: 2026-11-23; of add and copy 2026-11-24.
constexpr transform_shape shape_of_vectors(std::uint64_t whole, const transform_case& c,
                                           bool is_binary, unsigned multiprocessors,
                                           unsigned threads_each) {
  const std::uint64_t places = std::uint64_t{multiprocessors} * threads_each;
  const bool computes = c.most_loads > 1 && c.most_places == 0;
  transform_shape s{};
  s.loads = 1;
  if (computes) {
    while (s.loads < c.most_loads && whole > s.loads * places) s.loads *= 2;
  } else if (10 * whole > 9 * places && whole <= c.most_places * places) {
    s.loads = c.most_loads;
  }
  s.threads = loads_a_block / s.loads;
  s.blocks = blocks_of(whole, s.loads, s.threads);
  while (computes && s.threads > 64 && 2 * s.blocks <= multiprocessors) {
    s.threads /= 2;
    s.blocks = blocks_of(whole, s.loads, s.threads);
  }
  const std::uint64_t tenths = 10 * s.blocks * s.threads / places;
  s.early =
      s.blocks <= multiprocessors || ((computes || s.loads == 1) && tenths >= 9 && tenths <= 12);
  constexpr unsigned half = loads_a_block / 2;
  if (is_binary && c.most_loads == 1 && blocks_of(whole, 1, half) <= 4 * multiprocessors) {
    s = {1, half, blocks_of(whole, 1, half), true};
  }
  return s;
}

/// Vectors that do not start alike have this shape. In us, for 2^28 elements, with CUB in brackets:
/// copy of float 510 (514), axpy of float 734 (735), relu of double 1030 (1021), mul of double 1468
/// (1460), relu of float16 255 (280). With 1 load mul of double takes 1580. Device: H200. Date:
/// 2026-11-21.
inline constexpr unsigned loads_of_shifted = 2;

constexpr transform_shape shape_of_shifted(std::uint64_t whole) {
  constexpr unsigned threads = loads_a_block / loads_of_shifted;
  return {loads_of_shifted, threads, blocks_of(whole, loads_of_shifted, threads), true};
}

/// All others are taken element by element, one a thread; a thread has several only where a grid
/// could not have as many threads.
constexpr transform_shape shape_of_elements(std::uint64_t n) {
  constexpr unsigned threads = 256;
  return {1, threads, blocks_of(std::min(n, std::uint64_t{1} << 30), 1, threads), true};
}

}  // namespace tally::backends::cuda
