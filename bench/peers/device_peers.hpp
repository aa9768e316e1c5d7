// Libraries on a CUDA device, with results in device memory and on the host.
#pragma once

#include "bench/device.hpp"

namespace bench::peers {

/// Within device memory; null without cuBLAS or for types that it lacks.
launch cublas_dot(const workload& w);

source cublas_on_device;
source cublas_to_host;
source cub_on_device;
source cub_to_host;
source cublas_of_one_on_device;    // of x alone: asum, iamax
source cub_of_one_on_device;       // sum, asum, max
source cublas_rows_on_device;      // several at once (workload::rows): gemv, batched gemv
source cublas_updates_on_device;   // axpy in place, as BLAS has it; waxpby and axpbypcz by several
                                   // calls
source cublas_fused_on_device;     // an update with a sum in several calls
source cccl_on_device;             // the same, with another CCCL's CUB and Thrust
source cub_elementwise_on_device;  // CUB's DeviceTransform, Thrust's transform
source cusparse_on_device;         // sparse matrix times vector, both CSR algorithms
source cusparse_spmm_on_device;    // times several vectors, all three
source cublas_several_on_device;   // gemv, and multi_axpy by it
source cub_several_on_device;      // CUB's segmented sum: of segments, of rows
source atomics_on_device;          // atomics in memory: scatter_add
source histogram_on_device;        // CUB, sorting and counting, atomics in memory

}  // namespace bench::peers
