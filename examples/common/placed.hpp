// Memory that an executor's kernels reach.
#pragma once

#include <tally/tally.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace example {

inline bool is_on_device(const tally::executor& where) { return !where.reaches_host_memory(); }

/// The heap, or a device. An operand, by data() and size().
template <class T>
class placed {
 public:
  using value_type = T;

  /// Zeros.
  placed(const tally::executor& where, std::size_t n) : placed(where, std::vector<T>(n)) {}
  placed(const tally::executor& where, std::vector<T> values)
      : where_(where), size_(values.size()) {
    if (is_on_device(where)) {
      device_ = tally::buffer(where, size_ * sizeof(T));
      assign(values);
    } else {
      host_ = std::move(values);
    }
  }
  placed(const placed&) = delete;
  placed& operator=(const placed&) = delete;

  const tally::executor& where() const { return where_; }
  std::size_t size() const { return size_; }
  T* data() { return is_on_device(where_) ? static_cast<T*>(device_.get()) : host_.data(); }
  const T* data() const { return const_cast<placed*>(this)->data(); }

  /// After the work queued on the executor.
  std::span<const T> on_host() const {
    if (is_on_device(where_)) {
      host_.resize(size_);
      tally::copy_bytes(where_, device_.get(), host_.data(), size_ * sizeof(T));
    }
    return host_;
  }

  void assign(std::span<const T> values) {
    if (is_on_device(where_)) {
      tally::copy_bytes(where_, values.data(), device_.get(), size_ * sizeof(T));
    } else {
      std::copy(values.begin(), values.end(), host_.begin());
    }
  }

 private:
  tally::executor where_;
  std::size_t size_;
  mutable std::vector<T> host_;
  tally::buffer device_;
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
