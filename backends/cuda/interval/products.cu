#include "backends/cuda/dot/kernel.cuh"
#include "backends/cuda/interval/kernel.cuh"

namespace tally::backends::cuda {
namespace {

template <class X>
using own_products = products<dot_result_t<X, X>, X, X>;

template <class A, class X>
vectors_kernel products_kernel(type x, type y) {
  return with_contiguous<A, own_products, products<A, X, A>>(x == y ? x : type::boolean);
}

}  // namespace

vectors_kernel products_kernel_of(type accumulator, type x, type y) {
  return with_type<interval_accumulators>(accumulator, [&]<class A>() {
    return is_complex(x) ? products_kernel<A, A>(x, y) : products_kernel<A, real_t<A>>(x, y);
  });
}

}  // namespace tally::backends::cuda
