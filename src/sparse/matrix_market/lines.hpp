// Lines and words of a Matrix Market file, plain or gzip, with line numbers for errors.
#pragma once

#include "src/check.hpp"

#include <tally/error.hpp>
#include <tally/sparse/matrix_market.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <istream>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tally::matrix_market {

using options = matrix_market_options;

/// File and reading function, for messages.
struct source {
  std::string_view function, file;

  template <class... Part>
  [[noreturn, gnu::cold]] void fail(const Part&... parts) const {
    check(function).fail(errc::unreadable_file, file, ": ", parts...);
  }
  [[noreturn, gnu::cold]] void fail_too_many_bytes(const options& limits) const {
    fail("it has more than ", limits.max_bytes, " bytes (matrix_market_options::max_bytes)");
  }
};

/// Shortened and printable.
std::string shown(std::string_view word);

/// Quoted `shown(word)`.
std::string quoted(std::string_view word);

class byte_source {
 public:
  virtual ~byte_source() = default;
  /// Reads up to `size` bytes and returns their number; 0 at the end.
  virtual std::size_t read(char* to, std::size_t size) = 0;
  /// Whether reading can begin at any byte.
  virtual bool are_plain() const = 0;
};

/// Decompressed if gzip.
std::unique_ptr<byte_source> bytes_of(std::istream& stream, const source& from,
                                      const options& limits);

/// Unmodified.
std::unique_ptr<byte_source> plain_bytes_of(std::istream& stream, const source& from);

class line_reader {
 public:
  line_reader(byte_source& bytes, const source& from, const options& limits)
      : bytes_(bytes),
        from_(from),
        limits_(limits),
        buffer_(std::min(initial_size, longest_line())) {}

  /// Bytes of lines read, with their ends.
  std::uint64_t position() const { return bytes_read_ - (end_ - begin_); }

  /// `lines_before()`, called on an error, returns the number of lines before the first.
  void follow(std::function<std::size_t()> lines_before) {
    lines_before_ = std::move(lines_before);
  }

  /// Ends before the first line at or after `position`.
  void stop_at(std::uint64_t position) { stop_ = position; }

  /// Reads the next line, without its end; valid until the next call. False at the end.
  bool next(std::string_view& line) {
    if (position() >= stop_) return false;
    const char* const newline = find_newline();
    if (newline == nullptr && begin_ == end_) return false;
    const char* const first = buffer_.data() + begin_;
    const char* const last = newline != nullptr ? newline : buffer_.data() + end_;
    begin_ += static_cast<std::size_t>(last - first) + (newline != nullptr ? 1 : 0);
    ++number_;
    line = {first, static_cast<std::size_t>(last - first)};
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > limits_.max_line) fail_too_long();
    return true;
  }

  /// Skips blank lines and comments.
  bool next_with_data(std::string_view& line) {
    while (next(line)) {
      const std::size_t start = line.find_first_not_of(" \t");
      if (start != line.npos && line[start] != '%') return true;
      skipped_ += line.size() + 1;
      if (skipped_ > limits_.max_skipped) {
        fail("comments and blank lines have more than ", limits_.max_skipped,
             " bytes (matrix_market_options::max_skipped)");
      }
    }
    return false;
  }

  /// Last line read, from 1.
  std::size_t number() const { return number_; }

  const options& limits() const { return limits_; }

  /// Throws, with the line number.
  template <class... Part>
  [[noreturn, gnu::cold]] void fail(const Part&... parts) const {
    const std::size_t before = lines_before_ ? lines_before_() : 0;
    const std::string line = std::to_string(std::max<std::size_t>(before + number_, 1));
    check(from_.function).fail(errc::unreadable_file, from_.file, ":", line, ": ", parts...);
  }

 private:
  static constexpr std::size_t initial_size = std::size_t{1} << 16;

  std::size_t longest_line() const { return limits_.max_line + 2; }  // with CR and LF

  const char* find_newline() {
    std::size_t searched = begin_;
    while (true) {
      const void* const newline = std::memchr(buffer_.data() + searched, '\n', end_ - searched);
      if (newline != nullptr) return static_cast<const char*>(newline);
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= std::exchange(begin_, 0);
      searched = end_;
      if (end_ == longest_line()) {
        ++number_;
        fail_too_long();
      }
      if (end_ == buffer_.size()) buffer_.resize(std::min(2 * end_, longest_line()));
      const std::size_t count = bytes_.read(buffer_.data() + end_, buffer_.size() - end_);
      if (count == 0) return nullptr;
      end_ += count;
      bytes_read_ += count;
      if (bytes_read_ > limits_.max_bytes) from_.fail_too_many_bytes(limits_);
    }
  }

  [[noreturn]] void fail_too_long() const {
    fail("the line is longer than ", limits_.max_line,
         " characters (matrix_market_options::max_line)");
  }

  byte_source& bytes_;
  source from_;
  options limits_;
  std::vector<char> buffer_;  // unread bytes: [begin_, end_)
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t number_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t stop_ = std::numeric_limits<std::uint64_t>::max();
  std::size_t skipped_ = 0;
  std::function<std::size_t()> lines_before_;
};
/// Removes and returns the first word, possibly empty.
std::string_view take_word(std::string_view& line);

}  // namespace tally::matrix_market
