// cuSPARSE: both CSR algorithms, after preprocessing.
#include "bench/peers/device_peers.hpp"
#include "bench/peers/library.hpp"

#include <cusparse.h>

#include <string>

namespace bench::peers {
namespace {

void check(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(call) + ": status " + std::to_string(status));
}

const library& cusparse() {
  static const std::string name = "libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR);
  static const library l{name, TALLY_BENCH_CUDA_LIBRARY_DIR "/" + name};
  return l;
}

#define CUSPARSE_CALL(name, ...) \
  check(cusparse().function<decltype(name)>(#name)(__VA_ARGS__), #name)

/// A handle on stream().
cusparseHandle_t handle() {
  static const cusparseHandle_t created = [] {
    cusparseHandle_t h = nullptr;
    CUSPARSE_CALL(cusparseCreate, &h);
    CUSPARSE_CALL(cusparseSetStream, h, stream());
    return h;
  }();
  return created;
}

std::string version() {
  int value = 0;
  CUSPARSE_CALL(cusparseGetVersion, handle(), &value);
  return std::to_string(value);
}

class product {
 public:
  product(const workload& w, cusparseSpMVAlg_t algorithm)
      : type_(w.accumulator == tally::type::float64 ? CUDA_R_64F : CUDA_R_32F),
        algorithm_(algorithm),
        operation_(w.transposes() ? CUSPARSE_OPERATION_TRANSPOSE
                                  : CUSPARSE_OPERATION_NON_TRANSPOSE) {
    const tally::csr_operand& a = w.matrix;
    const auto rows = static_cast<std::int64_t>(a.rows);
    const auto columns = static_cast<std::int64_t>(a.columns);
    const auto of = [](const tally::operand& v) { return const_cast<void*>(v.data); };
    CUSPARSE_CALL(cusparseCreateCsr, &matrix_, rows, columns,
                  static_cast<std::int64_t>(a.nonzeros()), of(a.row_offsets), of(a.column_indices),
                  of(a.values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                  type_);
    const auto size = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    CUSPARSE_CALL(cusparseCreateDnVec, &x_, size(a.width()), of(w.x), type_);
    CUSPARSE_CALL(cusparseCreateDnVec, &y_, size(a.height()), w.z, type_);
    std::size_t bytes = 0;
    CUSPARSE_CALL(cusparseSpMV_bufferSize, handle(), operation_, one(), matrix_, x_, zero(), y_,
                  type_, algorithm_, &bytes);
    buffer_ = device_memory(bytes);
    CUSPARSE_CALL(cusparseSpMV_preprocess, handle(), operation_, one(), matrix_, x_, zero(), y_,
                  type_, algorithm_, buffer_.data());
  }
  ~product() {
    cusparse().function<decltype(cusparseDestroySpMat)>("cusparseDestroySpMat")(matrix_);
    const auto destroy =
        cusparse().function<decltype(cusparseDestroyDnVec)>("cusparseDestroyDnVec");
    destroy(x_);
    destroy(y_);
  }
  product(const product&) = delete;
  product& operator=(const product&) = delete;

  void run() const {
    CUSPARSE_CALL(cusparseSpMV, handle(), operation_, one(), matrix_, x_, zero(), y_, type_,
                  algorithm_, buffer_.data());
  }

 private:
  const void* one() const {
    return type_ == CUDA_R_64F ? static_cast<const void*>(&ones.d) : &ones.f;
  }
  const void* zero() const {
    return type_ == CUDA_R_64F ? static_cast<const void*>(&zeros.d) : &zeros.f;
  }
  static constexpr struct {
    double d;
    float f;
  } ones = {1, 1}, zeros = {0, 0};

  cudaDataType type_;
  cusparseSpMVAlg_t algorithm_;
  cusparseOperation_t operation_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
  device_memory buffer_;
};

}  // namespace

contenders cusparse_on_device(const workload& w) {
  contenders list;
  if (!cusparse()) return list;
  const auto add = [&](const char* name, cusparseSpMVAlg_t algorithm) {
    const auto make = [=] { return std::make_shared<product>(w, algorithm); };
    const on_demand<std::shared_ptr<product>> made(make);
    list.push_back(on_device(
        name, version() + ", with preprocess", [=](cudaStream_t, void*) { made()->run(); }, w));
    list.back().set_up = [=] {
      make();
      bench::check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    };
  };
  add("cuSPARSE CSR_ALG1", CUSPARSE_SPMV_CSR_ALG1);
  add("cuSPARSE CSR_ALG2", CUSPARSE_SPMV_CSR_ALG2);
  return list;
}

}  // namespace bench::peers
