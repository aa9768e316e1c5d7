// spmv on a CUDA device: device time; "n" is a matrix. Ours without and with plans.
#include "bench/device.hpp"
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/device_peers.hpp"

#include <functional>

namespace bench {
namespace {

contenders ways(const workload& w, bool) {
  contenders list = ours_of_spmv_on_device(w);
  list += peers::cusparse_on_device(w);
  return list += limit_of_spmv(w, device_limit);
}

}  // namespace

contenders ours_of_spmv_on_device(const workload& w) {
  const auto launched = [=](cudaStream_t s, void* y, const tally::spmv_plan* plan) {
    tally::spmv(tally::cuda({.stream = s}), spmv_of(w, y, plan));
  };
  const bool is_name_alone = w.matrix.row_offsets.data == nullptr;
  contenders list;
  const auto add_planned = [&](const char* name, const std::function<tally::spmv_plan()>& make) {
    const on_demand<tally::spmv_plan> plan(make);
    list.push_back(on_device(
        name, is_name_alone ? "" : plan().describe(),
        [=](cudaStream_t s, void* y) { launched(s, y, &plan()); }, w));
    list.back().set_up = [=] { make(); };
  };
  const auto where = [] { return tally::cuda({.stream = stream()}); };
  if (!w.transposes()) {  // without a plan a transpose can't be captured
    list.push_back(on_device(
        "tally::cuda", tally::cuda().description(),
        [=](cudaStream_t s, void* y) { launched(s, y, nullptr); }, w));
  }
  add_planned("tally::cuda plan", [=] { return tally::spmv_plan(where(), w.matrix); });
  if (!w.transposes()) {
    add_planned("tally::cuda plan, fixed columns",
                [=] { return tally::spmv_plan(where(), w.matrix, {.fixed_columns = true}); });
  } else {
    add_planned("tally::cuda plan, fixed values",
                [=] { return tally::spmv_plan(where(), w.matrix, {.fixed_values = true}); });
  }
  return list;
}

constexpr lane lanes[] = {
    {.name = "spmv-cuda",
     .on_device = true,
     .what = operation::spmv,
     .sizes = [](const types& t, bool full) { return matrices_for(t, true, full); },
     .ways = ways},
    {.name = "spmv-transpose-cuda",
     .on_device = true,
     .what = operation::spmv,
     .transposes = true,
     .sizes = [](const types& t, bool full) { return few_matrices_for(t, true, full); },
     .ways = ways},
};
const std::span<const lane> device_spmv_lanes = lanes;

}  // namespace bench
