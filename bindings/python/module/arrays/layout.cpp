#include "arrays/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <type_traits>

namespace python {

namespace {

/// An element of any alignment.
template <int item>
struct element {
  std::byte bytes[item];
};

using two = std::uint64_t __attribute__((vector_size(16)));
using four = std::uint32_t __attribute__((vector_size(16)));

template <class V, class T>
V load(const T* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

/// Each vector by itself: arrays of vectors would lie in memory.
template <class T, class V>
void store(T* to, V v) {
  std::memcpy(to, &v, sizeof v);
}

/// A square of adjacent elements per column becomes one of adjacent elements per row.
inline void transpose_square(const element<8>* from, std::int64_t step, element<8>* to,
                             std::int64_t ld) {
  const two a = load<two>(from), b = load<two>(from + step);
  store(to, __builtin_shuffle(a, b, two{0, 2}));
  store(to + ld, __builtin_shuffle(a, b, two{1, 3}));
}
inline void transpose_square(const element<4>* from, std::int64_t step, element<4>* to,
                             std::int64_t ld) {
  const four a = load<four>(from), b = load<four>(from + step), c = load<four>(from + 2 * step),
             d = load<four>(from + 3 * step);
  constexpr four low{0, 4, 1, 5}, high{2, 6, 3, 7};
  const two ab = two(__builtin_shuffle(a, b, low)), cd = two(__builtin_shuffle(c, d, low)),
            ab2 = two(__builtin_shuffle(a, b, high)), cd2 = two(__builtin_shuffle(c, d, high));
  store(to, __builtin_shuffle(ab, cd, two{0, 2}));
  store(to + ld, __builtin_shuffle(ab, cd, two{1, 3}));
  store(to + 2 * ld, __builtin_shuffle(ab2, cd2, two{0, 2}));
  store(to + 3 * ld, __builtin_shuffle(ab2, cd2, two{1, 3}));
}

/// Elements of a side of the square; 1: there is none.
template <class T>
constexpr std::int64_t square = sizeof(T) == 8 || sizeof(T) == 4 ? 16 / sizeof(T) : 1;

/// Rows of `width` elements, from as many columns. The next columns, in lines that no processor
/// foresees, are fetched meanwhile.
template <std::int64_t width, class T>
void copy_columns(const T* from, std::int64_t rows, std::int64_t row_step, std::int64_t column_step,
                  T* to, std::int64_t ld) {
  std::int64_t i = 0;
  if constexpr (square<T> > 1 && width % square<T> == 0) {
    if (row_step == 1) {
      constexpr std::int64_t line = 64 / sizeof(T);
      for (; i + square<T> <= rows; i += square<T>) {
        for (std::int64_t j = 0; i % line == 0 && j < width; ++j) {
          __builtin_prefetch(from + i + (width + j) * column_step);
        }
        for (std::int64_t j = 0; j < width; j += square<T>) {
          transpose_square(from + i + j * column_step, column_step, to + i * ld + j, ld);
        }
      }
    }
  }
  if constexpr (width == 3 && sizeof(T) == 8) {
    for (; row_step == 1 && ld == 3 && i + 2 <= rows; i += 2) {
      const T* const at = from + i;
      for (std::int64_t j = 0; i % 8 == 0 && j < 3; ++j) {  // 2 KiB ahead
        __builtin_prefetch(at + 256 + j * column_step);
      }
      const two a = load<two>(at), b = load<two>(at + column_step),
                c = load<two>(at + 2 * column_step);
      store(to + i * ld, __builtin_shuffle(a, b, two{0, 2}));
      store(to + i * ld + 2, __builtin_shuffle(c, a, two{0, 3}));
      store(to + i * ld + 4, __builtin_shuffle(b, c, two{1, 3}));
    }
  }
  for (; i < rows; ++i) {
    for (std::int64_t j = 0; j < width; ++j) to[i * ld + j] = from[i * row_step + j * column_step];
  }
}

/// rows * columns elements, from any strides to rows of adjacent ones, `ld` apart.
template <class T>
void copy_matrix(const T* from, std::int64_t rows, std::int64_t row_step, std::int64_t columns,
                 std::int64_t column_step, T* to, std::int64_t ld) {
  if (std::abs(row_step) >= std::abs(column_step) || rows == 1) {
    for (std::int64_t i = 0; i < rows; ++i, from += row_step, to += ld) {
      if (column_step == 1) {
        std::copy_n(from, columns, to);
      } else {
        for (std::int64_t j = 0; j < columns; ++j) to[j] = from[j * column_step];
      }
    }
    return;
  }
  constexpr std::int64_t group = 8;  // columns that are read at once: a cache line of doubles
  std::int64_t j = 0;
  for (; j + group <= columns; j += group) {
    copy_columns<group>(from + j * column_step, rows, row_step, column_step, to + j, ld);
  }
  const auto copy_rest = [&]<std::int64_t width>(std::integral_constant<std::int64_t, width>) {
    for (; j + width <= columns; j += width) {
      copy_columns<width>(from + j * column_step, rows, row_step, column_step, to + j, ld);
    }
  };
  if (columns - j == 3) copy_rest(std::integral_constant<std::int64_t, 3>());
  copy_rest(std::integral_constant<std::int64_t, 4>());
  copy_rest(std::integral_constant<std::int64_t, 2>());
  copy_rest(std::integral_constant<std::int64_t, 1>());
}

/// Elements in the dimensions after d.
std::int64_t elements_after(const layout& l, int d) {
  std::int64_t n = 1;
  while (++d < l.ndim) n *= l.size[d];
  return n;
}

/// The dimension before the last one whose elements are nearest to each other.
int nearest(const layout& l, int from) {
  int m = l.ndim - 2;
  for (int d = m; d-- > from;) {
    if (std::abs(l.stride[d]) < std::abs(l.stride[m])) m = d;
  }
  return m;
}

/// The elements of dimensions d and after it, of which d is `count` long: matrices of the last one
/// and the nearest other, so that cache lines are used up.
template <class T>
void copy_box(const T* data, const layout& l, int d, std::int64_t count, T* to) {
  const int last = l.ndim - 1, m = nearest(l, d);
  const auto size = [&](int i) { return i == d ? count : l.size[i]; };
  std::int64_t matrices = 1;
  for (int i = d; i < last; ++i) matrices *= i == m ? 1 : size(i);
  for (std::int64_t k = 0; k < matrices; ++k) {
    std::int64_t from = 0, at = 0, rest = k, below = l.size[last];
    for (int i = last - 1; i >= d; below *= size(i--)) {
      if (i == m) continue;
      from += rest % size(i) * l.stride[i];
      at += rest % size(i) * below;
      rest /= size(i);
    }
    copy_matrix(data + from, size(m), l.stride[m], l.size[last], l.stride[last], to + at,
                elements_after(l, m));
  }
}

/// Elements begin ... end - 1 of dimensions d and after it.
template <class T>
void copy_range(const T* data, const layout& l, int d, std::int64_t begin, std::int64_t end,
                T* to) {
  if (d >= l.ndim - 1) {
    const std::int64_t step = l.ndim == 0 ? 1 : l.stride[d];
    return copy_matrix(data + begin * step, 1, 0, end - begin, step, to, 0);
  }
  const std::int64_t below = elements_after(l, d);
  while (begin < end) {
    const std::int64_t i = begin / below, at = begin % below, whole = (end - begin) / below;
    std::int64_t n = std::min(below - at, end - begin);
    if (at == 0 && whole > 0) {
      n = whole * below;
      copy_box(data + i * l.stride[d], l, d, whole, to);
    } else {
      copy_range(data + i * l.stride[d], l, d + 1, at, at + n, to);
    }
    begin += n;
    to += n;
  }
}

}  // namespace

block_reader::block_reader(const array& a, const char* data, const layout& order)
    : type(a.type), item_(a.item), data_(data), order_(order) {
  const std::int64_t n = order.elements();
  // A cache line has elements of several indices of the nearest dimension, which lie in different
  // blocks where more dimensions follow: blocks are read together, several lines wide, so that few
  // lines are read twice.
  if (order.ndim > 1) {
    constexpr std::int64_t indices = 32, max_blocks = 32;
    const int m = nearest(order, 0);
    const std::int64_t span = indices * elements_after(order, m);
    if (std::abs(order.stride[m]) < std::abs(order.stride[order.ndim - 1])) {
      together_ = std::clamp<std::int64_t>((span + block - 1) / block, 1, max_blocks);
    }
  }
  buffer_.reset(new char[static_cast<std::size_t>(std::min(together_ * block, n) * item_)]);
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
    copy_range(reinterpret_cast<const type*>(data), l, 0, begin, end, reinterpret_cast<type*>(to));
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
