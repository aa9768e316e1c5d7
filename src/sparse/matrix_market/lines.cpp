#include "src/sparse/matrix_market/lines.hpp"

#include <array>
#include <new>

#if TALLY_HAS_ZLIB
#include <zlib.h>
#endif

namespace tally::matrix_market {

std::string shown(std::string_view word) {
  constexpr std::size_t max_length = 40;
  std::string text(word.substr(0, max_length));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return word.size() > max_length ? text + "..." : text;
}

std::string quoted(std::string_view word) { return '"' + shown(word) + '"'; }

namespace {

/// Unmodified bytes.
class stream_bytes : public byte_source {
 public:
  stream_bytes(std::istream& stream, const source& from) : stream_(stream.rdbuf()), from_(from) {}

  bool are_gzip() { return stream_.peek() == 0x1f; }

  std::size_t read(char* to, std::size_t size) override {
    stream_.read(to, static_cast<std::streamsize>(size));
    if (stream_.bad()) from_.fail("reading failed");
    return static_cast<std::size_t>(stream_.gcount());
  }
  bool are_plain() const override { return true; }

 private:
  std::istream stream_;  // over the caller's buffer, without exceptions
  source from_;
};

#if TALLY_HAS_ZLIB
/// Concatenated members are read as one; trailing zeros of padded blocks are skipped. Both may be
/// many and empty, so compressed bytes are counted, too.
class gzip_bytes : public byte_source {
 public:
  gzip_bytes(std::unique_ptr<byte_source> compressed, const source& from, const options& limits)
      : compressed_(std::move(compressed)), from_(from), limits_(limits) {
    constexpr int gzip_alone = 16 + MAX_WBITS;
    if (inflateInit2(&zlib_, gzip_alone) != Z_OK) throw std::bad_alloc();
  }
  ~gzip_bytes() override { inflateEnd(&zlib_); }
  gzip_bytes(const gzip_bytes&) = delete;
  gzip_bytes& operator=(const gzip_bytes&) = delete;

  std::size_t read(char* to, std::size_t size) override {
    zlib_.next_out = reinterpret_cast<Bytef*>(to);
    zlib_.avail_out = static_cast<uInt>(size);
    while (zlib_.avail_out == size) {
      if (zlib_.avail_in == 0) {
        zlib_.next_in = reinterpret_cast<Bytef*>(block_.data());
        zlib_.avail_in = static_cast<uInt>(compressed_->read(block_.data(), block_.size()));
        bytes_in_ += zlib_.avail_in;
        if (bytes_in_ > limits_.max_bytes) from_.fail_too_many_bytes(limits_);
        if (zlib_.avail_in == 0 && between_members_) break;
        if (zlib_.avail_in == 0) from_.fail("the gzip data end early");
      }
      if (between_members_) skip_padding();
      if (zlib_.avail_in == 0) continue;
      const int status = inflate(&zlib_, Z_NO_FLUSH);
      between_members_ = status == Z_STREAM_END;
      if (between_members_) {
        inflateReset(&zlib_);
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK) {
        from_.fail("the gzip data are damaged: ", zlib_.msg != nullptr ? zlib_.msg : "no reason");
      }
    }
    const std::size_t count = size - zlib_.avail_out;
    check_ratio(count);
    return count;
  }
  bool are_plain() const override { return false; }

 private:
  void skip_padding() {
    for (; zlib_.avail_in > 0 && *zlib_.next_in == 0; ++zlib_.next_in, --zlib_.avail_in) ++padding_;
    if (padding_ > 0 && zlib_.avail_in > 0) {
      from_.fail("the gzip data are damaged: something stands after their padding");
    }
    if (padding_ > limits_.max_skipped) {
      from_.fail("the padding of the gzip data has more than ", limits_.max_skipped,
                 " bytes (matrix_market_options::max_skipped)");
    }
  }

  /// Small files may be very regular.
  void check_ratio(std::size_t count) {
    bytes_out_ += count;
    constexpr std::uint64_t free = std::uint64_t{64} << 20;
    if (bytes_out_ <= free || bytes_out_ / limits_.max_ratio < bytes_in_) return;
    from_.fail("the gzip data become more than ", limits_.max_ratio,
               " times as many bytes (matrix_market_options::max_ratio)");
  }

  std::unique_ptr<byte_source> compressed_;
  source from_;
  options limits_;
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0, padding_ = 0;
  z_stream zlib_{};
  bool between_members_ = false;
  std::array<char, 32768> block_;
};
#endif

}  // namespace

std::unique_ptr<byte_source> bytes_of(std::istream& stream, const source& from,
                                      const options& limits) {
  auto plain = std::make_unique<stream_bytes>(stream, from);
  if (!plain->are_gzip()) return plain;
#if TALLY_HAS_ZLIB
  return std::make_unique<gzip_bytes>(std::move(plain), from, limits);
#else
  static_cast<void>(limits);
  from.fail("it is compressed by gzip, and this Tally was built without zlib");
#endif
}

std::unique_ptr<byte_source> plain_bytes_of(std::istream& stream, const source& from) {
  return std::make_unique<stream_bytes>(stream, from);
}

std::string_view take_word(std::string_view& line) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const auto first = std::find_if_not(line.begin(), line.end(), is_blank);
  const auto last = std::find_if(first, line.end(), is_blank);
  const std::string_view word(first, last);
  line = {last, line.end()};
  return word;
}
}  // namespace tally::matrix_market
