// gather and scatter in plain loops.
#include "backends/serial/serial.hpp"

#include "backends/common/elementwise/moves.hpp"
#include "backends/common/sparse/csr.hpp"

#include <cstring>

namespace tally::backends::serial {
namespace {

/// Copies elements; `from(i)` and `to(i)` are their addresses.
template <class From, class To>
void move_elements(const gather_arguments& a, const From& from, const To& to) {
  if (a.x.element == type::boolean) {
    for (std::size_t i = 0; i < a.indices.size; ++i) *to(i) = std::byte{*from(i) != std::byte{}};
    return;
  }
  with_size(a.x.element, [&]<std::size_t size>() {
    for (std::size_t i = 0; i < a.indices.size; ++i) std::memcpy(to(i), from(i), size);
  });
}

moved_vector elements(const operand& v) {
  return moved_vector({const_cast<void*>(v.data), v.size, v.increment, v.element});
}

}  // namespace

void backend::gather(const executor&, const gather_arguments& a) const {
  const moved_vector x = elements(a.x), z(a.z);
  const index_vector indices(a.indices);
  const auto place = [&](std::size_t i) { return static_cast<std::size_t>(indices[i]); };
  if (a.scatters) {
    move_elements(
        a, [&](std::size_t i) { return x.at(i); }, [&](std::size_t i) { return z.at(place(i)); });
  } else {
    move_elements(
        a, [&](std::size_t i) { return x.at(place(i)); }, [&](std::size_t i) { return z.at(i); });
  }
}

}  // namespace tally::backends::serial
