// cuSPARSE: all CSR algorithms, after preprocessing and without, and SpMVOp's, with a plan.
#include "bench/peers/device_peers.hpp"
#include "bench/peers/library.hpp"

#include <cusparse.h>

#include <string>

// SpMVOp, with its opaque types as void: CUDA 13.0's header lacks it, newer ones call it
// experimental.
extern "C" {
cusparseStatus_t cusparseSpMVOp_bufferSize(cusparseHandle_t handle, cusparseOperation_t operation,
                                           cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                                           cusparseDnVecDescr_t y, cusparseDnVecDescr_t z,
                                           cudaDataType computation, int algorithm,
                                           std::size_t* bytes);
cusparseStatus_t cusparseSpMVOp_createDescr(cusparseHandle_t handle, void** description,
                                            cusparseOperation_t operation,
                                            cusparseConstSpMatDescr_t a,
                                            cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                            cusparseDnVecDescr_t z, cudaDataType computation,
                                            int algorithm, void* buffer);
cusparseStatus_t cusparseSpMVOp_createPlan(cusparseHandle_t handle, void* description, void** plan,
                                           const void* epilogue, std::size_t epilogue_bytes);
cusparseStatus_t cusparseSpMVOp_destroyPlan(void* plan);
cusparseStatus_t cusparseSpMVOp_destroyDescr(void* description);
cusparseStatus_t cusparseSpMVOp(cusparseHandle_t handle, void* plan, const void* alpha,
                                const void* beta, cusparseConstDnVecDescr_t x,
                                cusparseConstDnVecDescr_t y, cusparseDnVecDescr_t z);
}

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

/// A matrix, and factors of its type.
class matrix {
 public:
  explicit matrix(const workload& w)
      : type_(w.accumulator == tally::type::float64 ? CUDA_R_64F : CUDA_R_32F) {
    const tally::csr_operand& a = w.matrix;
    CUSPARSE_CALL(cusparseCreateCsr, &matrix_, size(a.rows), size(a.columns), size(a.nonzeros()),
                  of(a.row_offsets), of(a.column_indices), of(a.values), CUSPARSE_INDEX_32I,
                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type_);
  }
  ~matrix() {
    cusparse().function<decltype(cusparseDestroySpMat)>("cusparseDestroySpMat")(matrix_);
  }
  matrix(const matrix&) = delete;
  matrix& operator=(const matrix&) = delete;

 protected:
  static std::int64_t size(std::size_t n) { return static_cast<std::int64_t>(n); }
  static void* of(const tally::operand& v) { return const_cast<void*>(v.data); }
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
  cusparseSpMatDescr_t matrix_ = nullptr;
  device_memory buffer_;
};

/// A matrix with x and y.
class matrix_and_vectors : protected matrix {
 public:
  explicit matrix_and_vectors(const workload& w)
      : matrix(w),
        operation_(w.transposes() ? CUSPARSE_OPERATION_TRANSPOSE
                                  : CUSPARSE_OPERATION_NON_TRANSPOSE) {
    CUSPARSE_CALL(cusparseCreateDnVec, &x_, size(w.matrix.width()), of(w.x), type_);
    CUSPARSE_CALL(cusparseCreateDnVec, &y_, size(w.matrix.height()), w.z, type_);
  }
  ~matrix_and_vectors() {
    const auto destroy =
        cusparse().function<decltype(cusparseDestroyDnVec)>("cusparseDestroyDnVec");
    destroy(x_);
    destroy(y_);
  }

 protected:
  cusparseOperation_t operation_;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
};

class product : matrix_and_vectors {
 public:
  struct algorithm {
    cusparseSpMVAlg_t name;
    bool preprocesses = true;
  };

  product(const workload& w, algorithm which) : matrix_and_vectors(w), algorithm_(which.name) {
    std::size_t bytes = 0;
    CUSPARSE_CALL(cusparseSpMV_bufferSize, handle(), operation_, one(), matrix_, x_, zero(), y_,
                  type_, algorithm_, &bytes);
    buffer_ = device_memory(bytes);
    if (!which.preprocesses) return;
    CUSPARSE_CALL(cusparseSpMV_preprocess, handle(), operation_, one(), matrix_, x_, zero(), y_,
                  type_, algorithm_, buffer_.data());
  }

  void run() const {
    CUSPARSE_CALL(cusparseSpMV, handle(), operation_, one(), matrix_, x_, zero(), y_, type_,
                  algorithm_, buffer_.data());
  }

 private:
  cusparseSpMVAlg_t algorithm_;
};

/// A plan of SpMVOp, which needs nvJitLink.
class planned_product : matrix_and_vectors {
 public:
  enum algorithm { alg1 = 1, alg2 = 2 };

  planned_product(const workload& w, algorithm which) : matrix_and_vectors(w) {
    std::size_t bytes = 0;
    CUSPARSE_CALL(cusparseSpMVOp_bufferSize, handle(), operation_, matrix_, x_, y_, y_, type_,
                  which, &bytes);
    buffer_ = device_memory(bytes);
    CUSPARSE_CALL(cusparseSpMVOp_createDescr, handle(), &description_, operation_, matrix_, x_, y_,
                  y_, type_, which, buffer_.data());
    CUSPARSE_CALL(cusparseSpMVOp_createPlan, handle(), description_, &plan_, nullptr, 0);
  }
  ~planned_product() {
    cusparse().function<decltype(cusparseSpMVOp_destroyPlan)>("cusparseSpMVOp_destroyPlan")(plan_);
    cusparse().function<decltype(cusparseSpMVOp_destroyDescr)>("cusparseSpMVOp_destroyDescr")(
        description_);
  }

  void run() const { CUSPARSE_CALL(cusparseSpMVOp, handle(), plan_, one(), zero(), x_, y_, y_); }

 private:
  void *description_ = nullptr, *plan_ = nullptr;
};

/// Products of several vectors, in rows of X and Y.
class products : matrix {
 public:
  products(const workload& w, cusparseSpMMAlg_t algorithm) : matrix(w), algorithm_(algorithm) {
    const auto dense = [&](cusparseDnMatDescr_t* made, std::size_t rows, void* data) {
      CUSPARSE_CALL(cusparseCreateDnMat, made, size(rows), size(w.rows), size(w.rows), data, type_,
                    CUSPARSE_ORDER_ROW);
    };
    dense(&x_, w.matrix.width(), of(w.x));
    dense(&y_, w.matrix.height(), w.z);
    std::size_t bytes = 0;
    CUSPARSE_CALL(cusparseSpMM_bufferSize, handle(), plain, plain, one(), matrix_, x_, zero(), y_,
                  type_, algorithm_, &bytes);
    buffer_ = device_memory(bytes);
    CUSPARSE_CALL(cusparseSpMM_preprocess, handle(), plain, plain, one(), matrix_, x_, zero(), y_,
                  type_, algorithm_, buffer_.data());
  }
  ~products() {
    const auto destroy =
        cusparse().function<decltype(cusparseDestroyDnMat)>("cusparseDestroyDnMat");
    destroy(x_);
    destroy(y_);
  }

  void run() const {
    CUSPARSE_CALL(cusparseSpMM, handle(), plain, plain, one(), matrix_, x_, zero(), y_, type_,
                  algorithm_, buffer_.data());
  }

 private:
  static constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

  cusparseSpMMAlg_t algorithm_;
  cusparseDnMatDescr_t x_ = nullptr, y_ = nullptr;
};

/// An algorithm's candidate.
template <class Product, class Algorithm>
void add_to(contenders& list, const workload& w, const char* name, Algorithm algorithm,
            const char* how = ", with preprocess") {
  const auto make = [=] { return std::make_shared<Product>(w, algorithm); };
  const on_demand<std::shared_ptr<Product>> made(make);
  list.push_back(on_device(name, version() + how, [=](cudaStream_t, void*) { made()->run(); }, w));
  list.back().set_up = [=] {
    make();
    bench::check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  };
}

}  // namespace

contenders cusparse_on_device(const workload& w) {
  contenders list;
  if (!cusparse()) return list;
  using algorithm = product::algorithm;
  add_to<product>(list, w, "cuSPARSE CSR_ALG1", algorithm{CUSPARSE_SPMV_CSR_ALG1});
  add_to<product>(list, w, "cuSPARSE CSR_ALG2", algorithm{CUSPARSE_SPMV_CSR_ALG2});
  add_to<product>(list, w, "cuSPARSE CSR_ALG1 as it comes",
                  algorithm{CUSPARSE_SPMV_CSR_ALG1, false}, ", no preprocess");
  add_to<product>(list, w, "cuSPARSE CSR_ALG2 as it comes",
                  algorithm{CUSPARSE_SPMV_CSR_ALG2, false}, ", no preprocess");
  if (!w.transposes()) {  // else not supported
    add_to<planned_product>(list, w, "cuSPARSE SpMVOp ALG1", planned_product::alg1, ", a plan");
    add_to<planned_product>(list, w, "cuSPARSE SpMVOp ALG2", planned_product::alg2, ", a plan");
  }
  return list;
}

contenders cusparse_spmm_on_device(const workload& w) {
  contenders list;
  if (!cusparse()) return list;
  add_to<products>(list, w, "cuSPARSE CSR_ALG1", CUSPARSE_SPMM_CSR_ALG1);
  add_to<products>(list, w, "cuSPARSE CSR_ALG2", CUSPARSE_SPMM_CSR_ALG2);
  add_to<products>(list, w, "cuSPARSE CSR_ALG3", CUSPARSE_SPMM_CSR_ALG3);
  return list;
}

}  // namespace bench::peers
