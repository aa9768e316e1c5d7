// gather and scatter on Kokkos, byte by byte.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/elementwise/gathered_elements.hpp"
#include "backends/kokkos/sums.hpp"

namespace tally::backends::kokkos {
namespace {

struct move_elements {
  gathered_elements elements;

  KOKKOS_FUNCTION void operator()(std::size_t i) const { elements.move<unsigned char>(i); }
};

void run(const gather_arguments& a, bool is_scatter) {
  const auto lock = acquire();
  const space where;
  Kokkos::parallel_for("tally gather", Kokkos::RangePolicy<space>(where, 0, a.indices.size),
                       move_elements{gathered_elements(a, is_scatter)});
  if (on_host) where.fence();
}

}  // namespace

void gather(const executor&, const gather_arguments& a) { run(a, false); }

void scatter(const executor&, const gather_arguments& a) { run(a, true); }

}  // namespace tally::backends::kokkos
