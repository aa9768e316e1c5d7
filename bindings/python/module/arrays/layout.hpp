// The layout of an array: the fewest dimensions that visit its elements in the order of indices.
#pragma once

#include "arrays/array.hpp"

#include <algorithm>
#include <memory>
#include <vector>

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

  /// The next faster dimension, merged with the one before where both are one stride.
  void add(std::int64_t n, std::int64_t step) {
    if (n == 1) return;
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

/// An array's elements in the order of a layout, a block at a time. Blocks have one size, a power
/// of two of chunks, except the last.
class block_reader {
 public:
  block_reader(const array& a, const char* data, const layout& order);

  std::size_t blocks() const { return visited_.size(); }

  /// Calls `f(i, n, elements)` once for each block i, in any order, until one fails.
  template <class F>
  tally_status for_each(F&& f) const {
    const std::int64_t all = order_.elements();
    for (const std::int64_t i : visited_) {
      const std::int64_t begin = i * size_, end = std::min(all, begin + size_);
      gather(data_, order_, item_, begin, end, buffer_.get());
      const tally_status s = f(static_cast<std::size_t>(i), static_cast<std::size_t>(end - begin),
                               static_cast<const void*>(buffer_.get()));
      if (s != TALLY_SUCCESS) return s;
    }
    return TALLY_SUCCESS;
  }

  const tally_type type;

 private:
  int item_;
  const char* data_;
  layout order_;
  std::int64_t size_;
  std::vector<std::int64_t> visited_;
  std::unique_ptr<char[]> buffer_;
};

}  // namespace python
