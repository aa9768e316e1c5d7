// gather and scatter on OpenMP threads.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/shares.hpp"
#include "backends/serial/serial.hpp"

namespace tally::backends::openmp {

void gather(const executor& where, const gather_arguments& a) {
  const int threads = threads_of(where);
  for_each_share(a.indices.size, threads, shares_of(a.indices.size, threads),
                 [&](std::size_t, std::size_t first, std::size_t n) {
                   serial::gather(where, {a.x, a.indices.slice(first, n), a.z.slice(first, n)});
                 });
}

void scatter(const executor& where, const gather_arguments& a) {
  const int threads = threads_of(where);
  for_each_share(a.indices.size, threads, shares_of(a.indices.size, threads),
                 [&](std::size_t, std::size_t first, std::size_t n) {
                   serial::scatter(where, {a.x.slice(first, n), a.indices.slice(first, n), a.z});
                 });
}

}  // namespace tally::backends::openmp
