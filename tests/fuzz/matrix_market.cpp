// Any bytes: readers throw tally::error, or return a matrix that `validate` accepts with sorted
// rows, or a dense matrix of the stated size, within the options' limits.
#include <tally/error.hpp>
#include <tally/sparse/matrix_market.hpp>
#include <tally/sparse/spmv.hpp>

#include <unistd.h>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

template <class Value, class Offset, class Column>
void read(const std::string& text) {
  std::istringstream stream(text);
  tally::csr_matrix<Value, Offset, Column> a;
  try {
    a = tally::read_matrix_market<Value, Offset, Column>(stream);
  } catch (const tally::error&) {
    return;
  }
  tally::validate(tally::serial(), a.view());
  for (std::size_t row = 0; row < a.rows; ++row) {
    for (Offset j = a.row_offsets[row] + 1; j < a.row_offsets[row + 1]; ++j) {
      if (a.column_indices[j - 1] >= a.column_indices[j]) std::abort();
    }
  }
}

/// Parts give together what the whole file gives, or one throws.
void read_parts(const std::string& text, std::size_t parts) {
  const std::string path = "matrix_market_parts_" + std::to_string(getpid()) + ".mtx";
  std::ofstream(path, std::ios::binary) << text;
  std::vector<tally::matrix_entry<double>> entries;
  tally::matrix_market_sizes sizes;
  std::size_t lines = 0;
  bool is_refused = false;
  try {
    for (std::size_t p = 0; p < parts; ++p) {
      const auto part = tally::read_matrix_market_part(path, p, parts);
      sizes = part.sizes;
      lines += part.lines;
      entries.insert(entries.end(), part.entries.begin(), part.entries.end());
    }
  } catch (const tally::error&) {
    is_refused = true;
  }
  std::remove(path.c_str());
  std::istringstream stream(text);
  tally::csr_matrix<double, std::int64_t, std::int64_t> whole;
  try {
    whole = tally::read_matrix_market<double, std::int64_t, std::int64_t>(stream);
  } catch (const tally::error&) {
    return;
  }
  if (is_refused || lines != sizes.entries) std::abort();
  const auto joined = tally::rows_of_entries<double>(sizes.rows, sizes.columns, entries);
  if (joined.row_offsets != whole.row_offsets || joined.column_indices != whole.column_indices) {
    std::abort();
  }
}

template <class Value>
void read_array(const std::string& text) {
  std::istringstream stream(text);
  try {
    const auto a = tally::read_matrix_market_array<Value>(stream);
    if (a.values.size() != a.rows * a.columns) std::abort();
  } catch (const tally::error&) {
  }
}

void read_within(const std::string& text, const tally::matrix_market_options& options) {
  std::istringstream stream(text);
  try {
    if (tally::read_matrix_market(stream, "stream", options).values.size() > options.max_entries) {
      std::abort();
    }
  } catch (const tally::error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read<double, std::int32_t, std::int32_t>(text);
  read<std::complex<float>, std::int64_t, std::int64_t>(text);
  read_parts(text, 1 + size % 5);
  read_array<double>(text);
  read_array<std::complex<float>>(text);
  read_within(text, {.max_entries = 3, .max_bytes = 200, .max_line = 60, .max_skipped = 20});
  return 0;
}
