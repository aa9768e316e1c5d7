#include "tests/data.hpp"

#include "src/core/table.hpp"

#include <string_view>

namespace data {

namespace {

template <class T>
std::vector<std::byte> random_bytes_of(std::size_t n, std::uint64_t seed, kind k) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(n * sizeof(T));
  for (std::size_t i = 0; i < n; ++i) {
    const T value = random_element<T>(random, k);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> random_bytes(tally::type element, std::size_t n, std::uint64_t seed,
                                    kind k) {
  std::vector<std::byte> bytes;
  for_each_type([&]<class T>(std::type_identity<T>) {
    if (tally::type_of<T> == element) bytes = random_bytes_of<T>(n, seed, k);
  });
  return bytes;
}

std::vector<target> targets() {
  std::vector<target> all;
  for (const std::string_view backend : tally::backend_names()) {
    if (backend == "simd") {
      for (const auto set : tally::instruction_sets()) {
        std::string label = "simd_" + std::string(tally::name(set));
        std::erase(label, '-');
        all.push_back({label, [set] { return tally::simd({.instructions = set}); }});
      }
    } else if (backend == "openmp") {
      for (const int threads : {1, 2, 3, 7}) {
        all.push_back({"openmp_" + std::to_string(threads),
                       [threads] { return tally::openmp({.threads = threads}); }});
      }
    } else {
      all.push_back({std::string(backend), [backend] { return tally::executor_named(backend); }});
    }
  }
  return all;
}

bool on_device(const tally::executor& where) {
  return !where.backend()->reaches(where, tally::backends::place{});
}

tally::operand place(buffer& memory, const std::vector<std::byte>& elements, tally::type element,
                     layout l) {
  const std::size_t size = tally::size_of(element);
  const std::size_t n = elements.size() / size;
  const std::size_t step = static_cast<std::size_t>(l.increment < 0 ? -l.increment : l.increment);
  std::vector<std::byte> image((l.offset + (n ? (n - 1) * step + 1 : 0) + 1) * size,
                               std::byte{0xff});
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t position = l.offset + (l.increment < 0 ? n - 1 - i : i) * step;
    std::memcpy(image.data() + position * size, elements.data() + i * size, size);
  }
  EXPECT_LE(image.size(), memory.size());
  memory.write(image.data(), image.size());
  return tally::blas_operand(memory.get() + l.offset * size, n, l.increment, element, size);
}

}  // namespace data
