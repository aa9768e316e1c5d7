// Histograms of host data: parts are added to counts, or limbs of exact sums, that stay on the
// device until the end.
#include "backends/cuda/cuda.hpp"

#include "backends/common/order/dot_sum.hpp"
#include "backends/cuda/staged/call.hpp"
#include "backends/cuda/staged/staged.hpp"

#include <tally/numerics/exact_sum.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tally::backends::cuda::staged {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

class slots_on_device {
 public:
  slots_on_device(const call& c, const histogram_arguments& a) : c_(c), a_(a) {
    const bool sums_words = a.weighted;
    const bool of_doubles = a.weights.element == type::float64 || a.counts.element == type::float64;
    sum_ = a.words ? a.counts.element : of_doubles ? type::float64 : type::float32;
    slot_bytes_ = sums_words ? exact_words(sum_) * sizeof(std::int64_t) : size_of(a.counts.element);
    bytes_ = a.counts.size * slot_bytes_;
    outside_bytes_ = a.options.outside != nullptr ? a.options.channels * sizeof(outside_counts) : 0;
    // Rounded sums lie behind the limbs.
    rounds_ = a.weighted && !a.words;
    const std::size_t result_bytes = rounds_ ? a.counts.size * size_of(a.counts.element) : 0;
    memory_ = static_cast<std::byte*>(
        c.memory().counts.of(aligned(bytes_) + aligned(outside_bytes_) + result_bytes));
    check(cudaMemsetAsync(memory_, 0, aligned(bytes_) + outside_bytes_, c.stream()),
          "cudaMemsetAsync");
  }

  /// Returns the histogram of some samples, added to the device's.
  histogram_arguments asked(const operand& x, const operand& weights) const {
    histogram_arguments part = a_;
    part.x = x;
    part.weights = weights;
    part.words = a_.weighted;
    part.counts = {memory_, a_.counts.size, 1, a_.weighted ? sum_ : a_.counts.element};
    part.options.add = true;
    if (outside_bytes_ > 0) {
      part.options.outside = reinterpret_cast<outside_counts*>(memory_ + aligned(bytes_));
    }
    return part;
  }

  void finish() const {
    if (outside_bytes_ > 0) {
      add(memory_ + aligned(bytes_), a_.options.outside, type::int64,
          outside_bytes_ / sizeof(std::int64_t), a_.options.add);
    }
    if (a_.words) {
      return add(memory_, a_.counts.data, type::int64, bytes_ / sizeof(std::int64_t), true);
    }
    if (!a_.weighted) {
      return add(memory_, a_.counts.data, a_.counts.element, a_.counts.size, a_.options.add);
    }
    if (a_.options.add) return add_to_sums();
    std::byte* const results = memory_ + aligned(bytes_) + aligned(outside_bytes_);
    cuda::instance.round_words(c_.on(), {reinterpret_cast<const std::int64_t*>(memory_),
                                         sum_,
                                         a_.counts.size,
                                         false,
                                         {results, a_.counts.element},
                                         false});
    cuda::instance.copy_bytes(c_.on(), results, a_.counts.data,
                              a_.counts.size * size_of(a_.counts.element));
  }

 private:
  void add(const void* from, void* to, type integer, std::size_t n, bool adds) const {
    const std::size_t bytes = n * size_of(integer);
    if (!adds) return cuda::instance.copy_bytes(c_.on(), from, to, bytes);
    std::vector<std::byte> made(bytes), there(bytes);
    cuda::instance.copy_bytes(c_.on(), from, made.data(), bytes);
    cuda::instance.copy_bytes(c_.on(), to, there.data(), bytes);
    const auto add_as = [&]<class T>(T) {
      for (std::size_t i = 0; i < n; ++i) {
        T a, b;
        std::memcpy(&a, &there[i * sizeof(T)], sizeof(T));
        std::memcpy(&b, &made[i * sizeof(T)], sizeof(T));
        a += b;
        std::memcpy(&there[i * sizeof(T)], &a, sizeof(T));
      }
    };
    integer == type::int32 ? add_as(std::uint32_t{}) : add_as(std::uint64_t{});
    cuda::instance.copy_bytes(c_.on(), there.data(), to, bytes);
  }

  /// Existing sums are another weight.
  void add_to_sums() const {
    const std::size_t n = a_.counts.size, bytes = n * size_of(a_.counts.element);
    std::vector<std::int64_t> words(n * exact_words(sum_));
    std::vector<std::byte> sums(bytes);
    cuda::instance.copy_bytes(c_.on(), memory_, words.data(), bytes_);
    cuda::instance.copy_bytes(c_.on(), a_.counts.data, sums.data(), bytes);
    with_type<detail::weight_types>(sum_, [&]<class W>() {
      with_type<detail::weight_types>(a_.counts.element, [&]<class S>() {
        for (std::size_t i = 0; i < n; ++i) {
          S value;
          std::memcpy(&value, &sums[i * sizeof(S)], sizeof(S));
          auto sum = exact_sum<W>::from_words(&words[i * exact_words(sum_)]);
          sum.add(static_cast<W>(value));
          value = sum.template round<S>();
          std::memcpy(&sums[i * sizeof(S)], &value, sizeof(S));
        }
      });
    });
    cuda::instance.copy_bytes(c_.on(), sums.data(), a_.counts.data, bytes);
  }

  const call& c_;
  const histogram_arguments& a_;
  type sum_{};
  std::size_t slot_bytes_ = 0, bytes_ = 0, outside_bytes_ = 0;
  bool rounds_ = false;
  std::byte* memory_ = nullptr;
};

}  // namespace

out_of_range_key backend::histogram(const executor&, const histogram_arguments& a) const {
  if (a.scatters) refuse("scatter_add");
  const call c(*memory_);
  std::array<staged_vector, 2> all = {c.through().vector(a.x)};
  if (a.weighted) all[1] = c.through().vector(a.weights);
  const std::span<const staged_vector> vectors(all.data(), a.weighted ? 2 : 1);
  const slots_on_device slots(c, a);

  out_of_range_key first_stray;
  const auto run = [&](const staged_operands& here, std::size_t first) {
    const out_of_range_key stray =
        cuda::instance.histogram(c.on(), slots.asked(here[0], a.weighted ? here[1] : operand{}));
    if (stray.index < 0 || first_stray.index >= 0) return;
    first_stray = {stray.index + static_cast<std::int64_t>(first), stray.key};
  };
  if (c.through().are_short(vectors)) {
    c.through().run_short(vectors, stages::padding::none,
                          [&](const staged_operands& here) { run(here, 0); });
  } else {
    const std::size_t channels = a.options.channels,
                      max_samples = c.through().parts_of(vectors).max;
    const std::size_t part = max_samples / channels * channels;
    if (part == 0) {
      throw error(errc::invalid_argument,
                  "tally::histogram: a stage of the workspace has room for " +
                      std::to_string(max_samples) + " samples, which are fewer than " +
                      std::to_string(channels) + " channels");
    }
    c.through().run_parts(
        vectors, a.x.size, {part, part},
        [&](const staged_operands& here, std::size_t first, void*) { run(here, first); },
        [](const void*, std::size_t, std::size_t) {});
  }
  if (first_stray.index >= 0) {
    c.through().wait();
    return first_stray;
  }
  slots.finish();
  return {};
}

}  // namespace tally::backends::cuda::staged
