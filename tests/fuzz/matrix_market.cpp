// Any bytes: the reader throws a tally::error, or returns a matrix that `validate` accepts, its
// rows in the order of their columns.
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read<double, std::int32_t, std::int32_t>(text);
  read<std::complex<float>, std::int64_t, std::int64_t>(text);
  return 0;
}
