// Predicated loads from shared memory, side by side; plain code becomes branches, which wait for
// each load.
#pragma once

#include <cstdint>

namespace tally::backends::cuda {

/// Returns a shared-memory address for load_shared_if.
__device__ inline unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

/// Loads `to` if `wanted`, else leaves it.
__device__ inline void load_shared_if(bool wanted, unsigned from, std::int16_t& to) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.shared.b16 %0, [%1];}"
               : "+h"(to)
               : "r"(from), "r"(static_cast<unsigned>(wanted))
               : "memory");
}
__device__ inline void load_shared_if(bool wanted, unsigned from, float& to) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.shared.f32 %0, [%1];}"
               : "+f"(to)
               : "r"(from), "r"(static_cast<unsigned>(wanted))
               : "memory");
}
__device__ inline void load_shared_if(bool wanted, unsigned from, double& to) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.shared.f64 %0, [%1];}"
               : "+d"(to)
               : "r"(from), "r"(static_cast<unsigned>(wanted))
               : "memory");
}

}  // namespace tally::backends::cuda
