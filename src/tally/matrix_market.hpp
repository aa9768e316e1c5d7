// Reading sparse matrices from Matrix Market files.
//
// What is read: `%%MatrixMarket matrix coordinate FIELD SYMMETRY`, FIELD one of real (or double),
// integer, pattern and complex, SYMMETRY one of general, symmetric, skew-symmetric and hermitian,
// words in either case; plain or compressed by gzip, which the first byte tells. Lines may end in
// LF or CRLF; blank lines and lines that begin with % are skipped wherever they stand. A line has
// at most 65536 characters. Numbers don't depend on the locale.
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
// an integer matrix, and numbers that the type can't hold. Dense files (`array`) are not read.
//
// Any bytes at all are safe to read. The sizes that a file announces are not believed before its
// entries are there: memory stays in proportion to the entries read, with 8 MiB for row offsets on
// top. A matrix of more than 2^20 rows and 64 for each entry is refused for that reason.
#pragma once

#include <tally/export.h>
#include <tally/csr_matrix.hpp>
#include <tally/types.hpp>

#include <concepts>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

namespace tally {

/// The types that entries of a file are read as: float, double and their complex types.
template <class T>
concept matrix_market_value = std::floating_point<real_t<T>> && element<T>;

/// The types of row offsets and column indices that matrices are read with.
template <class I>
concept matrix_market_index = std::same_as<I, std::int32_t> || std::same_as<I, std::int64_t>;

namespace matrix_market {

/// Both forms for one type of matrix.
template <class Value, class Offset, class Column>
struct TALLY_EXPORT reader {
  static csr_matrix<Value, Offset, Column> read(const std::string& path);
  static csr_matrix<Value, Offset, Column> read(std::istream& stream, std::string_view name);
};

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
///               with 10 columns"), or is compressed and Tally was built without zlib;
///               unsupported_type for complex entries and a real `Value`. And std::bad_alloc.
template <matrix_market_value Value = double, matrix_market_index Offset = std::int32_t,
          matrix_market_index Column = std::int32_t>
csr_matrix<Value, Offset, Column> read_matrix_market(const std::string& path) {
  return matrix_market::reader<Value, Offset, Column>::read(path);
}

/// The matrix that a stream has, up to its end.
/// @param name   what errors call the stream.
template <matrix_market_value Value = double, matrix_market_index Offset = std::int32_t,
          matrix_market_index Column = std::int32_t>
csr_matrix<Value, Offset, Column> read_matrix_market(std::istream& stream,
                                                     std::string_view name = "stream") {
  return matrix_market::reader<Value, Offset, Column>::read(stream, name);
}

}  // namespace tally
