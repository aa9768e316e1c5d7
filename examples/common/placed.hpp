// Memory that an executor's kernels reach.
#pragma once

#include <tally/tally.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#if TALLY_HAS_CUDA
#include <cuda_runtime.h>
#endif

namespace example {

inline bool is_on_device(const tally::executor& where) { return where.name() == "cuda"; }

#if TALLY_HAS_CUDA
inline void check_cuda(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}
#endif

/// The heap, or a device. An operand, by data() and size().
template <class T>
class placed {
 public:
  using value_type = T;

  /// Zeros.
  placed(const tally::executor& where, std::size_t n) : placed(where, std::vector<T>(n)) {}
  placed(const tally::executor& where, std::vector<T> values)
      : where_(where), size_(values.size()) {
    if (!is_on_device(where)) {
      host_ = std::move(values);
      return;
    }
#if TALLY_HAS_CUDA
    check_cuda(cudaSetDevice(where.device()));
    check_cuda(cudaMalloc(&device_, size_ * sizeof(T)));
#endif
    assign(values);
  }
  ~placed() {
#if TALLY_HAS_CUDA
    cudaFree(device_);
#endif
  }
  placed(const placed&) = delete;
  placed& operator=(const placed&) = delete;

  const tally::executor& where() const { return where_; }
  std::size_t size() const { return size_; }
  T* data() { return is_on_device(where_) ? static_cast<T*>(device_) : host_.data(); }
  const T* data() const { return const_cast<placed*>(this)->data(); }

  /// After all work queued on the default stream.
  std::span<const T> on_host() const {
#if TALLY_HAS_CUDA
    if (is_on_device(where_)) {
      host_.resize(size_);
      check_cuda(cudaMemcpy(host_.data(), device_, size_ * sizeof(T), cudaMemcpyDefault));
    }
#endif
    return host_;
  }

  void assign(std::span<const T> values) {
#if TALLY_HAS_CUDA
    if (is_on_device(where_)) {
      check_cuda(cudaMemcpy(device_, values.data(), size_ * sizeof(T), cudaMemcpyDefault));
      return;
    }
#endif
    std::copy(values.begin(), values.end(), host_.begin());
  }

 private:
  tally::executor where_;
  std::size_t size_;
  mutable std::vector<T> host_;
  void* device_ = nullptr;
};

/// Host data for an executor: in place, or a device's copy.
template <class T>
class readable {
 public:
  readable(const tally::executor& where, std::span<const T> values) : elements_(values) {
    if (is_on_device(where)) {
      copy_ = std::make_unique<placed<T>>(where, std::vector<T>(values.begin(), values.end()));
      elements_ = {copy_->data(), copy_->size()};
    }
  }

  std::span<const T> operator*() const { return elements_; }

 private:
  std::unique_ptr<placed<T>> copy_;
  std::span<const T> elements_;
};

}  // namespace example
