// Element-wise functions of host data, part by part.
#include "backends/cuda/cuda.hpp"

#include "backends/cuda/staged/call.hpp"
#include "backends/cuda/staged/staged.hpp"

#include <tally/operations/elementwise.hpp>
#include <tally/operations/multi_axpy.hpp>

#include <algorithm>

namespace tally::backends::cuda::staged {
namespace {

template <class Work>
void run(const call& c, std::span<const staged_vector> vectors, std::size_t n, const Work& work) {
  if (c.through().are_short(vectors)) {
    c.through().run_short(vectors, stages::padding::none, work);
    c.through().wait();
    return;
  }
  c.through().run_parts(
      vectors, n, c.through().parts_of(vectors),
      [&](const staged_operands& here, std::size_t, void*) { work(here); },
      [](const void*, std::size_t, std::size_t) {});
}

}  // namespace

void backend::transform(const executor&, const transform_arguments& a, type computation) const {
  const call c(*memory_);
  const bool has_y = detail::is_binary(a.what), has_w = detail::is_ternary(a.what);
  std::array<staged_vector, 4> vectors;
  std::size_t count = 0;
  vectors[count++] = c.through().vector(a.x);
  if (has_y) vectors[count++] = c.through().vector(a.y);
  if (has_w) vectors[count++] = c.through().vector(a.w);
  vectors[count++] = c.through().vector(a.z, detail::reads_output(a.what), true);
  run(c, {vectors.data(), count}, a.x.size, [&](const staged_operands& here) {
    transform_arguments part = a;
    part.x = here[0];
    part.y = has_y ? here[1] : operand{nullptr, 0, 1, a.y.element};
    part.w = has_w ? here[2] : operand();
    part.z = as_output(here[count - 1]);
    cuda::instance.transform(c.on(), part, computation);
  });
}

void backend::multi_axpy(const executor&, const multi_axpy_arguments& a, type computation,
                         bool alpha_on_host) const {
  const call c(*memory_);
  constexpr std::size_t at_once = max_staged_vectors - 1;
  for (std::size_t first = 0; first < a.x.size(); first += at_once) {
    const std::size_t count = std::min(at_once, a.x.size() - first);
    const bool reads = first > 0 || !a.beta.is_zero();
    std::array<staged_vector, max_staged_vectors> vectors;
    vectors[0] = c.through().vector(a.y, reads, true);
    for (std::size_t j = 0; j < count; ++j) {
      vectors[1 + j] = c.through().vector(a.x[first + j]);
    }
    run(c, {vectors.data(), 1 + count}, a.y.size, [&](const staged_operands& here) {
      multi_axpy_arguments part = a;
      part.alpha = a.alpha.slice(first, count);
      part.x.list = {here.data() + 1, count};
      if (first > 0) part.beta = 1;
      part.y = as_output(here[0]);
      cuda::instance.multi_axpy(c.on(), part, computation, alpha_on_host);
    });
  }
}

void backend::fill(const executor&, const element_bytes& value, const output_operand& z) const {
  const call c(*memory_);
  const std::array vectors = {c.through().vector(z, false, true)};
  run(c, vectors, z.size,
      [&](const staged_operands& here) { cuda::instance.fill(c.on(), value, as_output(here[0])); });
}

void backend::swap(const executor&, const output_operand& x, const output_operand& y) const {
  const call c(*memory_);
  const std::array vectors = {c.through().vector(x, true, true), c.through().vector(y, true, true)};
  run(c, vectors, x.size, [&](const staged_operands& here) {
    cuda::instance.swap(c.on(), as_output(here[0]), as_output(here[1]));
  });
}

}  // namespace tally::backends::cuda::staged
