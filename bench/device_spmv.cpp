// Sparse matrix times vector on a CUDA device, matrix and vectors there: the device's own time; "n"
// is a matrix. Ours without and with a plan.
#include "bench/device.hpp"
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/device_peers.hpp"

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
  const auto make = [=] { return tally::spmv_plan(tally::cuda({.stream = stream()}), w.matrix); };
  const on_demand<tally::spmv_plan> plan(make);
  const bool is_name_alone = w.matrix.row_offsets.data == nullptr;
  contenders list = {on_device(
                         "tally::cuda", tally::cuda().description(),
                         [=](cudaStream_t s, void* y) { launched(s, y, nullptr); }, w),
                     on_device(
                         "tally::cuda plan", is_name_alone ? "" : plan().describe(),
                         [=](cudaStream_t s, void* y) { launched(s, y, &plan()); }, w)};
  list.back().set_up = [=] { make(); };
  return list;
}

const lane spmv_on_device = {
    .name = "spmv-cuda",
    .on_device = true,
    .what = operation::spmv,
    .sizes = [](const types& t, bool full) { return matrices_for(t, true, full); },
    .ways = ways};

}  // namespace bench
