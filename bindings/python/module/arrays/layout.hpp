// The layout of an array: the fewest dimensions that visit its elements in the order of indices.
#pragma once

#include "arrays/array.hpp"

#include <algorithm>
#include <memory>

namespace python {

/// Sizes and strides (in elements) of some dimensions, the last one fastest.
struct layout {
  int ndim = 0;
  std::int64_t size[max_dimensions];
  std::int64_t stride[max_dimensions];

  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int i = 0; i < ndim; ++i) n *= size[i];
    return n;
  }

  /// The next faster dimension, merged with the one before where both are one stride; without
  /// elements there is one dimension.
  void add(std::int64_t n, std::int64_t step) {
    if (n == 1 || (ndim == 1 && size[0] == 0)) return;
    if (n == 0) ndim = 0;
    if (ndim > 0 && stride[ndim - 1] == n * step) {
      size[ndim - 1] *= n;
      stride[ndim - 1] = step;
      return;
    }
    size[ndim] = n;
    stride[ndim++] = step;
  }

  /// Size and stride of the only dimension; of none: one element.
  std::int64_t length() const { return ndim == 0 ? 1 : size[0]; }
  std::int64_t step() const { return length() <= 1 ? 1 : stride[0]; }

  /// Whether elements may share memory: never of slices, transposes and diagonals of what has none
  /// that do. Pre: steps are positive, and the last one is the least.
  bool may_overlap() const {
    std::int64_t reach = 0;  // of the faster dimensions
    for (int d = ndim; d-- > 0; reach += (size[d] - 1) * stride[d]) {
      if (stride[d] <= reach) return elements() > 0;
    }
    return false;
  }

  /// Offset in elements of element i of the slow `count` dimensions.
  std::int64_t offset(std::int64_t i, int count) const {
    std::int64_t at = 0;
    for (int d = count; d-- > 0; i /= size[d]) at += i % size[d] * stride[d];
    return at;
  }
  std::int64_t offset(std::int64_t i) const { return offset(i, ndim); }
};

/// The dimensions `axes` of an array, in this order.
inline layout layout_of(const array& a, const int* axes, int count) {
  layout l;
  for (int i = 0; i < count; ++i) l.add(a.shape[axes[i]], a.stride[axes[i]]);
  return l;
}

/// All dimensions, in C order.
inline layout layout_of(const array& a) {
  layout l;
  for (int i = 0; i < a.ndim; ++i) l.add(a.shape[i], a.stride[i]);
  return l;
}

/// All dimensions in the order of memory, for what does not depend on order. Moves `data` to the
/// lowest address.
layout layout_in_memory(const array& a, const char*& data);

/// Copies elements begin ... end - 1 of a layout, in its order.
void gather(const char* data, const layout& l, int item, std::int64_t begin, std::int64_t end,
            char* to);

/// Elements that are copied at once: a node of the order's tree.
inline constexpr std::int64_t block = 1 << 15;

/// An array's elements in the order of a layout, a block at a time: all have `block` elements, but
/// the last one.
class block_reader {
 public:
  block_reader(const array& a, const char* data, const layout& order);

  std::size_t blocks() const {
    return static_cast<std::size_t>((order_.elements() + block - 1) / block);
  }

  /// Calls `f(i, n, elements)` for each block i until one fails.
  template <class F>
  tally_status for_each(F&& f) const {
    const std::int64_t all = order_.elements(), step = together_ * block;
    for (std::int64_t begin = 0; begin < all; begin += step) {
      const std::int64_t end = std::min(all, begin + step);
      gather(data_, order_, item_, begin, end, buffer_.get());
      for (std::int64_t first = begin; first < end; first += block) {
        const void* const elements = buffer_.get() + (first - begin) * item_;
        const tally_status s = f(static_cast<std::size_t>(first / block),
                                 static_cast<std::size_t>(std::min(block, end - first)), elements);
        if (s != TALLY_SUCCESS) return s;
      }
    }
    return TALLY_SUCCESS;
  }

  const tally_type type;

 private:
  int item_;
  const char* data_;
  layout order_;
  std::int64_t together_ = 1;  // blocks that are read at once
  std::unique_ptr<char[]> buffer_;
};

}  // namespace python
