// The caller's std::vector as the library sees it: in libstdc++'s debug mode (_GLIBCXX_DEBUG)
// layouts differ, so none crosses the library's border.
#pragma once

#include <cstddef>
#include <vector>

namespace tally {

/// A reference to a vector.
template <class T>
class vector_reference {
 public:
  /// Refers to `vector`.
  vector_reference(std::vector<T>& vector)
      : vector_(&vector), resize_([](void* resized, std::size_t size) {
          auto& all = *static_cast<std::vector<T>*>(resized);
          all.resize(size);
          return all.data();
        }) {}

  /// Resizes in amortised linear time, as std::vector. Returns the data.
  T* resize(std::size_t size) const { return resize_(vector_, size); }

 private:
  void* vector_;
  T* (*resize_)(void* resized, std::size_t size);
};

}  // namespace tally
