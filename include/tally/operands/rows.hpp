// Several vectors: rows of a block of memory, in any layout.
#pragma once

#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally {

/// Rows, types erased, in blocks: row r of block o, which is row o*rows_per_block + r of all,
/// starts `r*leading_dimension + o*block_stride` elements after row 0.
struct operand_rows {
  operand first;                         ///< row 0
  std::size_t rows = 0;                  ///< number of rows, of all blocks together
  std::ptrdiff_t leading_dimension = 0;  ///< 0: all rows of a block are the same vector
  std::size_t rows_per_block = 0;        ///< 0: one block
  std::ptrdiff_t block_stride = 0;       ///< elements between blocks

  /// Whether all rows are at one distance.
  bool is_one_block() const noexcept { return rows_per_block == 0 || rows_per_block >= rows; }
  /// Row j.
  operand operator[](std::size_t j) const noexcept {
    const std::size_t block = rows_per_block == 0 ? 0 : j / rows_per_block;
    const auto elements =
        static_cast<std::ptrdiff_t>(j - block * rows_per_block) * leading_dimension +
        static_cast<std::ptrdiff_t>(block) * block_stride;
    const auto bytes = elements * static_cast<std::ptrdiff_t>(size_of(first.element));
    return {static_cast<const char*>(first.data) + bytes, first.size, first.increment,
            first.element};
  }
};

/// Rows that are written, in one block, otherwise like `operand_rows`.
struct output_rows {
  output_operand first;                  ///< row 0
  std::size_t rows = 0;                  ///< number of rows
  std::ptrdiff_t leading_dimension = 0;  ///< elements between rows

  /// The same rows, to be read.
  operator operand_rows() const noexcept { return {first, rows, leading_dimension}; }
};

/// Rows of a block, of a const type if they are only read. Made by `tally::rows`.
template <class T>
  requires element<std::remove_const_t<T>>
struct row_block {
  T* pointer = nullptr;                  ///< element 0 of row 0
  std::size_t rows = 0;                  ///< number of vectors
  std::size_t columns = 0;               ///< elements per vector
  std::ptrdiff_t leading_dimension = 0;  ///< elements between rows
  std::ptrdiff_t increment = 1;          ///< elements between neighbours in a row
  std::size_t blocks = 1;                ///< blocks of such rows, for arrays of three dimensions
  std::ptrdiff_t block_stride = 0;       ///< elements between blocks
};

/// Element i of row j is `pointer[j*leading_dimension + i*increment]`. Rows may overlap, or
/// coincide (leading dimension 0). With a leading dimension of 1 they are the columns of a
/// row-major matrix.
template <class T>
  requires element<std::remove_const_t<T>>
constexpr row_block<T> rows(T* pointer, std::size_t rows, std::size_t columns,
                            std::ptrdiff_t leading_dimension,
                            std::ptrdiff_t increment = 1) noexcept {
  return {pointer, rows, columns, leading_dimension, increment};
}

/// Blocks of such rows: row r of block o is vector o*rows + r of `blocks*rows`, and starts at
/// `pointer[o*block_stride + r*leading_dimension]`. The sums along the middle axis of an array
/// a[blocks][columns][rows] are those of `rows(a, rows, columns, 1, rows, blocks, columns*rows)`.
template <class T>
  requires element<std::remove_const_t<T>>
constexpr row_block<T> rows(T* pointer, std::size_t rows, std::size_t columns,
                            std::ptrdiff_t leading_dimension, std::ptrdiff_t increment,
                            std::size_t blocks, std::ptrdiff_t block_stride) noexcept {
  return {pointer, rows, columns, leading_dimension, increment, blocks, block_stride};
}

/// Rows without gaps.
template <class T>
  requires element<std::remove_const_t<T>>
constexpr row_block<T> rows(T* pointer, std::size_t rows, std::size_t columns) noexcept {
  return {pointer, rows, columns, static_cast<std::ptrdiff_t>(columns)};
}

namespace detail {

template <class B>
struct row_element {};
template <class T>
struct row_element<row_block<T>> {
  using type = std::remove_const_t<T>;
};
template <class B>
  requires matrix_view<B> || blocks_view<B>
struct row_element<B> {
  using type = std::remove_cv_t<typename B::value_type>;
};

}  // namespace detail

/// Rows of a block: a `tally::rows`, or a `Kokkos::View` or `std::mdspan` of any layout and an
/// element type, of rank 2 with elements (j, i) in row j, or of rank 3 with elements (o, r, i) in
/// row r of block o.
template <class B>
concept rows_operand = requires { typename detail::row_element<std::remove_cvref_t<B>>::type; } &&
                       element<typename detail::row_element<std::remove_cvref_t<B>>::type>;

/// Rows of one block with writable elements.
template <class B>
concept rows_output =
    rows_operand<B> && !detail::blocks_view<std::remove_cvref_t<B>> && requires(B& b) {
      { detail::address(b) } -> std::convertible_to<void*>;
    };

namespace detail {

template <rows_operand B>
using row_t = element_of_t<typename row_element<std::remove_cvref_t<B>>::type>;

/// Rows in blocks; more than there are addresses are SIZE_MAX, for the library to report.
constexpr operand_rows in_blocks(operand_rows block, std::size_t blocks,
                                 std::ptrdiff_t stride) noexcept {
  block.rows_per_block = block.rows;
  block.block_stride = stride;
  if (blocks != 0 && block.rows > SIZE_MAX / blocks) {
    block.rows = SIZE_MAX;
  } else {
    block.rows *= blocks;
  }
  return block;
}

template <rows_operand B>
operand_rows as_rows(const B& b) noexcept {
  constexpr type element = type_of<row_t<B>>;
  if constexpr (!matrix_view<B> && !blocks_view<B>) {
    const operand_rows block{
        {b.pointer, b.columns, b.increment, element}, b.rows, b.leading_dimension};
    return b.blocks == 1 ? block : in_blocks(block, b.blocks, b.block_stride);
  } else {
    constexpr int row = blocks_view<B> ? 1 : 0;
    const auto extent = [&](int i) { return static_cast<std::size_t>(b.extent(i)); };
    const auto stride = [&](int i) { return static_cast<std::ptrdiff_t>(b.stride(i)); };
    const operand_rows block{
        {address(b), extent(row + 1), stride(row + 1), element}, extent(row), stride(row)};
    return row == 0 ? block : in_blocks(block, extent(0), stride(0));
  }
}

template <rows_output B>
output_rows as_output_rows(B& b) noexcept {
  const operand_rows all = as_rows(b);
  const operand& row = all.first;
  return {{const_cast<void*>(row.data), row.size, row.increment, row.element},
          all.rows,
          all.leading_dimension};
}

}  // namespace detail

}  // namespace tally
