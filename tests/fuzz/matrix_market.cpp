// Any bytes: the readers throw a tally::error, or return a matrix that `validate` accepts, its rows
// in the order of their columns, or a dense matrix of the size that it says; and no more than the
// options allow.
#include <tally/error.hpp>
#include <tally/matrix_market.hpp>
#include <tally/spmv.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

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
  read_array<double>(text);
  read_array<std::complex<float>>(text);
  read_within(text, {.max_entries = 3, .max_bytes = 200, .max_line = 60, .max_skipped = 20});
  return 0;
}
