/* A Kokkos tool that counts the kernels that Kokkos is asked to run: evidence for kokkos_runs.cpp.
 */
#include <stdint.h>

int kokkos_kernels = 0;

void kokkosp_begin_parallel_for(const char* name, uint32_t device, uint64_t* id) {
  (void)name, (void)device, *id = 0;
  ++kokkos_kernels;
}

void kokkosp_begin_parallel_reduce(const char* name, uint32_t device, uint64_t* id) {
  kokkosp_begin_parallel_for(name, device, id);
}
