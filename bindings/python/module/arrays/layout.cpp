#include "arrays/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace python {

namespace {

/// An element of any alignment.
template <int item>
struct element {
  std::byte bytes[item];
};

/// rows * columns elements, from any strides to adjacent ones.
template <class T>
void copy_matrix(const T* from, std::int64_t rows, std::int64_t row_step, std::int64_t columns,
                 std::int64_t column_step, T* to) {
  if (std::abs(row_step) >= std::abs(column_step) || rows == 1) {
    for (std::int64_t i = 0; i < rows; ++i, from += row_step, to += columns) {
      if (column_step == 1) {
        std::copy_n(from, columns, to);
      } else {
        for (std::int64_t j = 0; j < columns; ++j) to[j] = from[j * column_step];
      }
    }
    return;
  }
  constexpr std::int64_t tile = 8;  // a cache line of doubles
  for (std::int64_t j = 0; j < columns; j += tile) {
    const std::int64_t width = std::min(tile, columns - j);
    const T* const group = from + j * column_step;
    for (std::int64_t i = 0; i < rows; i += tile) {
      const std::int64_t height = std::min(tile, rows - i);
      const T* const corner = group + i * row_step;
      // No processor foresees the lines of the next columns.
      for (std::int64_t k = 0; k < tile; ++k) {
        __builtin_prefetch(corner + (tile + k) * column_step);
      }
      T* const at = to + i * columns + j;
      if (width == tile && height == tile) {
        for (std::int64_t k = 0; k < tile; ++k) {
          for (std::int64_t l = 0; l < tile; ++l) {
            at[k * columns + l] = corner[k * row_step + l * column_step];
          }
        }
      } else {
        for (std::int64_t l = 0; l < width; ++l) {
          for (std::int64_t k = 0; k < height; ++k) {
            at[k * columns + l] = corner[k * row_step + l * column_step];
          }
        }
      }
    }
  }
}

template <class T>
void gather_elements(const T* data, const layout& l, std::int64_t begin, std::int64_t end, T* to) {
  const int last = l.ndim - 1;
  const std::int64_t columns = l.length() == 0 ? 0 : last < 0 ? 1 : l.size[last];
  const std::int64_t column_step = last < 0 ? 1 : l.stride[last];
  const std::int64_t rows_together = last < 1 ? 1 : l.size[last - 1];
  while (begin < end) {
    const std::int64_t row = begin / columns, column = begin % columns;
    const T* const from = data + l.offset(row, std::max(last, 0)) + column * column_step;
    std::int64_t rows = 1, n = std::min(columns - column, end - begin);
    if (column == 0 && n == columns) {
      rows = std::min((end - begin) / columns, rows_together - row % rows_together);
    }
    copy_matrix(from, rows, last < 1 ? 0 : l.stride[last - 1], n, column_step, to);
    to += rows * n;
    begin += rows * n;
  }
}

}  // namespace

block_reader::block_reader(const array& a, const char* data, const layout& order)
    : type(a.type), item_(a.item), data_(data), order_(order) {
  constexpr std::int64_t few = 1 << 13;
  const int last = order.ndim - 1;
  const bool is_transposed =
      last > 0 && std::abs(order.stride[last]) > std::abs(order.stride[last - 1]);
  const std::int64_t n = order.elements();
  size_ = is_transposed && order.size[last] > few ? few : block;
  visited_.resize(static_cast<std::size_t>((n + size_ - 1) / size_));
  std::iota(visited_.begin(), visited_.end(), std::int64_t{0});
  if (size_ ==
      few) {  // neighbours in memory lie in different rows: those of the same columns follow
    std::ranges::sort(visited_, {}, [&](std::int64_t i) { return i * size_ % order.size[last]; });
  }
  buffer_.reset(new char[static_cast<std::size_t>(std::min(size_, n) * item_)]);
}

layout layout_in_memory(const array& a, const char*& data) {
  int axes[max_dimensions];
  std::iota(axes, axes + a.ndim, 0);
  std::stable_sort(axes, axes + a.ndim,
                   [&](int i, int j) { return std::abs(a.stride[i]) > std::abs(a.stride[j]); });
  layout l;
  for (int i = 0; i < a.ndim; ++i) {
    const std::int64_t n = a.shape[axes[i]], step = a.stride[axes[i]];
    if (step < 0 && n > 0) data += (n - 1) * step * a.item;
    l.add(n, std::abs(step));
  }
  return l;
}

void gather(const char* data, const layout& l, int item, std::int64_t begin, std::int64_t end,
            char* to) {
  const auto as = [&]<int size>(element<size>) {
    using type = element<size>;
    gather_elements(reinterpret_cast<const type*>(data), l, begin, end,
                    reinterpret_cast<type*>(to));
  };
  switch (item) {
    case 1:
      return as(element<1>());
    case 2:
      return as(element<2>());
    case 4:
      return as(element<4>());
    case 8:
      return as(element<8>());
    default:
      return as(element<16>());
  }
}

}  // namespace python
