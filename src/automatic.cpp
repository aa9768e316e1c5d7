#include "src/automatic.hpp"

#include "backends/backends.hpp"
#include "src/check.hpp"

#include <tally/operations/dot.hpp>
#include <tally/operations/elementwise.hpp>
#include <tally/operations/reduce.hpp>

#include <array>
#include <span>

namespace tally {
namespace {

template <class... Operand>
const executor* of_host(const Operand&... v) {
  if (memory_differs()) {
    std::array<const void*, sizeof...(v)> pointers{};
    std::size_t n = 0;
    ((v.size > 0 ? void(pointers[n++] = v.data) : void()), ...);
    if (!are_on_host(std::span(pointers).first(n))) return nullptr;
  }
#if TALLY_HAS_OPENMP
  const std::size_t bytes = (... + (v.size * size_of(v.element)));
  if (bytes >= openmp_from_bytes && backends::openmp::default_threads() > 1) {
    static const executor on_threads = openmp();
    return &on_threads;
  }
#endif
  static const executor in_vectors = simd();
  return &in_vectors;
}

executor of_device([[maybe_unused]] int device) {
#if TALLY_HAS_CUDA
  return cuda({.device = device});
#else
  return kokkos();
#endif
}

template <class... Operand>
executor of_all(const Operand&... v) {
  if (const executor* on_host = of_host(v...)) return *on_host;
  for (const operand* each : {&v...}) {
    const backends::place memory = locate(each->data);
    if (each->size > 0 && !memory.host) return of_device(memory.device);
  }
  return simd();
}

}  // namespace

const executor* choose_on_host(const operand& x) { return of_host(x); }
const executor* choose_on_host(const operand& x, const operand& y) { return of_host(x, y); }
const executor* choose_on_host(const operand& x, const operand& y, const operand& z) {
  return of_host(x, y, z);
}
const executor* choose_on_host(const operand& x, const operand& y, const operand& w,
                               const operand& z) {
  return of_host(x, y, w, z);
}

executor choose(const operand& x) { return of_all(x); }
executor choose(const operand& x, const operand& y) { return of_all(x, y); }
executor choose(const operand& x, const operand& y, const operand& z) { return of_all(x, y, z); }
executor choose(const operand& x, const operand& y, const operand& w, const operand& z) {
  return of_all(x, y, w, z);
}

}  // namespace tally
