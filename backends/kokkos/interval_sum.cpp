// Sums over an interval: numbers are summed on Kokkos, terms are made on the host, to which
// elements are copied.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/elementwise/moves.hpp"
#include "backends/common/order/interval_numbers.hpp"
#include "backends/kokkos/sums.hpp"
#include "backends/serial/serial.hpp"

#include <tally/error.hpp>

namespace tally::backends::kokkos {
namespace {

struct gather_bytes {
  const std::byte* from;
  std::ptrdiff_t stride;  // bytes between elements
  std::size_t size;       // bytes per element
  std::byte* to;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const std::byte* const element = from + static_cast<std::ptrdiff_t>(i) * stride;
    for (std::size_t k = 0; k < size; ++k) to[i * size + k] = element[k];
  }
};

void fetch(const executor& where, const operand& x, void* to) {
  if constexpr (on_host) {
    fetch_on_host(where, x, to);
  } else {
    const auto lock = acquire();
    const space on;
    const std::size_t size = size_of(x.element);
    auto* const adjacent = static_cast<std::byte*>(scratch(x.size * size));
    Kokkos::parallel_for(
        "tally fetch", Kokkos::RangePolicy<space>(on, 0, x.size),
        gather_bytes{static_cast<const std::byte*>(x.data),
                     x.increment * static_cast<std::ptrdiff_t>(size), size, adjacent});
    copy_to_host(on, adjacent, to, static_cast<int>(x.size * size));
    on.fence();
  }
}

}  // namespace

void sum_interval(const executor& where, const interval_arguments& a) {
  if (!on_host && !a.wait) {
    throw error(errc::invalid_argument, std::string("tally::") + a.function +
                                            ": Kokkos on a device would wait for the terms");
  }
  sum_interval_by_numbers<multi_dot, reduce, fetch, serial::reduce>(where, a);
}

}  // namespace tally::backends::kokkos
