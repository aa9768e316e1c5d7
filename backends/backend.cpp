// Operations that need no more than others.
#include "backends/backends.hpp"

#include "backends/common/elementwise/multi_axpy.hpp"
#include "backends/common/elementwise/update_by_sums.hpp"
#include "backends/common/sparse/csr.hpp"

#include <tally/operations/fused.hpp>

#include <memory>
#include <vector>

namespace tally::backends {

void backend::multi_dot_in_turn(const executor& where, const multi_sum& a) const {
  if (a.update) {
    const auto release = [&](void* sums) { deallocate(where, sums, reach::kernels_and_host); };
    const std::unique_ptr<void, decltype(release)> sums(
        allocate(where, bytes_of_sums(a), reach::kernels_and_host), release);
    return update_by_sums(where, a, sums.get());
  }
  for (std::size_t j = 0; j < a.pairs.size(); ++j) {
    if (is_exact(a)) {
      backends::exact(where, exact_of(a, j));
    } else if (a.values) {
      backends::reduce(where, sum_of_row(a, j));
    } else {
      backends::dot(where, dot_of_pair(a, j));
    }
  }
}

void backend::multi_exact(const executor& where, std::span<const exact_arguments> all) const {
  for (const exact_arguments& one : all) backends::exact(where, one);
}

void backend::multi_axpy(const executor& where, const multi_axpy_arguments& a, type computation,
                         bool alpha_on_host) const {
  multi_axpy_arguments here = a;
  std::vector<std::byte> copied;
  if (!alpha_on_host) {
    const std::size_t k = a.alpha.size, size = size_of(a.alpha.element);
    copied.resize(k * size);
    for (std::size_t j = 0; j < k; ++j) {
      copy_bytes(where, a.alpha.slice(j, 1).data, copied.data() + j * size, size);
    }
    here.alpha = {copied.data(), k, 1, a.alpha.element};
  }
  for (std::size_t j = 0; j < a.x.size(); ++j) {
    backends::transform(where, step_of(here, j, 0, a.y.size), computation);
  }
}

void backend::multi_axpy_dot(const executor& where, const multi_axpy_arguments& update,
                             type computation, bool alpha_on_host, const multi_sum& sums) const {
  backends::multi_axpy(where, update, computation, alpha_on_host);
  backends::multi_dot(where, sums);
}

void backend::spmm(const executor& where, const csr_products& a) const {
  for (std::size_t j = 0; j < a.columns; ++j) backends::spmv(where, a.slice(j, 1).first);
}

void backend::fused(const executor& where, const fused_update& a) const {
  backends::transform(where, a.update, a.computation);
  if (a.what == fused_sum::dot) {
    a.is_exact() ? backends::exact(where, exact_of(a.sum)) : backends::dot(where, a.sum);
  } else {
    a.is_exact() ? backends::exact(where, exact_of(a.nrm2())) : backends::reduce(where, a.nrm2());
  }
}

}  // namespace tally::backends
