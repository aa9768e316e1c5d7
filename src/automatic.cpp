// automatic(): by where the data lives and how long it is.
#include "src/automatic.hpp"

#include "src/built_backends.hpp"
#include "src/check.hpp"

#include <tally/dot.hpp>

namespace tally {

executor choose([[maybe_unused]] const operand& x, [[maybe_unused]] const operand& y) {
#if TALLY_HAS_CUDA
  for (const operand* v : {&x, &y}) {
    if (v->size == 0) continue;
    const backends::place memory = locate(v->data);
    if (!memory.host) return cuda({.device = memory.device});
  }
#endif
#if TALLY_HAS_OPENMP
  const std::size_t bytes = x.size * size_of(x.element) + y.size * size_of(y.element);
  if (bytes >= openmp_from_bytes && backends::openmp::default_threads() > 1) return openmp();
#endif
  return simd();
}

}  // namespace tally
