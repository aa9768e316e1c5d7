// Functions of rows on a device of Kokkos's.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/sparse/row_functions.hpp"
#include "backends/kokkos/runtime/launch.hpp"

namespace tally::backends::kokkos {
namespace {

template <class A>
struct write_row {
  row_job<A> job;
  unsigned lanes;  // of a row

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    job.write(i / lanes, static_cast<unsigned>(i % lanes), lanes);
  }
};

template <class A>
void run(const space& on, const row_function_arguments& a) {
  const row_job<A> job(a);
  const unsigned lanes = !on_host && a.what == row_function::scale ? 8 : 1;
  for_each(on, "tally rows", static_cast<std::size_t>(job.rows) * lanes, write_row<A>{job, lanes});
  if (on_host) on.fence();
}

}  // namespace

void apply_to_rows(const executor& where, const row_function_arguments& a, bool in_double) {
  locked([&] {
    const space on = space_of(where);
    in_double ? run<double>(on, a) : run<float>(on, a);
  });
}

}  // namespace tally::backends::kokkos
