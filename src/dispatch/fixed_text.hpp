#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tally {

/// A text of at most size - 1 bytes, in place: it allocates nothing and needs no destructor. One
/// that is longer is cut before "...", and not within a character of UTF-8.
template <std::size_t size>
class fixed_text {
 public:
  void assign(std::string_view text) noexcept {
    constexpr std::string_view mark = "...";
    std::size_t length = text.size();
    if (length >= size) {
      length = size - 1 - mark.size();
      while (length > 0 && (text[length] & 0xc0) == 0x80) --length;
    }
    char* const end = std::copy_n(text.begin(), length, bytes_);
    *(length < text.size() ? std::copy(mark.begin(), mark.end(), end) : end) = '\0';
  }
  const char* c_str() const noexcept { return bytes_; }

 private:
  char bytes_[size] = {};
};

}  // namespace tally
