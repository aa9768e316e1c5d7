// Implementations of a source, one per instruction set. Included last, under HWY_ONCE, by a source
// that has defined `implementation`, with `set` as its first member, and in each target's namespace
// a constant `this_target`.

namespace tally::backends::simd {
namespace {

/// The last is the one that the compiler's flags allow.
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
