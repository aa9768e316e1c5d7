// The only list of this build's backends, in the order of `executors()`, and the operations of an
// executor's. The build defines TALLY_HAS_* as 0 or 1.
//
// An operation is a function of its own rather than one of the backend's virtual functions, whose
// table would bring all operations into a static program that calls one.
#pragma once

#if !defined(TALLY_HAS_OPENMP) || !defined(TALLY_HAS_CUDA) || !defined(TALLY_HAS_KOKKOS)
#error "without TALLY_HAS_* an executor of a backend that is there would run as serial"
#endif

#include "backends/serial/serial.hpp"
#include "backends/simd/simd.hpp"
#if TALLY_HAS_OPENMP
#include "backends/openmp/openmp.hpp"
#include "backends/openmp/threads/threads.hpp"
#endif
#if TALLY_HAS_CUDA
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/runtime/device.hpp"
#include "backends/cuda/staged/staged.hpp"
#endif
#if TALLY_HAS_KOKKOS
#include "backends/kokkos/kokkos.hpp"
#endif

#include <array>

namespace tally::backends {

inline constexpr auto instances = std::to_array<const backend*>({
    &serial::instance,
    &simd::instance,
#if TALLY_HAS_OPENMP
    &openmp::instance,
#endif
#if TALLY_HAS_CUDA
    &cuda::instance,
#endif
#if TALLY_HAS_KOKKOS
    &kokkos::instance,
#endif
});

/// Returns f(backend) with the executor's backend in its class, which must have the operation.
template <class F>
decltype(auto) with_backend(const executor& where, const F& f) {
  const backend& on = *where.backend();
  switch (on.is_a) {
    case backend_class::simd:
      return f(static_cast<const simd::backend&>(on));
#if TALLY_HAS_OPENMP
    case backend_class::openmp:
      return f(static_cast<const openmp::backend&>(on));
#endif
#if TALLY_HAS_CUDA
    case backend_class::cuda:
      return f(static_cast<const cuda::backend&>(on));
    case backend_class::workspace:
      return f(static_cast<const cuda::staged::backend&>(on));
#endif
#if TALLY_HAS_KOKKOS
    case backend_class::kokkos:
      return f(static_cast<const kokkos::backend&>(on));
#endif
    default:
      return f(static_cast<const serial::backend&>(on));
  }
}

/// Returns a backend for data in host memory, processed in parts through its own memory; null if
/// kernels access host memory.
inline std::shared_ptr<const backend> make_staged(const executor& where,
                                                  const workspace_options& options) {
  return with_backend(where, [&](const auto& on) { return on.make_staged(where, options); });
}

// Operations run in the default floating-point environment (`default_environment`); a backend sets
// it for its own threads.

/// dot. Pre: equal sizes, aligned and accessible pointers, nonzero increments, canonical
/// order (`in_order`), types that accumulate in the result's.
inline void dot(const executor& where, const dot_arguments& a) {
  return with_backend(where, [&](const auto& on) { return on.dot(where, a); });
}
/// multi_dot, batched_dot, sums and gemv; by default one after another, gemv in two calls. Pre:
/// at least one pair, each as for `dot`, all of the first pair's types.
inline void multi_dot(const executor& where, const multi_sum& a) {
  return with_backend(where, [&](const auto& on) { return on.multi_dot(where, a); });
}
/// sum, asum and nrm2.
inline void reduce(const executor& where, const reduce_arguments& a) {
  return with_backend(where, [&](const auto& on) { return on.reduce(where, a); });
}
/// weighted_sum_of_squares, weighted_nrm2, wrms_norm and wrms_norm_mask. Pre: as for `dot`, in
/// any order; accumulates in float32 or float64.
inline void weighted(const executor& where, const weighted_norm_arguments& a) {
  return with_backend(where, [&](const auto& on) { return on.weighted(where, a); });
}
/// inclusive_scan and exclusive_scan. Pre: not empty; y's type accumulates x's; y is x or apart.
inline void scan(const executor& where, const scan_arguments& a) {
  return with_backend(where, [&](const auto& on) { return on.scan(where, a); });
}
/// Unfinished sums of nodes, and terms. Pre: something to write.
inline void sum_interval(const executor& where, const interval_arguments& a) {
  return with_backend(where, [&](const auto& on) { return on.sum_interval(where, a); });
}
/// Joins nodes, and words of exact sums. Without peer buffers (only cuda has them) nodes are
/// local and words never joined.
inline void join_nodes(const executor& where, const join_arguments& a) {
  return with_backend(where, [&](const auto& on) { return on.join_nodes(where, a); });
}
inline void join_words(const executor& where, const join_words_arguments& a) {
  return with_backend(where, [&](const auto& on) { return on.join_words(where, a); });
}
/// dot, sum, asum, nrm2 and weighted norms, correctly rounded or added to words; no int64
/// results.
inline void exact(const executor& where, const exact_arguments& a) {
  return with_backend(where, [&](const auto& on) { return on.exact(where, a); });
}
/// `exact` of dot, without the kernels of other sums where they are apart.
inline void exact_dot(const executor& where, const dot_arguments& a) {
  return with_backend(where, [&](const auto& on) {
    if constexpr (requires { on.exact_dot(where, a); }) {
      on.exact_dot(where, a);
    } else {
      on.exact(where, exact_of(a));
    }
  });
}
/// At least one of these, with equal options; by default one after another.
inline void multi_exact(const executor& where, std::span<const exact_arguments> all) {
  return with_backend(where, [&](const auto& on) { return on.multi_exact(where, all); });
}
inline void round_words(const executor& where, const round_arguments& a) {
  return with_backend(where, [&](const auto& on) { return on.round_words(where, a); });
}
/// A function with `has_function`, in the type `computation`. axpy, waxpby, add and sub come as
/// axpby with factors 1 and -1 (same bits); mul is alpha * x * y; updates with factor 0 come
/// without that vector. `y` is empty for one input. Complex vectors may come as real ones of
/// twice the size. Pre: not empty.
inline void transform(const executor& where, const transform_arguments& a, type computation) {
  return with_backend(where, [&](const auto& on) { return on.transform(where, a, computation); });
}
/// The steps of `step_of` (backends/common/elementwise/multi_axpy.hpp), one after another, in the
/// type `computation`; by default in calls of `transform`. Complex vectors and real factors may
/// come as real vectors of twice the size. alpha is in host memory or, if not `alpha_on_host`,
/// where kernels read it. Pre: a vector, not empty.
inline void multi_axpy(const executor& where, const multi_axpy_arguments& a, type computation,
                       bool alpha_on_host) {
  return with_backend(
      where, [&](const auto& on) { return on.multi_axpy(where, a, computation, alpha_on_host); });
}
/// `multi_axpy`, then `multi_dot` of each vector with y, complex if y is; by default in two calls.
/// Fails before the update or not at all. Pre: as of both; no words.
inline void multi_axpy_dot(const executor& where, const multi_axpy_arguments& update,
                           type computation, bool alpha_on_host, const multi_sum& sums) {
  return with_backend(where, [&](const auto& on) {
    return on.multi_axpy_dot(where, update, computation, alpha_on_host, sums);
  });
}
/// `transform`, then `dot` of the result with another vector or itself, nrm2, or `exact`; by
/// default in two calls. Fails before the update or not at all. Pre: not empty.
inline void fused(const executor& where, const fused_update& a) {
  return with_backend(where, [&](const auto& on) { return on.fused(where, a); });
}
/// Fills with a value of the elements' type. Pre: not empty.
inline void fill(const executor& where, const element_bytes& value, const output_operand& z) {
  return with_backend(where, [&](const auto& on) { return on.fill(where, value, z); });
}
/// Swaps disjoint vectors of one type. Pre: not empty.
inline void swap(const executor& where, const output_operand& x, const output_operand& y) {
  return with_backend(where, [&](const auto& on) { return on.swap(where, x, y); });
}
/// Gathers from, or scatters to, indices; one type. Pre: not empty.
inline void gather(const executor& where, const gather_arguments& a) {
  return with_backend(where, [&](const auto& on) { return on.gather(where, a); });
}
/// Calls the caller's function for parts (tree nodes) of a range, for transform and
/// transform_reduce. Errors begin with `function`.
inline void for_each_part(const executor& where, const char* function, std::size_t size,
                          const part_calls& calls) {
  return with_backend(
      where, [&](const auto& on) { return on.for_each_part(where, function, size, calls); });
}
/// Only iamax may have an empty vector.
inline void extremum(const executor& where, const extremum_arguments& a) {
  return with_backend(where, [&](const auto& on) { return on.extremum(where, a); });
}
/// bincount, histogram_even and histogram_range; samples may be empty. Pre: valid bounds and
/// edges, edges in host memory. bincount without `outside` waits and returns the first
/// out-of-range key; in host memory nothing is written then.
inline out_of_range_key histogram(const executor& where, const histogram_arguments& a) {
  return with_backend(where, [&](const auto& on) { return on.histogram(where, a); });
}
/// Sums rows in the row order (backends/common/order/row_order.hpp) or correctly rounded; y_i is
/// `scal` of the sum, or with `reads_addend()` `axpby`
/// (backends/common/elementwise/elementwise.hpp) with the addend, in detail::spmv_combination.
/// Pre: a row; a plan's analysis is of this matrix and backend.
inline void spmv(const executor& where, const csr_product& a) {
  return with_backend(where, [&](const auto& on) { return on.spmv(where, a); });
}
/// The products of several columns, each as by `spmv`; by default one after another.
inline void spmm(const executor& where, const csr_products& a) {
  return with_backend(where, [&](const auto& on) { return on.spmm(where, a); });
}
/// Pre: at least one row; no defects, if the analysis is of a matrix that `is_checked`.
inline std::shared_ptr<const spmv_analysis> analyse(const executor& where,
                                                    const csr_operand& matrix,
                                                    const planned_products& products) {
  return with_backend(where, [&](const auto& on) { return on.analyse(where, matrix, products); });
}
/// Stable transpose: terms of a column stay in row order. Waits. Pre: no defects, a column.
inline std::shared_ptr<const csr_transpose> transpose(const executor& where,
                                                      const csr_operand& matrix,
                                                      bool keeps_values) {
  return with_backend(where,
                      [&](const auto& on) { return on.transpose(where, matrix, keeps_values); });
}
/// Finds the first defect. Waits. Pre: consistent sizes.
inline csr_defect find_defect(const executor& where, const csr_operand& matrix) {
  return with_backend(where, [&](const auto& on) { return on.find_defect(where, matrix); });
}

}  // namespace tally::backends
