// A std::vector of the caller's as the library sees it. In a program in libstdc++'s debug mode
// (_GLIBCXX_DEBUG) a vector has another layout than in the library, so none crosses the border.
#pragma once

#include <cstddef>
#include <vector>

namespace tally {

/// Refers to a vector, for as long as that lives.
template <class T>
class vector_reference {
 public:
  /// Refers to this one.
  vector_reference(std::vector<T>& vector)
      : vector_(&vector), resize_([](void* resized, std::size_t size) {
          auto& all = *static_cast<std::vector<T>*>(resized);
          all.resize(size);
          return all.data();
        }) {}

  /// Resizes as std::vector does, so that growing step by step takes linear time. Returns its data.
  T* resize(std::size_t size) const { return resize_(vector_, size); }

 private:
  void* vector_;
  T* (*resize_)(void* resized, std::size_t size);
};

}  // namespace tally
