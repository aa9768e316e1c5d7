// Command-line arguments.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace example {

template <class Number, class... Base>
Number parse(std::string_view word, Base... base) {
  Number value{};
  const char* const last = word.data() + word.size();
  const auto [end, status] = std::from_chars(word.data(), last, value, base...);
  if (end != last || status != std::errc{}) {
    throw std::runtime_error("\"" + std::string(word) + "\" is not a number that fits here");
  }
  return value;
}

}  // namespace example
