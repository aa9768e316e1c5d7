// Parts for the caller's functions, and for gather and scatter.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/threads/shares.hpp"

namespace tally::backends::openmp {

constinit const backend instance;

std::string backend::describe(const executor& where) const {
  const int threads = max_threads_of(where);
  return std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") +
         std::string(tally::name(where.instructions()));
}

void backend::for_each_part(const executor& where, const char* function, std::size_t size,
                            const part_calls& calls) const {
  const int threads = threads_of(where);
  if (threads == 1) return simd::backend::for_each_part(where, function, size, calls);
  const part_shape shape = shares_of(size, threads);
  calls.prepare(calls.context, shape.count);
  for_each_share(size, threads, shape, [&](std::size_t i, std::size_t first, std::size_t n) {
    calls.run(calls.context, i, first, n);
  });
  calls.finish(calls.context);
}

void backend::gather(const executor& where, const gather_arguments& a) const {
  const int threads = threads_of(where);
  for_each_share(a.indices.size, threads, shares_of(a.indices.size, threads),
                 [&](std::size_t, std::size_t first, std::size_t n) {
                   gather_arguments part = a;
                   part.indices = a.indices.slice(first, n);
                   if (a.scatters) {
                     part.x = a.x.slice(first, n);
                   } else {
                     part.z = a.z.slice(first, n);
                   }
                   simd::backend::gather(where, part);
                 });
}

}  // namespace tally::backends::openmp
