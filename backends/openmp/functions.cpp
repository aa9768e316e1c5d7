// The caller's functions on OpenMP threads.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/shares.hpp"

namespace tally::backends::openmp {

void for_each_part(const executor& where, const char*, std::size_t size, const part_calls& calls) {
  const int threads = threads_of(where);
  const part_shape shape = shares_of(size, threads);
  calls.prepare(calls.context, shape.count);
  for_each_share(size, threads, shape, [&](std::size_t i, std::size_t first, std::size_t n) {
    calls.run(calls.context, i, first, n);
  });
  calls.finish(calls.context);
}

}  // namespace tally::backends::openmp
