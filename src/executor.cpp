#include <tally/error.hpp>
#include <tally/executor.hpp>

#include "backends/backends.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/simd/vectors/instruction_set.hpp"
#include "src/detail/level_one.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace tally {
namespace {

[[noreturn]] void throw_missing(std::string_view function, std::string_view asked) {
  constexpr std::array<std::string_view, 3> optional = {"openmp", "cuda", "kokkos"};
  const bool is_backend = std::find(optional.begin(), optional.end(), asked) != optional.end();
  std::string text = "tally::" + std::string(function) + ": ";
  if (is_backend) {
    text += "this build has no " + std::string(asked) + " backend; it has ";
  } else {
    text += "there is no backend " + std::string(asked) + "; there are automatic, ";
  }
  for (const backends::backend* each : backends::instances) {
    if (each != backends::instances.front()) text += ", ";
    text += each->name;
  }
  throw error(errc::missing_backend, text);
}

}  // namespace

std::string_view name(instruction_set set) noexcept {
  switch (set) {
    case instruction_set::best:
      return "best";
    case instruction_set::baseline:
      return "baseline";
    case instruction_set::sse4:
      return "SSE4";
    case instruction_set::avx2:
      return "AVX2";
    case instruction_set::avx512:
      return "AVX-512";
    case instruction_set::neon:
      return "NEON";
    case instruction_set::sve:
      return "SVE";
    case instruction_set::rvv:
      return "RVV";
  }
  return "unknown";
}

std::string_view executor::name() const noexcept { return backend_ ? backend_->name : "automatic"; }

std::string executor::description() const {
  const std::string behind = backend_ ? backend_->describe(*this) : std::string();
  return std::string(name()) + (behind.empty() ? "" : " (" + behind + ")");
}

bool executor::reaches_host_memory() const {
  return backend_ == nullptr || backend_->reaches(*this, backends::place{});
}

executor serial() { return executor(&backends::serial::instance); }

executor simd(simd_options options) {
  if (name(options.instructions) == "unknown") {
    throw error(errc::invalid_argument, "tally::simd: instructions is " +
                                            std::to_string(static_cast<int>(options.instructions)) +
                                            ", which is no instruction set");
  }
  executor where(&backends::simd::instance);
  where.set_ = static_cast<std::int8_t>(backends::simd::resolve(options.instructions));
  where.chooses_instructions_ = options.instructions == instruction_set::best;
  where.level_one_ = level_one_of(options.instructions);
  return where;
}

executor automatic() {
  executor where(nullptr);
  where.chooses_instructions_ = true;
  where.level_one_ = level_one_of(instruction_set::best);
  return where;
}

executor openmp([[maybe_unused]] openmp_options options) {
#if TALLY_HAS_OPENMP
  if (options.threads < 0) {
    throw error(errc::invalid_argument, "tally::openmp: threads is " +
                                            std::to_string(options.threads) +
                                            "; it must be positive, or 0 for OpenMP's default");
  }
  if (options.threads > openmp_options::max_threads) {
    throw error(errc::invalid_argument, "tally::openmp: threads is " +
                                            std::to_string(options.threads) + "; there can be " +
                                            std::to_string(openmp_options::max_threads));
  }
  backends::openmp::require_usable();
  executor where(&backends::openmp::instance);
  where.level_one_ = level_one_of_threads();
  where.threads_ = options.threads;
  where.set_ = static_cast<std::int8_t>(backends::simd::resolve(instruction_set::best));
  where.chooses_instructions_ = true;
  return where;
#else
  throw_missing("openmp", "openmp");
#endif
}

executor cuda([[maybe_unused]] cuda_options options) {
#if TALLY_HAS_CUDA
  const backends::default_environment environment;  // for the driver, which may start here
  executor where(&backends::cuda::instance);
  where.device_ = static_cast<std::int16_t>(backends::cuda::resolve_device(options.device));
  where.queue_ = options.stream;
  return where;
#else
  throw_missing("cuda", "cuda");
#endif
}

executor kokkos() {
#if TALLY_HAS_KOKKOS
  backends::kokkos::initialize();
  return executor(&backends::kokkos::instance);
#else
  throw_missing("kokkos", "kokkos");
#endif
}

executor kokkos([[maybe_unused]] const detail::kokkos_instance& instance) {
#if TALLY_HAS_KOKKOS
  executor where = kokkos();
  if (const std::string_view space = backends::kokkos::space_name(); space != instance.space) {
    throw error(errc::invalid_argument,
                "tally::kokkos: the instance is of " + std::string(instance.space) +
                    "; Kokkos's default execution space is " + std::string(space));
  }
  where.queue_ = const_cast<void*>(instance.address);
  return where;
#else
  throw_missing("kokkos", "kokkos");
#endif
}

executor detail::executor_of(const kokkos_instance& instance) {
  const std::string_view space = instance.space;
#if TALLY_HAS_CUDA
  if (space == "Cuda") return cuda({.device = instance.device, .stream = instance.stream});
#endif
  const bool has_threads = space == "OpenMP" || space == "Threads" || space == "HPX";
#if TALLY_HAS_OPENMP
  if (has_threads) {
    return openmp({.threads = std::min(instance.threads, openmp_options::max_threads)});
  }
#endif
  return has_threads || space == "Serial" ? simd() : kokkos(instance);
}

std::span<const std::string_view> backend_names() {
  static const auto names = [] {
    std::array<std::string_view, backends::instances.size()> made;
    std::ranges::transform(backends::instances, made.begin(), &backends::backend::name);
    return made;
  }();
  return names;
}

executor executor_named(std::string_view name) {
  if (name == "automatic") return automatic();
  for (const backends::backend* each : backends::instances) {
    if (each->name == name) return each->make();
  }
  throw_missing("executor_named", name);
}

std::span<const instruction_set> instruction_sets() { return backends::simd::instruction_sets(); }

}  // namespace tally
