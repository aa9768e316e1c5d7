#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tally {

/// At most size - 1 bytes, without allocation or destructor. Cut before "...", not within a UTF-8
/// character.
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
