// This file lists what a source of this column was compiled to, one implementation for each
// instruction set. A source includes it last, where HWY_ONCE is defined. Before that it has defined
// `implementation`, whose first member is its `set`, and in the namespace of every target a
// constant `this_target`.

namespace tally::backends::simd {
namespace {

/// Lists all implementations that this build has. The last is what the compiler's own flags allow.
constexpr const implementation* implementations[] = {
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_SSE4
    &N_SSE4::this_target,
#endif
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_AVX2
    &N_AVX2::this_target,
#endif
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_AVX3
    &N_AVX3::this_target,
#endif
#if HWY_TARGETS & ~HWY_STATIC_TARGET & HWY_NEON
    &N_NEON::this_target,
#endif
    &HWY_NAMESPACE::this_target,
};

constexpr auto by_instruction_set = by_set(implementations);

const implementation& implementation_of(instruction_set set) {
  return *by_instruction_set[static_cast<std::size_t>(set)];
}

}  // namespace
}  // namespace tally::backends::simd
