// Header of a Matrix Market file: banner and sizes.
#pragma once

#include "src/sparse/matrix_market/lines.hpp"

#include <cstddef>
#include <string_view>

namespace tally::matrix_market {

enum class format { coordinate, array };
enum class field { real, integer, unsigned_integer, pattern, complex };
enum class symmetry { general, symmetric, skew_symmetric, hermitian };

struct header {
  field entries_are = field::real;
  symmetry symmetric = symmetry::general;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t entries = 0;
  std::size_t size_line = 0;
};

/// Throws unless the format is as expected.
header read_header(line_reader& lines, format expected);

/// The word in files.
std::string_view name(symmetry value);

/// Removes a leading plus, which std::from_chars rejects.
std::string_view without_plus(std::string_view word);

/// `what` names it in messages.
std::size_t parse_index(const line_reader& lines, const char* what, std::string_view word);

/// Throws if the line has another word.
void expect_end(const line_reader& lines, std::string_view line, const char* what);

}  // namespace tally::matrix_market
