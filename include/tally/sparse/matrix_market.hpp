// Sparse matrices and vectors from Matrix Market files.
//
// Input: `%%MatrixMarket matrix coordinate FIELD SYMMETRY`, FIELD real (or double), integer,
// unsigned-integer, pattern or complex, SYMMETRY general, symmetric, skew-symmetric or hermitian,
// in either case; plain or gzip (trailing zeros allowed). LF or CRLF; blank lines and % lines are
// skipped anywhere. Numbers are locale-independent, with Fortran's 1.5D+02, not 1.5+02, which other
// readers split.
//
// Output:
//
//   - Rows in column order. Duplicates are added in file order. Explicit zeros stay.
//   - Both halves of a symmetric, skew-symmetric or Hermitian matrix.
//   - 1 for a pattern's entry.
//   - Values rounded once from decimal, to nearest, too small ones to zero or a subnormal. "inf"
//     and "nan" are numbers.
//
// Strict: anything outside the format is an error, also an entry above the diagonal of a
// non-general matrix, a diagonal entry of a skew-symmetric one, an imaginary part on a Hermitian
// diagonal, a fraction or minus where the field has none, and overflow.
//
// Dense files, `matrix array FIELD general`, hold vectors by column, a value per line.
//
// Any bytes are safe to read, at a cost bounded by `matrix_market_options`; announced sizes are not
// trusted. Memory is proportional to the entries read and the longest line, plus 8 MiB for row
// offsets (more rows: `max_empty_rows`). With int32 indices and doubles a general entry takes at
// most 28 bytes, 12 of which stay; a symmetric one 40 and 24.
#pragma once

#include <tally/export.h>
#include <tally/operands/types.hpp>
#include <tally/operands/vector_reference.hpp>
#include <tally/sparse/csr_matrix.hpp>

#include <concepts>
#include <cstdint>
#include <istream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

/// Types of values: float, double and their complex types.
template <class T>
concept matrix_market_value = std::floating_point<real_t<T>> && element<T>;

/// Types of row offsets and column indices.
template <class Index>
concept matrix_market_index =
    std::same_as<Index, std::int32_t> || std::same_as<Index, std::int64_t>;

/// Limits; a file beyond one is unreadable_file. The defaults suit collections; lower them for
/// untrusted files.
struct matrix_market_options {
  /// Entries per process, both halves of a symmetric matrix: memory.
  std::size_t max_entries = (std::size_t{1} << 31) - 1;
  /// Bytes of the file, also decompressed: time.
  std::uint64_t max_bytes = std::uint64_t{1} << 38;
  /// Bytes of a line without its end, at most 2^30: memory.
  std::size_t max_line = 65536;
  /// Bytes of comments and blank lines per process, or of zeros after gzip.
  std::size_t max_skipped = std::size_t{1} << 24;
  /// Average expansion by gzip, checked from 64 MiB on (collections: at most 30).
  std::size_t max_ratio = 200;
  /// Rows above 64 per entry, as in hypersparse matrices: memory of row offsets, 4 or 8 bytes a
  /// row. Irrelevant in parts.
  std::size_t max_empty_rows = std::size_t{1} << 20;
};

/// Vectors, as columns.
template <matrix_market_value Value>
struct dense_matrix {
  std::size_t rows = 0;       ///< elements per vector
  std::size_t columns = 0;    ///< vectors
  std::vector<Value> values;  ///< by column

  /// Vector j.
  std::span<const Value> column(std::size_t j) const {
    return std::span(values).subspan(j * rows, rows);
  }
};

/// Sizes from a file's header.
struct matrix_market_sizes {
  std::size_t rows = 0;     ///< height
  std::size_t columns = 0;  ///< width
  std::size_t entries = 0;  ///< lines with an entry: for a symmetric matrix one half
};

/// One process's part of a file.
template <matrix_market_value Value>
struct matrix_market_part {
  matrix_market_sizes sizes;                 ///< of the whole matrix
  std::size_t lines = 0;                     ///< lines with an entry in this part
  std::vector<matrix_entry<Value>> entries;  ///< both halves of a symmetric matrix, in file order
};

namespace matrix_market {

template <class Value, class Offset, class Column>
struct csr_arrays {
  vector_reference<Offset> row_offsets;
  vector_reference<Column> column_indices;
  vector_reference<Value> values;
};

/// Opens a file.
/// @throws error unreadable_file, beginning with `function`.
TALLY_EXPORT std::unique_ptr<std::istream> opened(const std::string& path,
                                                  std::string_view function);

template <class Value>
struct TALLY_EXPORT part_reader {
  static matrix_market_sizes read(const std::string& path, std::size_t part, std::size_t parts,
                                  const matrix_market_options& options,
                                  vector_reference<matrix_entry<Value>> entries,
                                  std::size_t& lines);
  static void rows_of(std::size_t rows, std::size_t columns,
                      std::span<const matrix_entry<Value>> entries,
                      const csr_arrays<Value, std::int64_t, std::int64_t>& to);
};

template <class Value, class Offset, class Column>
struct TALLY_EXPORT reader {
  static matrix_market_sizes read(std::istream& stream, std::string_view name,
                                  const matrix_market_options& options,
                                  const csr_arrays<Value, Offset, Column>& to);
};

/// Checks the number of entry lines against the header.
/// @throws error as `read_matrix_market`.
TALLY_EXPORT void check_number_of_entries(const std::string& path,
                                          const matrix_market_options& options);

/// Reader of dense matrices, with one column if `is_vector`.
template <class Value>
struct TALLY_EXPORT array_reader {
  static matrix_market_sizes read(std::istream& stream, std::string_view name,
                                  const matrix_market_options& options, bool is_vector,
                                  vector_reference<Value> to);
};

template <class Value, class Offset, class Column, class Read>
csr_matrix<Value, Offset, Column> matrix_of(const Read& read) {
  csr_matrix<Value, Offset, Column> a;
  const matrix_market_sizes sizes =
      read(csr_arrays<Value, Offset, Column>{a.row_offsets, a.column_indices, a.values});
  a.rows = sizes.rows;
  a.columns = sizes.columns;
  return a;
}

template <class Value>
dense_matrix<Value> vectors_of(std::istream& stream, std::string_view name,
                               const matrix_market_options& options, bool is_vector) {
  dense_matrix<Value> a;
  const auto sizes = array_reader<Value>::read(stream, name, options, is_vector, a.values);
  a.rows = sizes.rows;
  a.columns = sizes.columns;
  return a;
}

}  // namespace matrix_market

/// The matrix in a file: `tally::read_matrix_market("bcsstk16.mtx.gz")`, or
/// `tally::read_matrix_market<float>(path)`.
///
/// @tparam Value type that values are rounded to; complex takes any field.
/// @tparam Offset, Column index types. `std::int32_t` holds at most 2^31 - 1 entries and columns;
///               more is an error.
/// @throws error unreadable_file, naming the line, if it can't be read, breaks the format, exceeds
///               `options`, or needs zlib and Tally has none; unsupported_type for complex entries
///               and real `Value`; invalid_argument for invalid options. And std::bad_alloc.
template <matrix_market_value Value = double, matrix_market_index Offset = std::int32_t,
          matrix_market_index Column = std::int32_t>
csr_matrix<Value, Offset, Column> read_matrix_market(const std::string& path,
                                                     const matrix_market_options& options = {}) {
  const auto stream = matrix_market::opened(path, "tally::read_matrix_market");
  return read_matrix_market<Value, Offset, Column>(*stream, path, options);
}

/// The matrix of a stream, to the end.
/// @param name   in errors.
template <matrix_market_value Value = double, matrix_market_index Offset = std::int32_t,
          matrix_market_index Column = std::int32_t>
csr_matrix<Value, Offset, Column> read_matrix_market(std::istream& stream,
                                                     std::string_view name = "stream",
                                                     const matrix_market_options& options = {}) {
  return matrix_market::matrix_of<Value, Offset, Column>([&](const auto& to) {
    return matrix_market::reader<Value, Offset, Column>::read(stream, name, options, to);
  });
}

/// Sizes from a file's header.
/// @throws error as `read_matrix_market`.
TALLY_EXPORT matrix_market_sizes
read_matrix_market_sizes(const std::string& path, const matrix_market_options& options = {});

/// The entries whose lines begin in one of `parts` equal parts of a file (see
/// `tally::mpi::read_matrix_market`). Parts in order make the file's order. A gzip file is all in
/// part 0.
/// @param part   0 ... parts - 1.
/// @throws error as `read_matrix_market` for these lines, numbered as in the file, and for
///               irregular files; invalid_argument for another part. `options` bounds what this
///               process reads (max_bytes: the file; announced entries: `parts` times max_entries).
///               The caller checks the number of lines.
template <matrix_market_value Value = double>
matrix_market_part<Value> read_matrix_market_part(const std::string& path, std::size_t part,
                                                  std::size_t parts,
                                                  const matrix_market_options& options = {}) {
  matrix_market_part<Value> all;
  all.sizes =
      matrix_market::part_reader<Value>::read(path, part, parts, options, all.entries, all.lines);
  return all;
}

/// The matrix of entries in any order: rows in column order, duplicates added in list order.
/// @throws error invalid_argument for an entry outside.
template <matrix_market_value Value>
csr_matrix<Value, std::int64_t, std::int64_t> rows_of_entries(
    std::size_t rows, std::size_t columns, std::span<const matrix_entry<Value>> entries) {
  using index = std::int64_t;
  return matrix_market::matrix_of<Value, index, index>([&](const auto& to) {
    matrix_market::part_reader<Value>::rows_of(rows, columns, entries, to);
    return matrix_market_sizes{rows, columns, entries.size()};
  });
}

/// The vectors in a dense file.
/// @throws error as `read_matrix_market`.
template <matrix_market_value Value = double>
dense_matrix<Value> read_matrix_market_array(const std::string& path,
                                             const matrix_market_options& options = {}) {
  const auto stream = matrix_market::opened(path, "tally::read_matrix_market_array");
  return read_matrix_market_array<Value>(*stream, path, options);
}

/// The vectors of a stream, to the end.
template <matrix_market_value Value = double>
dense_matrix<Value> read_matrix_market_array(std::istream& stream, std::string_view name = "stream",
                                             const matrix_market_options& options = {}) {
  return matrix_market::vectors_of<Value>(stream, name, options, false);
}

/// The vector in a dense file.
/// @throws error as `read_matrix_market`, and unreadable_file for another number of columns.
template <matrix_market_value Value = double>
std::vector<Value> read_matrix_market_vector(const std::string& path,
                                             const matrix_market_options& options = {}) {
  const auto stream = matrix_market::opened(path, "tally::read_matrix_market_vector");
  return read_matrix_market_vector<Value>(*stream, path, options);
}

/// The vector of a stream, to the end.
template <matrix_market_value Value = double>
std::vector<Value> read_matrix_market_vector(std::istream& stream, std::string_view name = "stream",
                                             const matrix_market_options& options = {}) {
  return matrix_market::vectors_of<Value>(stream, name, options, true).values;
}

}  // namespace tally
