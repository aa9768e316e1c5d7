#include "backends/common/order/interval_term.hpp"
#include "backends/cuda/device/kernel.cuh"
#include "backends/cuda/interval/kernels.hpp"

namespace tally::backends::cuda {
namespace {

template <class R>
__global__ void __launch_bounds__(threads_of_terms)
    write_terms(const __grid_constant__ terms_job job) {
  wait_for_launch_before();
  let_launch_after_start();
  const listed_terms& of = job.list[blockIdx.x];
  const unsigned i = blockIdx.y * threads_of_terms + threadIdx.x;
  if (static_cast<int>(i) >= of.n) return;
  const std::size_t bytes = sizeof(R) * (job.tag == 0 ? 1 : 2);
#pragma unroll 1
  for (unsigned k = 0; k < job.numbers; ++k) {
    const R term = interval_term<R>(job.what, of.x, of.y, k, i);
    deliver(term, job.tag, static_cast<char*>(of.to) + (k * of.stride + i) * bytes);
  }
}

}  // namespace

terms_kernel_function* terms_kernel(type number) {
  return number == type::float32 ? &write_terms<float> : &write_terms<double>;
}

}  // namespace tally::backends::cuda
