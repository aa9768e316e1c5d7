// Other functions of sparse matrices on a CUDA device: products with several vectors, and functions
// of rows that wait for nothing, by the device's time; assembly and norms, which wait, by the
// call's. "n" is a matrix.
#include "bench/device.hpp"
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/device_peers.hpp"

#include <cstdint>
#include <memory>

namespace bench {
namespace {

contenders ours(const workload& w) {
  return {on_device(
      "tally::cuda", tally::cuda().description(),
      [=](cudaStream_t s, void* z) { compute(tally::cuda({.stream = s}), w, z, false); }, w)};
}

/// A candidate whose calls return when the result is there.
template <class F>
contender by_call(const workload& w, F f) {
  contender c = on_host("tally::cuda", tally::cuda().description(), w, [=] {
    f();
    check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  });
  c.compute = [=](void* result) {
    f();
    check(cudaMemcpy(result, w.z, w.result_bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  };
  return c;
}

contenders ways_of_spmm(const workload& w, bool) {
  contenders list = ours(w);
  const bool is_name_alone = w.matrix.row_offsets.data == nullptr;
  const auto make = [=] {
    return tally::spmv_plan(tally::cuda({.stream = stream()}), w.matrix, tally::fixed_columns);
  };
  const on_demand<tally::spmv_plan> plan(make);
  list.push_back(on_device(
      "tally::cuda plan, fixed columns", is_name_alone ? "" : plan().describe(),
      [=](cudaStream_t s, void* z) {
        tally::spmm(tally::cuda({.stream = s}), spmm_of(w, z, &plan()));
      },
      w));
  list.back().set_up = [=] { make(); };
  list += peers::cusparse_spmm_on_device(w);
  return list += limit_of_sparse(w, device_limit);
}

contenders ways_of_assembly(const workload& w, bool) {
  struct arrays {
    device_memory offsets, columns;
  };
  const on_demand<std::shared_ptr<arrays>> made([=] {
    constexpr std::size_t size = sizeof(std::int32_t);
    return std::make_shared<arrays>(device_memory((w.matrix.rows + 1) * size),
                                    device_memory(w.matrix.nonzeros() * size));
  });
  return {by_call(w, [=] {
    tally::csr_from_coo(tally::cuda({.stream = stream()}),
                        assembly_of(w, w.z, made()->offsets.data(), made()->columns.data()));
  })};
}

contenders ways_of_rows(const workload& w, bool) {
  contenders list;
  if (w.what == operation::row_norms) {
    list.push_back(by_call(w, [=] { compute(tally::cuda({.stream = stream()}), w, w.z, false); }));
  } else {
    list = ours(w);
  }
  return list += limit_of_sparse(w, device_limit);
}

std::vector<std::size_t> sizes(const types& t, bool full) {
  return few_matrices_for(t, true, full);
}

constexpr lane of(std::string_view name, operation what,
                  contenders (*ways)(const workload& w, bool full), std::size_t vectors = 1) {
  return {
      .name = name, .on_device = true, .what = what, .rows = vectors, .sizes = sizes, .ways = ways};
}

}  // namespace

constexpr lane lanes[] = {of("spmm-4-cuda", operation::spmm, ways_of_spmm, 4),
                          of("spmm-8-cuda", operation::spmm, ways_of_spmm, 8),
                          of("spmm-32-cuda", operation::spmm, ways_of_spmm, 32),
                          of("csr-from-coo-cuda", operation::assembly, ways_of_assembly),
                          of("diagonal-cuda", operation::diagonal, ways_of_rows),
                          of("row-norms-cuda", operation::row_norms, ways_of_rows),
                          of("scale-rows-cuda", operation::scale_rows, ways_of_rows)};
const std::span<const lane> device_sparse_lanes = lanes;

}  // namespace bench
