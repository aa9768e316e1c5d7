// Reading sparse matrices, and vectors, from Matrix Market files.
//
// What is read: `%%MatrixMarket matrix coordinate FIELD SYMMETRY`, FIELD one of real (or double),
// integer, unsigned-integer, pattern and complex, SYMMETRY one of general, symmetric,
// skew-symmetric and hermitian, words in either case; plain or compressed by gzip, which the first
// byte tells (zeros may follow its last member). Lines may end in LF or CRLF; blank lines and lines
// that begin with % are skipped wherever they stand. Numbers don't depend on the locale, and may
// have the exponents of Fortran's double precision, 1.5D+02 (not 1.5+02, which half of the format's
// readers take for two words).
//
// What comes of it:
//
//   - Rows in the order of their columns, whatever the order of the file. Entries at the same place
//     are added up, in the order of the file. Zeros that are written there stay.
//   - Both halves of a symmetric, skew-symmetric or Hermitian matrix.
//   - An entry of a pattern is 1.
//   - Values rounded once, from the decimal number to the nearest one of the type asked for; those
//     too small for it become zero or subnormal. "inf" and "nan" are numbers.
//
// Strict: a file that says something else than the format allows is an error, not a guess. So are
// an entry above the diagonal of a symmetric, skew-symmetric or Hermitian matrix, one on the
// diagonal of a skew-symmetric matrix, an imaginary part on that of a Hermitian one, a fraction in
// an integer matrix, a minus in an unsigned one, and numbers that the type can't hold.
//
// Dense files, `matrix array FIELD general`, have right-hand sides and solutions: vectors, one a
// column, of one value a line. `read_matrix_market_vector` reads one, `read_matrix_market_array`
// all of a file. Of the other symmetries, which vectors have not, dense files are not read.
//
// Any bytes at all are safe to read. What they may cost is bounded by `matrix_market_options`; the
// sizes that a file announces are not believed before its entries are there. Memory stays in
// proportion to the entries read and the longest line, with 8 MiB for row offsets on top: a matrix
// of more than 2^20 rows and 64 for each entry is refused for that reason, unless `max_empty_rows`
// lets it pass. With int32 indices and doubles an entry of
// a general file takes 28 bytes at most while it is read, 12 of which stay; one of a symmetric
// file, which becomes two, 40 and 24.
#pragma once

#include <tally/export.h>
#include <tally/csr_matrix.hpp>
#include <tally/types.hpp>
#include <tally/vector_reference.hpp>

#include <concepts>
#include <cstdint>
#include <istream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

/// The types that entries of a file are read as: float, double and their complex types.
template <class T>
concept matrix_market_value = std::floating_point<real_t<T>> && element<T>;

/// The types of row offsets and column indices that matrices are read with.
template <class Index>
concept matrix_market_index =
    std::same_as<Index, std::int32_t> || std::same_as<Index, std::int64_t>;

/// What reading a file may cost. A file that is beyond one of these is unreadable_file, as soon as
/// that is known. The defaults let pass what collections have; who reads files of strangers sets
/// lower ones.
struct matrix_market_options {
  /// Entries that one process reads, both halves of a symmetric matrix counted: memory.
  std::size_t max_entries = (std::size_t{1} << 31) - 1;
  /// Bytes of the file, of a compressed one also after decompression: time.
  std::uint64_t max_bytes = std::uint64_t{1} << 38;
  /// Bytes of a line without its end; at most 2^30: memory.
  std::size_t max_line = 65536;
  /// Bytes of comments and blank lines that one process reads, or of the zeros behind a compressed
  /// file.
  std::size_t max_skipped = std::size_t{1} << 24;
  /// Bytes that one byte of gzip becomes, on the average, looked at from 64 MiB on. Matrices in
  /// collections have 3 to 30; gzip makes up to 1030.
  std::size_t max_ratio = 200;
  /// Rows above 64 for each entry: memory of row offsets, 4 or 8 bytes a row. Hypersparse matrices
  /// have more. Not for reading in parts, where a process has the offsets of its own rows.
  std::size_t max_empty_rows = std::size_t{1} << 20;
};

/// Vectors of one length, one a column.
template <matrix_market_value Value>
struct dense_matrix {
  std::size_t rows = 0;       ///< elements of a vector
  std::size_t columns = 0;    ///< vectors
  std::vector<Value> values;  ///< column after column

  /// Vector j.
  std::span<const Value> column(std::size_t j) const {
    return std::span(values).subspan(j * rows, rows);
  }
};

/// What the head of a file says.
struct matrix_market_sizes {
  std::size_t rows = 0;     ///< the matrix's height
  std::size_t columns = 0;  ///< its width
  std::size_t entries = 0;  ///< lines with one: of a symmetric matrix those of one half
};

/// What one of several processes has read of a file.
template <matrix_market_value Value>
struct matrix_market_part {
  matrix_market_sizes sizes;  ///< of the whole matrix
  std::size_t lines = 0;      ///< those with an entry in this part
  std::vector<matrix_entry<Value>>
      entries;  ///< both halves of a symmetric matrix, in the file's order
};

namespace matrix_market {

/// The arrays of a matrix that is read.
template <class Value, class Offset, class Column>
struct csr_arrays {
  vector_reference<Offset> row_offsets;     ///< as in `csr_matrix`
  vector_reference<Column> column_indices;  ///< as in `csr_matrix`
  vector_reference<Value> values;           ///< as in `csr_matrix`
};

/// Reading in parts, for one type of values.
template <class Value>
struct TALLY_EXPORT part_reader {
  /// What is read.
  struct part {
    matrix_market_sizes sizes;  ///< of the whole matrix
    std::size_t lines = 0;      ///< those with an entry in this part
  };
  static part read(const std::string& path, std::size_t part, std::size_t parts,
                   const matrix_market_options& options,
                   vector_reference<matrix_entry<Value>> entries);
  static void rows_of(std::size_t rows, std::size_t columns,
                      std::span<const matrix_entry<Value>> entries,
                      const csr_arrays<Value, std::int64_t, std::int64_t>& to);
};

/// Both forms for one type of matrix.
template <class Value, class Offset, class Column>
struct TALLY_EXPORT reader {
  using arrays = csr_arrays<Value, Offset, Column>;
  static matrix_market_sizes read(const std::string& path, const matrix_market_options& options,
                                  const arrays& to);
  static matrix_market_sizes read(std::istream& stream, std::string_view name,
                                  const matrix_market_options& options, const arrays& to);
};

/// @throws error as `read_matrix_market` if a file has not as many lines with entries as it
/// announces;
///               what stands in them is not looked at.
TALLY_EXPORT void check_number_of_entries(const std::string& path,
                                          const matrix_market_options& options);

/// And for one type of dense matrix; of one column if `is_vector`.
template <class Value>
struct TALLY_EXPORT array_reader {
  static matrix_market_sizes read(const std::string& path, const matrix_market_options& options,
                                  bool is_vector, vector_reference<Value> to);
  static matrix_market_sizes read(std::istream& stream, std::string_view name,
                                  const matrix_market_options& options, bool is_vector,
                                  vector_reference<Value> to);
};

/// The matrix whose arrays `read` fills; it returns the sizes.
template <class Value, class Offset, class Column, class Read>
csr_matrix<Value, Offset, Column> matrix_of(const Read& read) {
  csr_matrix<Value, Offset, Column> a;
  const matrix_market_sizes sizes =
      read(csr_arrays<Value, Offset, Column>{a.row_offsets, a.column_indices, a.values});
  a.rows = sizes.rows;
  a.columns = sizes.columns;
  return a;
}

/// The same of a dense matrix.
template <class Value, class Read>
dense_matrix<Value> vectors_of(const Read& read) {
  dense_matrix<Value> a;
  const matrix_market_sizes sizes = read(vector_reference<Value>(a.values));
  a.rows = sizes.rows;
  a.columns = sizes.columns;
  return a;
}

}  // namespace matrix_market

/// The matrix in a file: `tally::read_matrix_market("bcsstk16.mtx.gz")`, in single precision
/// `tally::read_matrix_market<float>(path)`.
///
/// @tparam Value  what values are rounded to. A complex file needs a complex one, which takes the
///                other fields, too.
/// @tparam Offset, Column  the types of row offsets and column indices. `std::int32_t` holds up to
///                2^31 - 1 entries and columns; a matrix that has more is an error.
/// @throws error unreadable_file if it can't be opened or read, or isn't what it should be, with
///               the line's number ("tally::read_matrix_market: a.mtx:17: column 12 of a matrix
///               with 10 columns"), or exceeds `options`, or is compressed and Tally was built
///               without zlib; unsupported_type for complex entries and a real `Value`;
///               invalid_argument for options that can't be. And std::bad_alloc.
template <matrix_market_value Value = double, matrix_market_index Offset = std::int32_t,
          matrix_market_index Column = std::int32_t>
csr_matrix<Value, Offset, Column> read_matrix_market(const std::string& path,
                                                     const matrix_market_options& options = {}) {
  return matrix_market::matrix_of<Value, Offset, Column>([&](const auto& to) {
    return matrix_market::reader<Value, Offset, Column>::read(path, options, to);
  });
}

/// The matrix that a stream has, up to its end.
/// @param name   what errors call the stream.
template <matrix_market_value Value = double, matrix_market_index Offset = std::int32_t,
          matrix_market_index Column = std::int32_t>
csr_matrix<Value, Offset, Column> read_matrix_market(std::istream& stream,
                                                     std::string_view name = "stream",
                                                     const matrix_market_options& options = {}) {
  return matrix_market::matrix_of<Value, Offset, Column>([&](const auto& to) {
    return matrix_market::reader<Value, Offset, Column>::read(stream, name, options, to);
  });
}

/// The sizes of the matrix in a file, whose entries are not read.
/// @throws error as `read_matrix_market` for the first lines.
TALLY_EXPORT matrix_market_sizes
read_matrix_market_sizes(const std::string& path, const matrix_market_options& options = {});

/// The entries whose lines begin in one of `parts` equal parts of a file, for programs of several
/// processes, each of which reads one. (`tally::mpi::read_matrix_market` gives each rank its rows.)
/// The entries of part 0, then 1 and so on are those of the file in its order. A file that gzip has
/// compressed is part 0 as a whole. A pipe or a device has no parts.
/// @param part  one of 0 ... parts - 1.
/// @throws error as `read_matrix_market` for these lines, whose numbers are those in the file, and
///               for what is no regular file; invalid_argument for another part. `options` bounds
///               what this process reads, max_bytes the file; one that announces more than `parts`
///               times max_entries is refused. Whether as many lines have been read as the file
///               announces is for the caller to see.
template <matrix_market_value Value = double>
matrix_market_part<Value> read_matrix_market_part(const std::string& path, std::size_t part,
                                                  std::size_t parts,
                                                  const matrix_market_options& options = {}) {
  matrix_market_part<Value> all;
  const auto read =
      matrix_market::part_reader<Value>::read(path, part, parts, options, all.entries);
  all.sizes = read.sizes;
  all.lines = read.lines;
  return all;
}

/// The matrix of a list of entries in any order, as `read_matrix_market` makes it: rows in the
/// order of their columns, entries at the same place added up in the order of the list.
/// @throws error invalid_argument for an entry outside the matrix.
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
  return matrix_market::vectors_of<Value>([&](vector_reference<Value> to) {
    return matrix_market::array_reader<Value>::read(path, options, false, to);
  });
}

/// The vectors that a stream has, up to its end.
template <matrix_market_value Value = double>
dense_matrix<Value> read_matrix_market_array(std::istream& stream, std::string_view name = "stream",
                                             const matrix_market_options& options = {}) {
  return matrix_market::vectors_of<Value>([&](vector_reference<Value> to) {
    return matrix_market::array_reader<Value>::read(stream, name, options, false, to);
  });
}

/// The vector in a dense file of one column: `tally::read_matrix_market_vector("A_b.mtx")`.
/// @throws error as `read_matrix_market`, and unreadable_file if there is another number of
/// columns.
template <matrix_market_value Value = double>
std::vector<Value> read_matrix_market_vector(const std::string& path,
                                             const matrix_market_options& options = {}) {
  return matrix_market::vectors_of<Value>([&](vector_reference<Value> to) {
           return matrix_market::array_reader<Value>::read(path, options, true, to);
         })
      .values;
}

/// The vector that a stream has, up to its end.
template <matrix_market_value Value = double>
std::vector<Value> read_matrix_market_vector(std::istream& stream, std::string_view name = "stream",
                                             const matrix_market_options& options = {}) {
  return matrix_market::vectors_of<Value>([&](vector_reference<Value> to) {
           return matrix_market::array_reader<Value>::read(stream, name, options, true, to);
         })
      .values;
}

}  // namespace tally
