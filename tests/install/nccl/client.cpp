// On one GPU, where there is one.
#include <tally/nccl.hpp>
#include <tally/tally.hpp>

#include <span>
#include <vector>

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 0;
  ncclComm_t comm = nullptr;
  const int device = 0;
  if (ncclCommInitAll(&comm, 1, &device) != ncclSuccess) return 1;
  bool agrees = false;
  {
    const tally::executor where = tally::cuda({.device = device});
    const std::vector<double> x(3000, 0.1);
    const tally::buffer memory(where, x.size() * sizeof(double));
    tally::copy_bytes(where, x.data(), memory.get(), memory.bytes());
    const std::span<const double> on_device(static_cast<const double*>(memory.get()), x.size());
    const tally::nccl::communicator over(comm, where);
    const tally::nccl::layout l(over, where, 3000);
    agrees = tally::nccl::dot(l, where, on_device, on_device) == tally::dot(tally::serial(), x, x);
  }
  return agrees && ncclCommDestroy(comm) == ncclSuccess ? 0 : 1;
}
