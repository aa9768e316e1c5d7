// This header says how many loads of 16 bytes a thread of the element-wise kernels has, and how
// many threads a block has. None of it can change a bit of the result.
#pragma once

#include <tally/transform.hpp>

#include <cstddef>

namespace tally::backends::cuda {

/// A thread has so many loads of 16 bytes, and a block so many threads.
struct transform_shape {
  unsigned loads;
  unsigned threads;
};

/// A case is a function on elements of `size` bytes, or with `every` all functions on elements of
/// at most `size` bytes. The first case that fits is taken.
struct transform_case {
  elementwise what;
  bool every;
  std::size_t size;
  transform_shape shape;
};

/// The figures are in us: 2^28 elements, 2^20 elements (which are in L2), and in brackets CUB's
/// DeviceTransform in the same run. A copy of 2^28 floats by 16-byte loads takes 504.7.
/// Device: H200. Date: 2026-11-21; of sigmoid and exp 2026-11-23, CUB's 2026-11-21.
inline constexpr transform_case transform_cases[] = {
    // sigmoid of float: 505, 3.06 (521, 3.05).
    {elementwise::sigmoid, false, 4, {4, 64}},
    // sigmoid of double: 1023, 4.9 (1027, 4.36). {2, 128}: 1069, 5.3. {1, 256}: 1320, 5.4.
    {elementwise::sigmoid, false, 8, {4, 64}},
    // exp of double: 1002, 3.3 (1014, 4.05). {4, 64}: 1008, 4.4. {1, 256}: 1095, 3.8.
    {elementwise::exp, false, 8, {2, 128}},
    // exp of float: 504, 2.8.
    {elementwise::exp, false, 4, {2, 128}},
    // relu of float16: 253.8, 1.86 (252.7, 2.03). {1, 256}: 261.9.
    // sigmoid of float16: 255.2 (332). {1, 256}: 281.6, {4, 64}: 256.3.
    {elementwise::copy, true, 2, {2, 128}},
    // copy of float: 504.3, 1.87 (507.1, 2.36). axpy of float: 731, 2.11 (729, 2.83).
    // mul of double: 1461, 3.29 (1459, 3.83). {2, 256}: 3 % more.
    {elementwise::copy, true, 16, {1, 256}},
};

/// Vectors that do not start alike have this shape. In us, for 2^28 elements, with CUB in brackets:
/// copy of float 510 (514), axpy of float 734 (735), relu of double 1030 (1021), mul of double 1468
/// (1460), relu of float16 255 (280). With 1 load mul of double takes 1580. Device: H200. Date:
/// 2026-11-21.
inline constexpr transform_shape shape_for_shifted = {2, 128};

constexpr transform_shape shape_for(elementwise what, std::size_t size) {
  for (const transform_case& c : transform_cases) {
    if (c.every ? size <= c.size : what == c.what && size == c.size) return c.shape;
  }
  return {1, 256};
}

}  // namespace tally::backends::cuda
