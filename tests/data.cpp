#include "tests/data.hpp"

#include <cctype>
#include <cstdlib>
#include <new>
#include <stdexcept>

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

namespace {

/// The executor of a workspace that is never destroyed.
tally::executor small_workspace() {
  static const auto& through = *new tally::workspace(
      tally::cuda(), {.stage_bytes = tally::workspace_options::min_stage_bytes, .threads = 3});
  return through.executor();
}

/// Suites of the operations that workspaces support.
std::vector<std::string> staged_suites() {
  return {"Buffer",
          "Dot",
          "Exact",
          "ExactWords",
          "Exponential",
          "Extremum",
          "Factors",
          "Fused",
          "Gemv",
          "Golden",
          "Histogram",
          "MultiAxpy",
          "MultiDot",
          "Reduce",
          "Sums",
          "Transform",
          "HistogramErrors",
          "WeightedHistogram",
          "Errors",
          "TransformErrors"};
}

}  // namespace

std::vector<target> targets() {
  const char* const chosen = std::getenv("TALLY_TESTS");
  const std::string choice = chosen == nullptr ? "default" : chosen;
  if (choice != "default" && choice != "full" && choice != "few") {
    throw std::invalid_argument("TALLY_TESTS is " + choice + ", not default, full or few");
  }
  std::vector<target> all;
  for (const std::string_view backend : tally::backend_names()) {
    if (backend == "simd") {
      const auto sets = tally::instruction_sets();
      for (const auto set : sets) {
        // SVE and RVV leave most to another.
        const bool does_the_rest =
            set == tally::instruction_set::neon || sets.back() == tally::instruction_set::rvv;
        if (choice == "few" && set != sets.back() && !does_the_rest) continue;
        std::string label = "simd_" + std::string(tally::name(set));
        std::erase(label, '-');
        all.push_back({label, [set] { return tally::simd({.instructions = set}); },
                       set == sets.back()    ? scope::fast_backends
                       : set == sets.front() ? scope::every_backend
                                             : scope::every_executor});
      }
      if (choice != "few") {
        all.push_back({"simd_chosen", [] { return tally::simd(); }});
      }
    } else if (backend == "openmp") {
      for (const int threads : {1, 2, 3, 7}) {
        if (choice == "few" && threads != 3) continue;
        all.push_back({"openmp_" + std::to_string(threads),
                       [threads] { return tally::openmp({.threads = threads}); },
                       threads == 3 ? scope::fast_backends : scope::every_executor});
      }
    } else {
      all.push_back({std::string(backend), [backend] { return tally::executor_named(backend); },
                     backend == "cuda" ? scope::fast_backends : scope::every_backend});
    }
    if (backend == "cuda") {
      all.push_back({"workspace", small_workspace, scope::fast_backends, staged_suites()});
    }
  }
  for (target& each : all) {
    if (choice == "full") each.stands_for = scope::fast_backends;
    // openmp's threads run simd's kernels.
    if (choice == "few") {
      each.stands_for = each.name == "openmp_3" ? scope::every_backend : scope::every_executor;
    }
  }
  return all;
}

namespace {

struct noted_test {
  const char *suite, *name;
  scope s;
  const char* file;
  int line;
  OnEveryExecutor::factory* make;
};

std::vector<noted_test>& noted_tests() {
  static std::vector<noted_test> all;
  return all;
}

}  // namespace

bool OnEveryExecutor::add(const char* suite, const char* name, scope s, const char* file, int line,
                          factory* make) {
  noted_tests().push_back({suite, name, s, file, line, make});
  return true;
}

void OnEveryExecutor::register_all() {
  static const std::vector<target> all = targets();
  for (const noted_test& test : noted_tests()) {
    for (const target& t : all) {
      if (!t.runs(test.suite, test.s)) continue;
      testing::RegisterTest(("Executors/" + std::string(test.suite)).c_str(),
                            (test.name + ("/" + t.name)).c_str(), nullptr, t.name.c_str(),
                            test.file, test.line, [make = test.make, &t] {
                              OnEveryExecutor* const made = make();
                              made->target_ = &t;
                              return made;
                            });
    }
  }
}

void OnEveryExecutor::SetUp() {
  try {
    where_.push_back(target_->make());
  } catch (const tally::error& e) {
    if (e.code() != tally::errc::no_device) throw;
    GTEST_SKIP() << e.what();
  }
}

bool on_device(const tally::executor& where) { return !where.reaches_host_memory(); }

bool has_workspaces(const tally::executor& where) {
  return where.name() != "kokkos" || !on_device(where);
}

bool has_shared_memory_for_rings() {
#if TALLY_HAS_CUDA
  int bytes = 0;
  check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  return bytes >= 99 << 10;
#else
  return false;
#endif
}

std::string_view word_at(std::string_view text, std::size_t at) {
  const auto in_word = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
  };
  std::size_t begin = at, end = at;
  while (begin > 0 && in_word(begin - 1)) --begin;
  while (in_word(end)) ++end;
  return text.substr(begin, end - begin);
}

void allocate_in_library() {
  const std::int32_t offsets[] = {0, 1}, columns[] = {0};
  const double values[] = {1};
  tally::spmv_plan(tally::serial(), tally::csr_view{1, 1, offsets, columns, values});
}

// CUDA's own functions where the build has them, else the library's.

buffer::buffer(const tally::executor& where, std::size_t bytes)
    : where_(where), device_(on_device(where)), size_(bytes) {
  if (!device_) {
    pointer_ = ::operator new(bytes, std::align_val_t{256});
    return;
  }
#if TALLY_HAS_CUDA
  check_cuda(cudaMalloc(&pointer_, bytes));
#else
  pointer_ = tally::allocate(where_, bytes);
#endif
}

buffer::~buffer() {
  if (!device_) {
    ::operator delete(pointer_, std::align_val_t{256});
    return;
  }
#if TALLY_HAS_CUDA
  cudaFree(pointer_);
#else
  tally::deallocate(where_, pointer_, tally::reach::kernels);
#endif
}

void buffer::write(const void* from, std::size_t bytes, std::size_t offset) {
  if (bytes == 0) return;  // memcpy permits no null `from`
  if (!device_) {
    std::memcpy(get() + offset, from, bytes);
    return;
  }
#if TALLY_HAS_CUDA
  check_cuda(cudaMemcpy(get() + offset, from, bytes, cudaMemcpyDefault));
  // From pageable memory it may return early, and other streams don't wait.
  check_cuda(cudaStreamSynchronize(nullptr));
#else
  tally::copy_bytes(where_, from, get() + offset, bytes);
#endif
}

void buffer::read(void* to, std::size_t bytes, std::size_t offset) const {
  if (bytes == 0) return;
  if (!device_) {
    std::memcpy(to, get() + offset, bytes);
    return;
  }
#if TALLY_HAS_CUDA
  check_cuda(cudaMemcpy(to, get() + offset, bytes, cudaMemcpyDefault));
#else
  tally::copy_bytes(where_, get() + offset, to, bytes);
#endif
}

std::vector<std::byte> elements_at(const buffer& memory, const tally::operand& v) {
  const std::size_t size = size_of(v.element);
  std::vector<std::byte> all(memory.size()), elements;
  memory.read(all.data(), all.size());
  const auto offset = static_cast<const std::byte*>(v.data) - memory.get();
  for (std::size_t i = 0; i < v.size; ++i) {
    const std::byte* const element =
        all.data() + offset + static_cast<std::ptrdiff_t>(i * size) * v.increment;
    elements.insert(elements.end(), element, element + size);
  }
  return elements;
}

namespace {

template <class F>
void with_size(std::size_t size, const F& f) {
  for_each_type([&]<class T>(std::type_identity<T>) {
    if (size == sizeof(T)) f(std::integral_constant<std::size_t, sizeof(T)>());
  });
}

}  // namespace

std::vector<std::byte> laid_out(const std::vector<std::byte>& elements, tally::type element,
                                layout l) {
  const std::size_t size = tally::size_of(element);
  const std::size_t n = elements.size() / size;
  const std::size_t step = static_cast<std::size_t>(l.increment < 0 ? -l.increment : l.increment);
  std::vector<std::byte> image((l.offset + (n ? (n - 1) * step + 1 : 0) + 1) * size,
                               std::byte{0xff});
  std::byte* const first = image.data() + l.offset * size;
  if (l.increment == 1 && n > 0) {
    std::memcpy(first, elements.data(), n * size);
  } else {
    with_size(size, [&](auto constant) {  // one instruction for a constant size
      for (std::size_t i = 0; i < n; ++i) {
        std::memcpy(first + (l.increment < 0 ? n - 1 - i : i) * step * constant,
                    elements.data() + i * constant, constant);
      }
    });
  }
  return image;
}

tally::operand operand_in(const buffer& memory, std::size_t n, tally::type element, layout l) {
  const std::size_t size = tally::size_of(element);
  return tally::blas_operand(memory.get() + l.offset * size, n, l.increment, element, size);
}

tally::operand place(buffer& memory, const std::vector<std::byte>& elements, tally::type element,
                     layout l) {
  const auto image = laid_out(elements, element, l);
  EXPECT_LE(image.size(), memory.size());
  memory.write(image.data(), image.size());
  return operand_in(memory, elements.size() / tally::size_of(element), element, l);
}

void expect_error(tally::errc code, const std::string& text, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error; expected: " << text;
  } catch (const tally::error& e) {
    EXPECT_EQ(e.code(), code);
    EXPECT_EQ(std::string(e.what()), text);
  }
}

}  // namespace data
