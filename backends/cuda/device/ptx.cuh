// Inline assembly of the kernels, an instruction a function. What a port to other devices has to
// write anew stands here, in <tally/detail/words.hpp>, <tally/user_functions/functions.cuh> and
// backends/common/elementwise/exponential.hpp. Arguments of __launch_bounds__ with a comma of their
// own are in brackets, as HIP's macro needs them.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tally::backends::cuda::ptx {

// --- Registers -----------------------------------------------------------------------------------

/// Makes the compiler forget how a value was computed: it neither computes it again nor keeps
/// others that it could be computed from.
template <class T>
__device__ void opaque(T& value) {
  if constexpr (std::is_same_v<T, double>) {
    asm volatile("" : "+d"(value));
  } else if constexpr (sizeof(T) == 8) {
    asm volatile("" : "+l"(value));
  } else if constexpr (sizeof(T) == 4) {
    asm volatile("" : "+r"(value));
  } else {
    asm volatile("" : "+h"(value));
  }
}

// --- Numbers -------------------------------------------------------------------------------------

__device__ inline float widened(std::uint16_t float16_bits) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(float16_bits));
  return wide;
}
__device__ inline std::uint16_t to_float16(float value) {
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
/// Two numbers of 16 bits in one register.
__device__ inline std::uint32_t to_float16(float low, float high) {
  std::uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ inline std::uint32_t to_bfloat16(float low, float high) {
  std::uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

/// Relative error: at most 2^-22.
__device__ inline float approximate_power_of_two(float x) {
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(x));
  return x;
}
__device__ inline float approximate_reciprocal(float x) {
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(x) : "f"(x));
  return x;
}

/// Returns the greater (or less) number; NaN if either is. Compute capability 8.
template <bool greater>
__device__ float better(float best, float number) {
  if constexpr (greater) {
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(best) : "f"(best), "f"(number));
  } else {
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(best) : "f"(best), "f"(number));
  }
  return best;
}
template <bool greater>
__device__ std::uint32_t better_float16(std::uint32_t best, std::uint32_t pair) {
  if constexpr (greater) {
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(best) : "r"(best), "r"(pair));
  } else {
    asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(best) : "r"(best), "r"(pair));
  }
  return best;
}
template <bool greater>
__device__ std::uint32_t better_bfloat16(std::uint32_t best, std::uint32_t pair) {
  if constexpr (greater) {
    asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(best) : "r"(best), "r"(pair));
  } else {
    asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(best) : "r"(best), "r"(pair));
  }
  return best;
}

// --- Loads without a branch ----------------------------------------------------------------------

/// Loads `to` if `wanted`, else leaves it.
__device__ inline void load_if(bool wanted, const void* from, std::uint16_t& to) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.b16 %0, [%1];}"
               : "+h"(to)
               : "l"(from), "r"(static_cast<unsigned>(wanted)));
}
__device__ inline void load_if(bool wanted, const void* from, std::uint32_t& to) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.b32 %0, [%1];}"
               : "+r"(to)
               : "l"(from), "r"(static_cast<unsigned>(wanted)));
}
__device__ inline void load_if(bool wanted, const void* from, std::uint64_t& to) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.b64 %0, [%1];}"
               : "+l"(to)
               : "l"(from), "r"(static_cast<unsigned>(wanted)));
}

/// The same past the first cache, of what is needed once.
__device__ inline void stream_if(bool wanted, const void* from, std::uint16_t& to) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.L1::no_allocate.b16 %0, [%1];}"
               : "+h"(to)
               : "l"(from), "r"(static_cast<unsigned>(wanted)));
}
__device__ inline void stream_if(bool wanted, const void* from, std::uint32_t& to) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.L1::no_allocate.b32 %0, [%1];}"
               : "+r"(to)
               : "l"(from), "r"(static_cast<unsigned>(wanted)));
}
__device__ inline void stream_if(bool wanted, const void* from, std::uint64_t& to) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.L1::no_allocate.b64 %0, [%1];}"
               : "+l"(to)
               : "l"(from), "r"(static_cast<unsigned>(wanted)));
}

/// The same as load_if from an address in shared memory.
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

/// Loads from shared memory if `code` is negative, else from global memory.
__device__ inline void load_by_sign(std::int32_t code, unsigned shared, const double* global,
                                    double& to) {
  asm volatile(
      "{.reg .pred p; setp.lt.s32 p, %3, 0; @p ld.shared.f64 %0, [%1]; "
      "@!p ld.global.f64 %0, [%2];}"
      : "=d"(to)
      : "r"(shared), "l"(global), "r"(code));
}
__device__ inline void load_by_sign(std::int32_t code, unsigned shared, const float* global,
                                    float& to) {
  asm volatile(
      "{.reg .pred p; setp.lt.s32 p, %3, 0; @p ld.shared.f32 %0, [%1]; "
      "@!p ld.global.f32 %0, [%2];}"
      : "=f"(to)
      : "r"(shared), "l"(global), "r"(code));
}

// --- Shared memory, by its 32-bit addresses ------------------------------------------------------

__device__ inline std::uint32_t load_shared(std::uint32_t address) {
  std::uint32_t word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address));
  return word;
}
template <int n>
__device__ void add_shared(std::uint32_t address) {
  asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(address), "n"(n) : "memory");
}

/// Barrier `number` of `threads` of the block.
__device__ inline void synchronise(unsigned number, unsigned threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// --- Between blocks and devices ------------------------------------------------------------------

// Relaxed, at the scope of all devices.
__device__ inline void store_to_device(std::uint64_t* to, std::uint64_t word) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}
__device__ inline std::uint64_t load_of_device(const std::uint64_t* from) {
  std::uint64_t word;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
  return word;
}

// --- Compute capability 9; nothing before --------------------------------------------------------

__device__ inline void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline void let_launch_after_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

__device__ inline void init_barrier([[maybe_unused]] unsigned barrier,
                                    [[maybe_unused]] unsigned arrivals) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
#endif
}
/// Orders the threads' accesses to shared memory before bulk copies.
__device__ inline void fence_before_copy() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
__device__ inline void arrive([[maybe_unused]] unsigned barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
#endif
}
__device__ inline void arrive_and_expect([[maybe_unused]] unsigned barrier,
                                         [[maybe_unused]] unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
#endif
}
__device__ inline void copy_in_bulk([[maybe_unused]] unsigned to, [[maybe_unused]] const void* from,
                                    [[maybe_unused]] unsigned bytes,
                                    [[maybe_unused]] unsigned barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
      "[%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
#endif
}
/// Waits a while; returns whether the barrier's phase of this parity has completed.
__device__ inline bool has_completed([[maybe_unused]] unsigned barrier,
                                     [[maybe_unused]] unsigned parity) {
  unsigned there = 1;
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
      "selp.u32 %0, 1, 0, p;}"
      : "=r"(there)
      : "r"(barrier), "r"(parity)
      : "memory");
#endif
  return there != 0;
}

}  // namespace tally::backends::cuda::ptx
