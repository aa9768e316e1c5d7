// Any offsets and columns: `validate` throws tally::error, or the product stays inside the operands
// (under the address sanitizer).
#include <tally/error.hpp>
#include <tally/sparse/spmv.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

struct input {
  const std::uint8_t* data;
  std::size_t size;

  /// The next number, mostly of one byte: small ones make nearly valid matrices.
  template <class T>
  T take() {
    if (size == 0) return 0;
    --size;
    const auto byte = static_cast<std::int8_t>(*data++);
    if (byte != -128 || size < sizeof(T)) return byte;
    T value;
    std::memcpy(&value, data, sizeof(T));
    data += sizeof(T);
    size -= sizeof(T);
    return value;
  }

  template <class T>
  std::vector<T> take_some() {
    std::vector<T> values(static_cast<std::uint8_t>(take<std::int8_t>()));
    for (T& value : values) value = take<T>();
    return values;
  }
};

template <class Offset, class Column>
void multiply(input in) {
  const auto rows = static_cast<std::size_t>(in.take<std::int64_t>());
  const auto columns = static_cast<std::size_t>(in.take<std::int64_t>());
  const auto offsets = in.take_some<Offset>();
  const auto indices = in.take_some<Column>();
  const std::vector<double> values(indices.size() + in.take<std::uint8_t>() % 2, 1.0);
  const tally::csr_view a{rows, columns, offsets, indices, values};
  try {
    tally::validate(tally::serial(), a);
  } catch (const tally::error&) {
    return;
  }
  if (columns > 1 << 20) return;  // x would need too much memory
  const std::vector<double> x(columns, 1.0);
  std::vector<double> y(rows);
  tally::spmv(tally::serial(), a, x, y);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  multiply<std::int32_t, std::int32_t>({data, size});
  multiply<std::int64_t, std::int32_t>({data, size});
  multiply<std::int32_t, std::int64_t>({data, size});
  multiply<std::int64_t, std::int64_t>({data, size});
  return 0;
}
