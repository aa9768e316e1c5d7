#include "backends/cuda/spmv.hpp"

#include <tally/error.hpp>

namespace tally::backends::cuda {
namespace {

[[noreturn]] void fail() { throw error(errc::missing_backend, "tally::spmv: not yet on cuda"); }

}  // namespace

void spmv(const executor&, const spmv_arguments&) { fail(); }

std::shared_ptr<const spmv_analysis> analyse(const executor&, const csr_operand&) { fail(); }

csr_defect find_defect(const executor&, const csr_operand&) { fail(); }

}  // namespace tally::backends::cuda
