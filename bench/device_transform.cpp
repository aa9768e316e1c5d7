// Element-wise functions on a CUDA device: device time.
#include "bench/device.hpp"
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/device_peers.hpp"

namespace bench {
namespace {

std::vector<std::size_t> powers(bool full) {
  if (!full) return {std::size_t{1} << 20, std::size_t{1} << 28};
  std::vector<std::size_t> list;
  for (int k = 10; k <= 28; k += 2) list.push_back(std::size_t{1} << k);
  return list;
}

std::vector<std::size_t> sizes(const types& t, bool full) {
  if (t != types_of(pair<double, double>{}) && t != types_of(pair<float, float>{})) return {};
  return powers(full);
}
std::vector<std::size_t> sizes_with_short_floats(const types& t, bool full) {
  using namespace tally;
  if (t != types_of(pair<float16, float16>{}) && t != types_of(pair<bfloat16, bfloat16>{}))
    return sizes(t, full);
  return powers(full);
}

std::vector<std::size_t> longest(const types& t, bool full) {
  if (full) return sizes(t, full);
  if (t != types_of(pair<double, double>{})) return {};
  return {powers(full).back()};
}
std::vector<std::size_t> sizes_in_full(const types& t, bool full) {
  return full ? sizes(t, full) : std::vector<std::size_t>{};
}

contenders ways(const workload& w, bool) {
  contenders list;
  list.push_back(on_device(
      "tally::cuda", tally::cuda().description(),
      [w](cudaStream_t s, void* z) { compute(tally::cuda({.stream = s}), w, z, false); }, w));
  for (source* other : {device_limit, peers::cub_elementwise_on_device,
                        peers::cublas_updates_on_device, peers::cccl_on_device})
    list += other(w);
  return list;
}

constexpr lane of(std::string_view name, operation what,
                  std::vector<std::size_t> (*sizes_of)(const types& t, bool full) = sizes,
                  values drawn = values::uniform, std::size_t skipped = 0) {
  return {.name = name,
          .on_device = true,
          .drawn = drawn,
          .what = what,
          .skipped = skipped,
          .sizes = sizes_of,
          .ways = ways};
}

}  // namespace

constexpr lane lanes[] = {
    of("copy-cuda", operation::copy),
    of("axpy-cuda", operation::axpy),
    of("waxpby-cuda", operation::waxpby, longest),
    of("axpbypcz-cuda", operation::axpbypcz, longest),
    of("add-cuda", operation::add),
    of("mul-cuda", operation::mul, sizes_in_full),
    of("relu-cuda", operation::relu, sizes_with_short_floats),
    of("sigmoid-cuda", operation::sigmoid, sizes_with_short_floats),
    of("exp-cuda", operation::exp),
    of("inv-cuda", operation::inv, longest),
    of("abs-cuda", operation::abs, longest),
    of("sqrt-cuda", operation::sqrt, longest, values::positive),
    of("log-cuda", operation::log, longest, values::positive),
    of("tanh-cuda", operation::tanh, longest),
    of("sign-cuda", operation::sign, longest),
    of("scale-cuda", operation::scale, longest),
    of("add-constant-cuda", operation::add_constant, longest),
    of("clamp-cuda", operation::clamp, longest),
    of("pow-cuda", operation::pow, longest),
    of("compare-constant-cuda", operation::compare_constant, longest),
    of("div-cuda", operation::div, longest),
    of("minimum-cuda", operation::minimum, longest),
    of("maximum-cuda", operation::maximum, longest),
    of("compare-cuda", operation::compare, longest),
    of("where-cuda", operation::where, longest),
    of("jacobi-step-cuda", operation::jacobi_step, longest),
    of("scan-cuda", operation::scan),
    of("add-cuda-odd", operation::add, sizes, values::uniform, 1),
    of("sigmoid-cuda-odd", operation::sigmoid, sizes, values::uniform, 1),
};
const std::span<const lane> device_transform_lanes = lanes;

}  // namespace bench
