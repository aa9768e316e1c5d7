// automatic(): by where the data lives and how long it is.
#include "src/automatic.hpp"

#include "src/built_backends.hpp"
#include "src/check.hpp"

#include <tally/dot.hpp>

namespace tally {

const executor* choose_on_host(const operand& x, const operand& y) {
#if TALLY_HAS_CUDA
  if (memory_differs()) {
    for (const operand* v : {&x, &y}) {
      if (v->size > 0 && !locate(v->data).host) return nullptr;
    }
  }
#endif
#if TALLY_HAS_OPENMP
  const std::size_t bytes = x.size * size_of(x.element) + y.size * size_of(y.element);
  if (bytes >= openmp_from_bytes && backends::openmp::default_threads() > 1) {
    static const executor on_threads = openmp();
    return &on_threads;
  }
#endif
  static const executor in_vectors = simd();
  return &in_vectors;
}

executor choose(const operand& x, const operand& y) {
  if (const executor* on_host = choose_on_host(x, y)) return *on_host;
  for (const operand* v : {&x, &y}) {
    const backends::place memory = locate(v->data);
    if (v->size > 0 && !memory.host) return cuda({.device = memory.device});
  }
  return simd();
}

}  // namespace tally
