// For every operation: outputs over inputs, and vectors that exceed the address space.
#include "tests/operations.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace {

using operations::arguments;

class Overlap : public data::OnEveryExecutor {
 protected:
  /// Two operands in one allocation, the second `offset` bytes behind the first.
  class shared {
   public:
    shared(const tally::executor& where, const std::vector<std::byte>& first,
           const std::vector<std::byte>& second, std::size_t offset)
        : image_(std::max(first.size(), offset + second.size())),
          memory_(where, image_.size()),
          first_(first.size()),
          second_(second.size()),
          offset_(offset) {
      std::copy(second.begin(), second.end(), image_.begin() + static_cast<std::ptrdiff_t>(offset));
      std::copy(first.begin(), first.end(), image_.begin());  // inputs stay unchanged
      memory_.write(image_.data(), image_.size());
    }
    std::span<std::byte> first() const { return {memory_.get(), first_}; }
    std::span<std::byte> second() const { return {memory_.get() + offset_, second_}; }
    std::vector<std::byte> second_before() const {
      const auto begin = image_.begin() + static_cast<std::ptrdiff_t>(offset_);
      return {begin, begin + static_cast<std::ptrdiff_t>(second_)};
    }
    std::vector<std::byte> second_after() const {
      std::vector<std::byte> bytes(second_);
      memory_.read(bytes.data(), second_, offset_);
      return bytes;
    }
    bool is_untouched() const {
      std::vector<std::byte> bytes(image_.size());
      memory_.read(bytes.data(), bytes.size());
      return bytes == image_;
    }

   private:
    std::vector<std::byte> image_;
    data::buffer memory_;
    std::size_t first_, second_, offset_;
  };

  /// Throws, and writes nothing.
  static bool is_refused(const operations::operation& what, const tally::executor& where,
                         arguments& a, const shared& memory) {
    try {
      what.call(where, a);
      return false;
    } catch (const tally::error& e) {
      EXPECT_EQ(e.code(), tally::errc::overlap) << what.name << ": " << e.what();
      EXPECT_TRUE(memory.is_untouched()) << what.name << ": something was written";
      return true;
    }
  }
};

// Throws or leaves the result unaffected, the same on every executor.
TEST_ON_EVERY_EXECUTOR(Overlap, OfEveryOutputWithEveryInput) {
  std::size_t refused = 0, allowed = 0;
  for (const operations::operation& each : operations::list(3000)) {
    if (!operations::runs(each, where())) continue;
    for (std::size_t k = 0; k < each.outputs.size(); ++k) {
      for (std::size_t j = 0; j < each.inputs.size(); ++j) {
        if (each.inputs[j].in_host_memory && data::on_device(where())) continue;
        const std::vector<std::byte>& input = each.inputs[j].bytes;
        for (const std::size_t offset : {std::size_t{0}, std::size_t{64}, input.size() / 32 * 16}) {
          const std::string which = each.name + ", output " + std::to_string(k) + " " +
                                    std::to_string(offset) + " bytes into input " +
                                    std::to_string(j);
          const auto is_refused_on = [&](const tally::executor& here) {
            const operations::prepared apart(each, here);
            const shared memory(here, input, each.outputs[k], offset);
            arguments a = apart.operands();
            a.inputs[j] = memory.first();
            a.outputs[k] = memory.second();
            if (is_refused(each, here, a, memory)) return true;
            operations::operation same = each;
            same.outputs[k] = memory.second_before();
            operations::prepared want(same, here);
            want.run();
            std::vector<std::byte> bytes(same.outputs[k].size());
            want.output(k).read(bytes.data(), bytes.size());
            EXPECT_EQ(memory.second_after(), bytes) << which;
            return false;
          };
          const bool is = is_refused_on(where());
          EXPECT_EQ(is, is_refused_on(tally::serial())) << which;
          ++(is ? refused : allowed);
        }
      }
    }
  }
  EXPECT_GT(refused, 500u);
  EXPECT_GT(allowed, 100u);
}

TEST_ON_EVERY_EXECUTOR(Overlap, OfEveryOutputWithEveryOther) {
  std::size_t refused = 0;
  for (const operations::operation& each : operations::list(300)) {
    if (!operations::runs(each, where())) continue;
    for (std::size_t k = 1; k < each.outputs.size(); ++k) {
      for (std::size_t j = 0; j < k; ++j) {
        const operations::prepared apart(each, where());
        const std::size_t within = std::min<std::size_t>(16, each.outputs[j].size() / 16 * 8);
        const shared memory(where(), each.outputs[j], each.outputs[k], within);
        arguments a = apart.operands();
        a.outputs[j] = memory.first();
        a.outputs[k] = memory.second();
        EXPECT_TRUE(is_refused(each, where(), a, memory)) << each.name;
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 0u);
}

// Results between the rows of a block, and behind an operand.
TEST_ON_EVERY_EXECUTOR(Overlap, IsToldFromLyingBetween) {
  const data::buffer memory(where(), 64 * sizeof(double));
  auto* const x = reinterpret_cast<double*>(memory.get());
  const auto rows = tally::rows(x, 4, 5, 16);  // gaps of 11 elements
  EXPECT_NO_THROW(tally::batched_dot(where(), rows, rows, x + 5));
  EXPECT_NO_THROW(tally::batched_dot(where(), rows, rows, x + 12));
  EXPECT_NO_THROW(tally::batched_dot(where(), rows, rows, x + 53));
  for (double* const results : {x + 2, x + 13, x + 50}) {
    data::expect_error(tally::errc::overlap, "tally::batched_dot: result overlaps x",
                       [&] { tally::batched_dot(where(), rows, rows, results); });
  }
  const auto backwards = tally::rows(x + 48, 4, 5, -16);
  EXPECT_NO_THROW(tally::batched_dot(where(), backwards, backwards, x + 21));
  data::expect_error(tally::errc::overlap, "tally::batched_dot: result overlaps x",
                     [&] { tally::batched_dot(where(), backwards, backwards, x + 17); });
  const std::array pairs = {tally::pair_of(std::span(x, 4), std::span(x + 8, 4)),
                            tally::pair_of(std::span(x, 4), std::span(x + 16, 4))};
  EXPECT_NO_THROW(tally::multi_dot(where(), pairs, x + 4));
  data::expect_error(tally::errc::overlap, "tally::multi_dot: result overlaps y of pair 1",
                     [&] { tally::multi_dot(where(), pairs, x + 15); });
  auto* const found = reinterpret_cast<tally::extremum<double>*>(x + 4);
  EXPECT_NO_THROW(tally::min(where(), std::span(x, 4), found));
  data::expect_error(tally::errc::overlap, "tally::min: result overlaps x",
                     [&] { tally::min(where(), std::span(x, 5), found); });
}

// --- Vectors that reach further than memory does -------------------------------------------------

/// Calls f(name, call) for every operand with an increment, here a vector of n elements with this
/// increment.
template <class F>
void for_each_increment(const tally::executor& where, std::size_t n, std::ptrdiff_t increment,
                        std::byte* memory, const F& f) {
  using tally::strided;
  auto* const out = reinterpret_cast<double*>(memory);
  const auto* const v = out + 64;
  auto* const counts = reinterpret_cast<std::int32_t*>(out + 32);
  const auto* const keys = reinterpret_cast<const std::int32_t*>(v);
  const auto far = strided(v, n, increment);
  const auto far_out = strided(out, n, increment);
  const auto plain = strided(v, n, 1);
  const auto plain_out = strided(out, n, 1);
  f("dot x", [=] { tally::dot(where, far, plain, out); });
  f("dot y", [=] { tally::dot(where, plain, far, out); });
  f("dot exact", [=] { tally::dot(where, plain, far, out, tally::exact); });
  f("sum", [=] { tally::sum(where, far, out); });
  f("asum", [=] { tally::asum(where, far, out); });
  f("nrm2", [=] { tally::nrm2(where, far, out); });
  f("min", [=] { tally::min(where, far, reinterpret_cast<tally::extremum<double>*>(out)); });
  f("iamax", [=] { tally::iamax(where, far, reinterpret_cast<std::int64_t*>(out)); });
  f("multi_dot y", [=] { tally::multi_dot(where, tally::rows(v, 1, n), far, out); });
  f("multi_dot list", [=] {
    const std::array pairs = {tally::pair_of(plain, plain), tally::pair_of(plain, far)};
    tally::multi_dot(where, pairs, out);
  });
  f("multi_dot rows",
    [=] { tally::multi_dot(where, tally::rows(v, n, 2, increment), strided(v, 2, 1), out); });
  f("batched_dot rows",
    [=] { tally::batched_dot(where, tally::rows(v, n, 2), tally::rows(v, n, 2, increment), out); });
  f("copy x", [=] { tally::copy(where, far, plain_out); });
  f("copy y", [=] { tally::copy(where, plain, far_out); });
  f("copy x and y", [=] { tally::copy(where, far, far_out); });
  f("scal", [=] { tally::scal(where, 2.0, far_out); });
  f("axpby", [=] { tally::axpby(where, 2.0, plain, 3.0, far_out); });
  f("waxpby y", [=] { tally::waxpby(where, 2.0, plain, 3.0, far, plain_out); });
  f("axpbypcz", [=] { tally::axpbypcz(where, 2.0, plain, 3.0, plain, 1.0, far_out); });
  f("fill", [=] { tally::fill(where, 2.0, far_out); });
  f("swap", [=] { tally::swap(where, far_out, plain_out); });
  f("add y", [=] { tally::add(where, plain, far, plain_out); });
  f("exp", [=] { tally::exp(where, plain, far_out); });
  f("bincount", [=] { tally::bincount(where, strided(keys, n, increment), std::span(counts, 4)); });
  f("bincount weights",
    [=] { tally::bincount(where, strided(keys, n, 1), far, std::span(out, 4)); });
  f("histogram_even", [=] { tally::histogram_even(where, far, 0.0, 1.0, std::span(counts, 4)); });
  if (!data::on_device(where)) {  // edges lie on the host
    f("histogram_range",
      [=] { tally::histogram_range(where, plain, far, std::span(counts, n - 1)); });
  }
  const auto* const offsets = reinterpret_cast<const std::int32_t*>(v);  // 0
  const auto matrix = [=](std::size_t rows, std::size_t columns) {
    return tally::csr_view{rows, columns, std::span(offsets, rows + 1), std::span(offsets, 0),
                           std::span(v, 0)};
  };
  f("spmv x", [=] { tally::spmv(where, matrix(3, n), far, std::span(out, 3)); });
  f("spmv y", [=] { tally::spmv(where, matrix(n, 3), std::span(v, 3), far_out); });
  if (data::on_device(where)) return;
  f("transform x", [=] { tally::transform(where, far, plain_out, [](double e) { return e; }); });
  f("transform z", [=] { tally::transform(where, plain, far_out, [](double e) { return e; }); });
  f("transform_reduce", [=] {
    tally::transform_reduce(where, far, 0.0, std::plus<>(), [](double e) { return e; }, out);
  });
}

TEST_ON_EVERY_EXECUTOR(Overlap, IncrementsThatReachTooFarAreErrors) {
  data::buffer memory(where(), 4096);
  const std::vector<std::byte> zeros(4096);
  memory.write(zeros.data(), zeros.size());
  using limits = std::numeric_limits<std::ptrdiff_t>;
  for (const std::size_t n : {2, 5}) {
    for (const std::ptrdiff_t increment :
         {std::ptrdiff_t{1} << 47, std::ptrdiff_t{1} << 59, std::ptrdiff_t{1} << 60,
          std::ptrdiff_t{1} << 61, std::ptrdiff_t{3} << 61, -(std::ptrdiff_t{1} << 61),
          limits::max(), limits::max() / 2, limits::min(), limits::min() / 4}) {
      if (increment == std::ptrdiff_t{1} << 47 && n == 2) continue;  // just within reach
      for_each_increment(where(), n, increment, memory.get(), [&](const char* name, auto call) {
        try {
          call();
          ADD_FAILURE() << name << ", " << n << " elements, increment " << increment;
        } catch (const tally::error& e) {
          EXPECT_EQ(e.code(), tally::errc::invalid_argument)
              << name << ", " << n << " elements, increment " << increment << ": " << e.what();
        }
      });
    }
  }
  // Strides of 0 bytes modulo 2^64, where a greatest common divisor would be 0.
  auto* const all = reinterpret_cast<double*>(memory.get());
  EXPECT_THROW(
      tally::copy(where(), tally::strided(all, 5, std::ptrdiff_t{1} << 61),
                  tally::strided(reinterpret_cast<float*>(all) + 1, 5, std::ptrdiff_t{1} << 62)),
      tally::error);
  std::vector<std::byte> after(4096);
  memory.read(after.data(), after.size());
  EXPECT_EQ(after, zeros) << "something was written";
  const double* const x = reinterpret_cast<const double*>(memory.get());
  data::expect_error(
      tally::errc::invalid_argument,
      "tally::sum: x has 5 elements and increment 2305843009213693952; the elements "
      "times the increment can be 281474976710656",
      [&] {
        double result = 0;
        const tally::operand far = {x, 5, std::ptrdiff_t{1} << 61, tally::type::float64};
        tally::reduce(where(), {far, tally::reduction::sum, {&result, tally::type::float64}});
      });
}

}  // namespace
