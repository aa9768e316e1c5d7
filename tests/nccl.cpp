// Calls over several GPUs have the bits of the same calls on the whole vectors in one process. A
// program of its own: prints each difference with its rank, and exits with 77 without a GPU.
//
//   tally_nccl_tests [--few] [--processes | --threads] [TEST...]       (a part of a test's name)
//
// All tests run on one GPU and on all, with a process or a thread for each, with and without peer
// buffers.
#include <tally/nccl.hpp>
#include <tally/tally.hpp>

#include <tests/cuts.hpp>
#include <tests/data.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using tally::nccl::communicator;
using tally::nccl::layout;

bool few = false;
std::atomic<int> checks = 0;
std::atomic<int> failures = 0;

/// A rank as tests see it.
struct here {
  const communicator& over;
  tally::executor where;
  std::string test;  // its name

  cudaStream_t stream() const { return where.stream(); }

  void expect(bool holds, const std::string& what) const {
    ++checks;
    if (holds) return;
    if (++failures <= 20) {
      std::printf("rank %d of %d: %s: %s\n", over.rank(), over.ranks(), test.c_str(), what.c_str());
      std::fflush(stdout);
    }
  }
  template <class T>
  void expect_bits(const T& got, const T& wanted, const std::string& what) const {
    expect(data::bits(got) == data::bits(wanted), what);
  }
  void expect_error(tally::errc code, const std::string& text,
                    const std::function<void()>& call) const {
    try {
      call();
      expect(false, "nothing was thrown instead of: " + text);
    } catch (const tally::error& e) {
      expect(e.code() == code && std::string(e.what()).find(text) != std::string::npos,
             std::string("\"") + e.what() + "\" instead of: " + text);
    }
  }
};

// --- Vectors, and where they are cut --------------------------------------------------------------

/// Every `increment`-th element of each rank's host and device memory.
template <class T>
class vector {
 public:
  vector(const here& h, std::int64_t n, std::uint64_t seed, data::kind kind = data::kind::plain,
         std::ptrdiff_t increment = 1)
      : size_(n),
        increment_(increment),
        memory_(std::make_unique<T[]>(count())),
        device_(h.where, count() * sizeof(T)) {
    std::mt19937_64 random(seed);
    for (std::int64_t i = 0; i < n; ++i)
      at(memory_.get(), i) = data::random_element<T>(random, kind);
    upload();
  }

  T& operator[](std::int64_t i) { return at(memory_.get(), i); }
  void upload() {
    tally::copy_bytes(device_.where(), memory_.get(), device_.get(), device_.bytes());
  }
  tally::strided_view<const T> part(std::int64_t first, std::int64_t n) {
    return slice(static_cast<T*>(device_.get()), first, n);
  }
  tally::strided_view<const T> part_of(const layout& l) { return part(l.first(), l.size()); }
  tally::strided_view<const T> all() { return slice(memory_.get(), 0, size_); }
  T* on_device() { return static_cast<T*>(device_.get()); }

 private:
  std::size_t count() const { return static_cast<std::size_t>(size_ * std::abs(increment_) + 1); }
  T& at(T* memory, std::int64_t i) {
    return memory[(increment_ < 0 ? i + 1 - size_ : i) * increment_];
  }
  tally::strided_view<const T> slice(T* memory, std::int64_t first, std::int64_t n) {
    if (n == 0) return tally::strided<const T>(nullptr, 0, increment_);
    const T* const lowest = &at(memory, increment_ < 0 ? first + n - 1 : first);
    return tally::strided(lowest, static_cast<std::size_t>(n), increment_);
  }

  std::int64_t size_;
  std::ptrdiff_t increment_;
  std::unique_ptr<T[]> memory_;
  tally::buffer device_;
};

template <class T>
class result {
 public:
  explicit result(const here& h, std::size_t n = 1) : n_(n), memory_(h.where, n * sizeof(T)) {}
  T* get() { return static_cast<T*>(memory_.get()); }
  std::vector<T> all() {
    std::vector<T> values(n_);
    tally::copy_bytes(memory_.where(), get(), values.data(), n_ * sizeof(T));
    return values;
  }
  T value() { return all()[0]; }

 private:
  std::size_t n_;
  tally::buffer memory_;
};

std::vector<int> cuts() { return data::cuts(few); }

std::int64_t size_of_cut(const here& h, std::int64_t n, int cut) {
  return data::size_of_cut(n, cut, h.over.rank(), h.over.ranks());
}

layout layout_of(const here& h, std::int64_t n, int cut) {
  return layout(h.over, h.where, size_of_cut(h, n, cut));
}

std::string name_of(std::int64_t n, int cut, const char* function) {
  return std::string(function) + ", " + std::to_string(n) + " elements, cut " + std::to_string(cut);
}

std::vector<std::int64_t> sizes() {
  if (few) return {0, 1, 1025, 9000};
  return {0, 1, 63, 1024, 1025, 5000, 70000, 1048577};
}

const tally::executor& one() {
  static const tally::executor where = tally::simd();
  return where;
}

// --- The tests ------------------------------------------------------------------------------------

void numbers_elements(const here& h) {
  const std::int64_t n = 9000;
  layout l = layout_of(h, n, 0);
  const layout moved = std::move(l);
  h.expect(l.total() == n && l.size() == moved.size() && l.first() == moved.first() &&
               l.owner(0) == moved.owner(0) && &l.over() == &moved.over(),
           "a layout that was moved from");
  vector<double> x(h, n, 30);
  h.expect_bits(tally::nccl::sum(l, h.where, x.part_of(l)), tally::sum(one(), x.all()),
                "a sum over a layout that was moved from");
}

void sums_doubles(const here& h) {
  for (const std::int64_t n : sizes()) {
    vector<double> x(h, n, 1, data::kind::wide), y(h, n, 2);
    const double dot = tally::dot(one(), x.all(), y.all());
    const double exact = tally::dot(one(), x.all(), y.all(), tally::exact);
    result<double> r(h);
    for (const int cut : cuts()) {
      const layout l = layout_of(h, n, cut);
      h.expect(l.total() == n, name_of(n, cut, "the total"));
      const auto a = x.part_of(l), b = y.part_of(l);
      h.expect_bits(tally::nccl::dot(l, h.where, a, b), dot, name_of(n, cut, "dot"));
      tally::nccl::dot(l, h.where, a, b, r.get());
      h.expect_bits(r.value(), dot, name_of(n, cut, "dot on the device"));
      h.expect_bits(tally::nccl::dot(l, h.where, a, b, tally::exact), exact,
                    name_of(n, cut, "exact dot"));
      tally::nccl::dot(h.over, h.where, a, b, r.get(), tally::exact);
      h.expect_bits(r.value(), exact, name_of(n, cut, "exact dot over a communicator"));
    }
  }
}

template <class X, class Y>
void sums_types_of(const here& h, std::int64_t n, int cut, data::kind kind,
                   std::ptrdiff_t increment) {
  const std::string name = name_of(n, cut, "") + ", " +
                           std::string(tally::name(tally::type_of<X>)) + " and " +
                           std::string(tally::name(tally::type_of<Y>));
  vector<X> x(h, n, 3, kind, increment);
  vector<Y> y(h, n, 4, kind);
  const layout l = layout_of(h, n, cut);
  const auto all_x = x.all(), a = x.part_of(l);
  const auto all_y = y.all(), b = y.part_of(l);
  using wide = tally::dot_widest_t<X, Y>;
  using wide_sum = tally::dot_widest_t<X, X>;
  const tally::executor& w = h.where;
  for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
    const std::string of = (g.is_exact() ? " exactly" : "") + name;
    h.expect_bits(tally::nccl::dot(l, w, a, b, g), tally::dot(one(), all_x, all_y, g), "dot" + of);
    for (const auto vector : {tally::conjugate::x, tally::conjugate::y}) {
      h.expect_bits(tally::nccl::dot(l, w, a, b, {vector, g}),
                    tally::dot(one(), all_x, all_y, {vector, g}), "conjugated dot" + of);
      h.expect_bits(tally::nccl::dot(l, w, b, a, {vector, g}),
                    tally::dot(one(), all_y, all_x, {vector, g}),
                    "conjugated dot the other way round" + of);
    }
    h.expect_bits(tally::nccl::dot<wide>(l, w, a, b, g), tally::dot<wide>(one(), all_x, all_y, g),
                  "wide dot" + of);
    h.expect_bits(tally::nccl::sum(l, w, a, g), tally::sum(one(), all_x, g), "sum" + of);
    h.expect_bits(tally::nccl::sum<wide_sum>(l, w, a, g), tally::sum<wide_sum>(one(), all_x, g),
                  "wide sum" + of);
    h.expect_bits(tally::nccl::asum(l, w, a, g), tally::asum(one(), all_x, g), "asum" + of);
    h.expect_bits(tally::nccl::nrm2(l, w, a, g), tally::nrm2(one(), all_x, g), "nrm2" + of);
    h.expect_bits(tally::nccl::nrm2<double>(l, w, a, g), tally::nrm2<double>(one(), all_x, g),
                  "wide nrm2" + of);
  }
}

template <class X, class Y>
void sums_types(const here& h) {
  for (const std::int64_t n : {std::int64_t{700}, std::int64_t{9000}}) {
    for (const int cut : few ? std::vector{4} : std::vector{0, 1, 4, 7}) {
      sums_types_of<X, Y>(h, n, cut, data::kind::plain, 1);
      sums_types_of<X, Y>(h, n, cut, data::kind::wide, -2);
      sums_types_of<X, Y>(h, n, cut, data::kind::special, 1);
    }
  }
}

void sums_all_types(const here& h) {
  sums_types<double, double>(h);
  sums_types<float, float>(h);
  sums_types<float, double>(h);
  sums_types<tally::float16, tally::float16>(h);
  sums_types<tally::bfloat16, std::int8_t>(h);
  sums_types<std::int32_t, std::int64_t>(h);
  sums_types<std::int64_t, float>(h);
  sums_types<bool, std::uint8_t>(h);
  sums_types<std::complex<float>, std::complex<float>>(h);
  sums_types<std::complex<double>, double>(h);
  sums_types<float, std::complex<double>>(h);
  sums_types<std::complex<double>, std::complex<float>>(h);
}

void scales_norms(const here& h) {
  const std::int64_t n = 5000;
  for (const double huge : {1e200, 1e-200, 0x1p-1074, 1.7e308}) {
    vector<double> x(h, n, 5);
    for (std::int64_t i = 0; i < n; ++i) x[i] *= huge < 1 ? huge : 1;
    x[n - 1] = huge;
    x.upload();
    vector<std::complex<float>> z(h, n, 6);
    z[17] = {0, 1e30f};
    z.upload();
    for (const int cut : cuts()) {
      const layout l = layout_of(h, n, cut);
      h.expect_bits(tally::nccl::nrm2(l, h.where, x.part_of(l)), tally::nrm2(one(), x.all()),
                    name_of(n, cut, "nrm2"));
      h.expect_bits(tally::nccl::nrm2(l, h.where, z.part_of(l)), tally::nrm2(one(), z.all()),
                    name_of(n, cut, "complex nrm2"));
    }
  }
}

void sums_many(const here& h) {
  for (const std::int64_t n : {std::int64_t{900}, std::int64_t{20000}}) {
    for (const std::size_t k : {std::size_t{5}, std::size_t{40}}) {
      vector<float> x(h, n * static_cast<std::int64_t>(k), 10, data::kind::wide);
      vector<double> y(h, n, 20);
      for (const int cut : cuts()) {
        const layout l = layout_of(h, n, cut);
        for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
          std::vector<tally::vector_pair<float, double>> pairs;
          for (std::size_t j = 0; j < k; ++j) {
            const std::int64_t first = static_cast<std::int64_t>(j) * n;
            pairs.push_back(tally::pair_of(x.part(first + l.first(), l.size()), y.part_of(l)));
          }
          const auto rows = tally::rows(l.size() == 0 ? nullptr : x.on_device() + l.first(), k,
                                        static_cast<std::size_t>(l.size()), n);
          const auto dots = tally::nccl::multi_dot(l, h.where, pairs, g);
          result<double> products(h, k);
          tally::nccl::multi_dot(l, h.where, rows, y.part_of(l), products.get(),
                                 {tally::conjugate::x, g});
          const auto all = products.all();
          for (std::size_t j = 0; j < k; ++j) {
            const std::span<const float> row(&x[static_cast<std::int64_t>(j) * n],
                                             static_cast<std::size_t>(n));
            const double wanted = tally::dot(one(), row, y.all(), g);
            h.expect_bits(dots[j], wanted, name_of(n, cut, "multi_dot"));
            h.expect_bits(all[j], wanted, name_of(n, cut, "conjugated multi_dot"));
          }
        }
      }
    }
  }
}

template <class X, class Y>
void scans_type(const here& h, std::int64_t n, int cut, data::kind kind, std::ptrdiff_t increment) {
  vector<X> x(h, n, 7, kind, increment);
  const layout l = layout_of(h, n, cut);
  const auto size = static_cast<std::size_t>(l.size());
  std::vector<Y> whole(static_cast<std::size_t>(n));
  result<Y> part(h, size);
  const auto expect_part = [&](result<Y>& got, const char* function) {
    const std::vector<Y> all = got.all();
    bool equal = true;
    for (std::size_t i = 0; i < size; ++i) {
      equal = equal && data::same_bits(all[i], whole[static_cast<std::size_t>(l.first()) + i]);
    }
    h.expect(equal, name_of(n, cut, function) + " of " + std::string(name(tally::type_of<X>)) +
                        " in " + std::string(name(tally::type_of<Y>)));
  };
  const std::span to(part.get(), size);
  tally::inclusive_scan(one(), x.all(), whole);
  tally::nccl::inclusive_scan(l, h.where, x.part_of(l), to);
  expect_part(part, "inclusive_scan");
  tally::exclusive_scan(one(), x.all(), whole);
  tally::nccl::exclusive_scan(l, h.where, x.part_of(l), to);
  expect_part(part, "exclusive_scan");
  if constexpr (std::is_same_v<X, Y>) {
    tally::copy(h.where, x.part_of(l), to);
    tally::nccl::exclusive_scan(l, h.where, std::span<const X>(to), to);
    expect_part(part, "exclusive_scan in place");
  }
}

void scans(const here& h) {
  for (const std::int64_t n : sizes()) {
    for (const int cut : cuts()) {
      scans_type<double, double>(h, n, cut, data::kind::wide, 1);
      scans_type<std::complex<float>, std::complex<float>>(h, n, cut, data::kind::special, -2);
    }
  }
  for (const int cut : cuts()) {
    scans_type<tally::float16, float>(h, 9000, cut, data::kind::special, 1);
    scans_type<std::int32_t, double>(h, 9000, cut, data::kind::wide, 2);
    scans_type<std::int64_t, std::int64_t>(h, 9000, cut, data::kind::wide, 1);
    scans_type<bool, std::int64_t>(h, 700, cut, data::kind::plain, 1);
    scans_type<std::complex<float>, std::complex<double>>(h, 9000, cut, data::kind::plain, 1);
  }
  const layout l(h.over, h.where, 700);
  vector<double> x(h, 700, 8);
  result<double> y(h, 699);
  h.expect_error(tally::errc::size_mismatch, "tally::nccl: a vector has 699 elements", [&] {
    tally::nccl::inclusive_scan(l, h.where, x.part(0, 700), std::span(y.get(), 699));
  });
}

/// An axis over ranks: columns of a row-major matrix of which each rank has rows, and rows.
template <class A, class X, class Y>
void sums_layouts_of(const here& h, std::int64_t n, int cut) {
  constexpr std::size_t k = 6;
  constexpr std::ptrdiff_t width = k;
  vector<A> a(h, n * width, 90, data::kind::wide);
  vector<X> x(h, n, 91);
  const layout l = layout_of(h, n, cut);
  const auto size = static_cast<std::size_t>(l.size()), all = static_cast<std::size_t>(n);
  const A* const whole = &a[0];
  const A* const device = a.on_device();
  const auto expect_equal = [&]<class T>(const std::vector<T>& got, const std::vector<T>& wanted,
                                         const char* what) {
    for (std::size_t j = 0; j < k; ++j) h.expect_bits(got[j], wanted[j], name_of(n, cut, what));
  };
  const auto columns = [&](const A* from, std::size_t m) {
    return tally::rows(from, k, m, 1, width);
  };
  const auto rows = [&](const A* from, std::size_t m) { return tally::rows(from, k, m, n); };
  const A* const part = device + l.first() * width;
  for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
    const auto sums = tally::nccl::sums(l, h.where, columns(part, size), g);
    const auto wanted_sums = tally::sums(one(), columns(whole, all), g);
    expect_equal(sums, wanted_sums, "sums of columns");
    result<typename decltype(sums)::value_type> r(h, k);
    tally::nccl::sums(l, h.where, columns(part, size), r.get(), g);
    expect_equal(r.all(), wanted_sums, "sums of columns on the device");
    expect_equal(tally::nccl::multi_dot(l, h.where, columns(part, size), x.part_of(l), g),
                 tally::multi_dot(one(), columns(whole, all), x.all(), g), "multi_dot of columns");
    const auto product = [&](const auto& of_ranks, const auto& of_all, const auto alpha,
                             const auto beta, const char* what) {
      std::vector<Y> wanted(k, Y{3});
      result<Y> got(h, k);
      tally::copy_bytes(h.where, wanted.data(), got.get(), k * sizeof(Y));
      tally::nccl::gemv(l, h.where, alpha, of_ranks, x.part_of(l), beta, std::span(got.get(), k),
                        g);
      tally::gemv(one(), alpha, of_all, x.all(), beta, wanted, g);
      expect_equal(got.all(), wanted, what);
    };
    const auto mine = tally::rows(part, size, k), every = tally::rows(whole, all, k);
    product(rows(device + l.first(), size), rows(whole, all), 3, 0, "gemv");
    product(tally::transpose(mine), tally::transpose(every), 0.1, -2.5f, "gemv, transposed");
    product(tally::conjugate_transpose(mine), tally::conjugate_transpose(every), Y{0.1f}, Y{3},
            "gemv, conjugated");
  }
}

void sums_layouts(const here& h) {
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{900}, std::int64_t{9000}}) {
    for (const int cut : cuts()) {
      sums_layouts_of<double, double, double>(h, n, cut);
      sums_layouts_of<float, float, double>(h, n, cut);
      sums_layouts_of<std::complex<float>, float, std::complex<double>>(h, n, cut);
    }
  }
}

/// Samples of each rank to elements of any, distributed and replicated.
template <class T, class Index>
void adds_samples_of(const here& h, std::int64_t n, std::int64_t samples, int cut,
                     data::kind kind) {
  vector<T> x(h, samples, 101, kind);
  vector<Index> indices(h, samples, 102);
  std::mt19937_64 random(103);
  for (std::int64_t i = 0; i < samples; ++i) {  // a few lie outside
    indices[i] = static_cast<Index>(random() % static_cast<std::uint64_t>(n + 2)) - 1;
  }
  indices.upload();
  std::vector<T> z(static_cast<std::size_t>(n));
  for (T& v : z) v = data::random_element<T>(random, kind);
  if (n > 1) z[1] = -T{0};
  std::vector<T> wanted = z;
  const auto keys = indices.all();
  tally::scatter_add(one(), x.all(), keys, wanted);
  const layout of_samples = layout_of(h, samples, cut),
               of_elements = layout_of(h, n, (cut + 3) % data::all_cuts);
  const auto px = x.part_of(of_samples);
  const auto pi = indices.part_of(of_samples);
  const auto expect_from = [&](std::int64_t first, std::int64_t count, const auto& over,
                               const char* what) {
    result<T> memory(h, static_cast<std::size_t>(count));
    const std::span to(memory.get(), static_cast<std::size_t>(count));
    tally::copy_bytes(h.where, z.data() + first, memory.get(), to.size_bytes());
    tally::nccl::scatter_add(over, h.where, px, pi, to);
    const std::vector<T> got = memory.all();
    for (std::size_t i = 0; i < got.size(); ++i) {
      h.expect_bits(got[i], wanted[static_cast<std::size_t>(first) + i], name_of(n, cut, what));
    }
  };
  expect_from(of_elements.first(), of_elements.size(), of_elements, "scatter_add");
  expect_from(0, n, h.over, "scatter_add, replicated");
}

void adds_samples(const here& h) {
  for (const int cut : cuts()) {
    adds_samples_of<double, std::int32_t>(h, 5, 3000, cut, data::kind::wide);
    adds_samples_of<double, std::int64_t>(h, 3000, 5000, cut, data::kind::special);
    adds_samples_of<float, std::int64_t>(h, 7, 4000, cut, data::kind::special);
    adds_samples_of<float, std::int32_t>(h, 2000, 300, cut, data::kind::wide);
    adds_samples_of<double, std::int32_t>(h, 1, 0, cut, data::kind::wide);
  }
}

/// A captured graph.
class graph {
 public:
  template <class Calls>
  graph(cudaStream_t stream, const Calls& calls) : stream_(stream) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    calls();
    cudaGraph_t captured = nullptr;
    check(cudaStreamEndCapture(stream, &captured));
    check(cudaGraphInstantiate(&graph_, captured, 0));
    check(cudaGraphDestroy(captured));
  }
  ~graph() { (void)cudaGraphExecDestroy(graph_); }
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  void launch() {
    check(cudaGraphLaunch(graph_, stream_));
    check(cudaStreamSynchronize(stream_));
  }

 private:
  static void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
  }
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
};

void is_captured(const here& h) {
  const std::int64_t n = 100000;
  for (const int cut : {0, 1}) {
    const layout l = layout_of(h, n, cut);
    vector<double> x(h, n, 40), y(h, n, 41);
    const auto a = x.part_of(l), b = y.part_of(l);
    result<double> r(h, 4);
    graph captured(h.stream(), [&] {
      tally::nccl::dot(l, h.where, a, b, r.get());
      tally::nccl::dot(l, h.where, a, b, r.get() + 1, tally::exact);
      tally::nccl::nrm2(l, h.where, a, r.get() + 2);
      tally::nccl::sum(l, h.where, b, r.get() + 3);
    });
    for (std::uint64_t turn = 0; turn < 5; ++turn) {
      x[static_cast<std::int64_t>(turn) * 999] = static_cast<double>(turn) + 0.5;
      x.upload();
      captured.launch();
      const std::vector<double> got = r.all();
      h.expect_bits(got[0], tally::dot(one(), x.all(), y.all()), name_of(n, cut, "dot"));
      h.expect_bits(got[1], tally::dot(one(), x.all(), y.all(), tally::exact),
                    name_of(n, cut, "exact dot"));
      h.expect_bits(got[2], tally::nrm2(one(), x.all()), name_of(n, cut, "nrm2"));
      h.expect_bits(got[3], tally::sum(one(), y.all()), name_of(n, cut, "sum"));
      h.expect_bits(tally::nccl::dot(l, h.where, a, b), got[0], name_of(n, cut, "dot beside it"));
    }
  }
}

void runs_back_to_back(const here& h) {
  const std::int64_t n = 3000;
  const layout l = layout_of(h, n, 0);
  vector<double> x(h, n, 50), y(h, n, 51);
  const int calls = few ? 50 : 1000;
  result<double> r(h, static_cast<std::size_t>(2 * calls));
  for (int i = 0; i < calls; ++i) {
    tally::nccl::dot(l, h.where, x.part_of(l), y.part_of(l), r.get() + 2 * i);
    tally::nccl::dot(l, h.where, x.part_of(l), y.part_of(l), r.get() + 2 * i + 1, tally::exact);
  }
  const double dot = tally::dot(one(), x.all(), y.all());
  const double exact = tally::dot(one(), x.all(), y.all(), tally::exact);
  const auto all = r.all();
  for (std::size_t i = 0; i < all.size(); i += 2) {
    h.expect_bits(all[i], dot, "a dot of many");
    h.expect_bits(all[i + 1], exact, "an exact dot of many");
  }
}

/// One rank has all elements, and may be many calls ahead.
void waits_for_idle_ranks(const here& h) {
  const std::int64_t n = 3000;
  vector<double> x(h, n, 52);
  const int calls = few ? 100 : 3000;
  for (const int owner : {0, h.over.ranks() - 1}) {
    const bool has_all = h.over.rank() == owner;
    const layout l(h.over, h.where, has_all ? n : 0);
    result<double> r(h, static_cast<std::size_t>(calls));
    if (!has_all) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (int i = 0; i < calls; ++i) {
      tally::nccl::dot(l, h.where, x.part_of(l), x.part_of(l), r.get() + i);
    }
    const double wanted = tally::dot(one(), x.all(), x.all());
    for (const double got : r.all()) h.expect_bits(got, wanted, "a dot of one rank's elements");
  }
}

template <class T>
void finds_extrema_of(const here& h, data::kind kind) {
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{40}, std::int64_t{3000}}) {
    vector<T> x(h, n, 40, kind);
    for (const int cut : cuts()) {
      const layout l = layout_of(h, n, cut);
      const auto part = x.part_of(l);
      const std::string name =
          name_of(n, cut, "an end") + " of " + std::string(tally::name(tally::type_of<T>));
      if constexpr (!tally::is_complex_v<T>) {
        const auto [min, max] = tally::minmax(one(), x.all());
        h.expect_bits(tally::nccl::min(l, h.where, part), min, name);
        result<tally::extremum<T>> r(h);
        tally::nccl::max(l, h.where, part, r.get());
        h.expect_bits(r.value(), max, name);
        const auto both = tally::nccl::minmax(l, h.where, part);
        h.expect_bits(both.min, min, name);
        h.expect_bits(both.max, max, name);
      }
      h.expect(tally::nccl::iamax(l, h.where, part) == tally::iamax(one(), x.all()),
               "iamax, " + name);
    }
  }
}

void finds_extrema(const here& h) {
  data::for_each_type([&]<class T>(std::type_identity<T>) {
    for (const data::kind kind : {data::kind::plain, data::kind::wide, data::kind::special}) {
      finds_extrema_of<T>(h, kind);
    }
  });
  const layout none(h.over, h.where, 0);
  vector<double> x(h, 0, 1);
  h.expect(tally::nccl::iamax(none, h.where, x.part(0, 0)) == -1, "iamax of nothing");
  h.expect_error(tally::errc::no_elements, "tally::nccl::min: no rank has an element",
                 [&] { tally::nccl::min(none, h.where, x.part(0, 0)); });
}

void counts_samples(const here& h) {
  const std::int64_t n = 20000;
  vector<std::int32_t> keys(h, n, 80);
  for (std::int64_t i = 0; i < n; ++i) keys[i] = static_cast<std::int32_t>(i * i % 61);
  keys.upload();
  vector<double> samples(h, n, 81, data::kind::special);
  const std::vector<float> edges = {-1, -0.5f, 0.1f, 0.1f, 2};
  for (const int cut : cuts()) {
    const layout l = layout_of(h, n, cut);
    const auto count = [&](auto type_of_count, const char* what, std::size_t bins,
                           const auto& over_ranks, const auto& whole) {
      using T = decltype(type_of_count);
      for (const bool add : {false, true}) {
        std::vector<T> wanted(bins, 5);
        tally::outside_counts wanted_outside{1, 2, 3}, first = wanted_outside;
        result<T> counts(h, bins);
        result<tally::outside_counts> outside(h);
        tally::copy_bytes(h.where, wanted.data(), counts.get(), bins * sizeof(T));
        tally::copy_bytes(h.where, &first, outside.get(), sizeof first);
        whole(std::span(wanted), tally::histogram_options{add, 1, &wanted_outside});
        over_ranks(std::span(counts.get(), bins), tally::histogram_options{add, 1, outside.get()});
        h.expect(counts.all() == wanted, name_of(n, cut, what));
        h.expect(outside.value() == wanted_outside, name_of(n, cut, what) + ", outside");
      }
    };
    const auto k = keys.part_of(l);
    const auto x = samples.part_of(l);
    count(
        std::int64_t{}, "keys", 40,
        [&](auto c, const auto& o) { tally::nccl::bincount(h.over, h.where, k, c, o); },
        [&](auto c, const auto& o) { tally::bincount(one(), keys.all(), c, o); });
    count(
        std::int32_t{}, "even", 33,
        [&](auto c, const auto& o) { tally::nccl::histogram_even(l, h.where, x, -0.75, 1, c, o); },
        [&](auto c, const auto& o) {
          tally::histogram_even(one(), samples.all(), -0.75, 1, c, o);
        });
    count(
        std::int64_t{}, "range", 4,
        [&](auto c, const auto& o) { tally::nccl::histogram_range(l, h.where, x, edges, c, o); },
        [&](auto c, const auto& o) { tally::histogram_range(one(), samples.all(), edges, c, o); });
  }
}

template <class V>
tally::csr_matrix<V> random_matrix(std::int64_t rows, std::int64_t columns, std::int64_t band) {
  tally::csr_matrix<V> a;
  a.rows = static_cast<std::size_t>(rows);
  a.columns = static_cast<std::size_t>(columns);
  std::mt19937_64 random(static_cast<std::uint64_t>(rows + 7 * band));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::uint64_t terms = i % 97 == 3 ? 300 : random() % 12;
    for (std::uint64_t j = 0; j < terms; ++j) {
      const auto width = static_cast<std::uint64_t>(std::min(columns, 2 * band + 1));
      const std::int64_t near =
          i * columns / rows - band + static_cast<std::int64_t>(random() % width);
      a.column_indices.push_back(static_cast<std::int32_t>((near + 2 * columns) % columns));
      a.values.push_back(data::random_element<V>(random, data::kind::plain));
    }
    a.row_offsets.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

template <class V, class X, class Y>
void multiplies_of(const here& h, std::int64_t rows, std::int64_t columns, std::int64_t band) {
  const tally::csr_matrix<V> whole = random_matrix<V>(rows, columns, band);
  vector<X> x(h, columns, 50);
  vector<Y> y(h, rows, 51);
  const auto& w = h.where;
  for (const int cut : cuts()) {
    const layout by_rows = layout_of(h, rows, cut),
                 by_columns = layout_of(h, columns, (cut + 3) % data::all_cuts);
    const tally::nccl::matrix a(by_rows, by_columns, w,
                                tally::nccl::rows_of(by_rows, whole.view()));
    const auto size = static_cast<std::size_t>(by_rows.size());
    const auto part = x.part_of(by_columns);
    for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
      result<Y> result_memory(h, size), apart_memory(h, size);
      const std::span got(result_memory.get(), size), apart(apart_memory.get(), size);
      const auto compare = [&](result<Y>& r, const std::vector<Y>& wanted, const char* what) {
        const std::vector<Y> all = r.all();
        for (std::size_t i = 0; i < all.size(); ++i) {
          h.expect_bits(all[i], wanted[static_cast<std::size_t>(by_rows.first()) + i],
                        name_of(rows, cut, "spmv") + what);
        }
      };
      std::vector<Y> wanted(whole.rows);
      tally::spmv(one(), whole.view(), x.all(), wanted, g);
      tally::nccl::spmv(w, a, part, got, g);
      compare(result_memory, wanted, "");
      std::vector<Y> with_factors(whole.rows);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        with_factors[i] = y[static_cast<std::int64_t>(i)];
      }
      const std::vector<Y> added = with_factors;
      tally::copy(w, y.part_of(by_rows), got);
      tally::spmv(one(), 3.0f, whole.view(), x.all(), -2, with_factors, g);
      tally::nccl::spmv(w, 3.0f, a, part, -2, got, g);
      compare(result_memory, with_factors, ", with factors");
      tally::nccl::spmv(w, 3.0f, a, part, -2, y.part_of(by_rows), apart, g);
      compare(apart_memory, with_factors, ", apart");

      // Columns x, 2 x and 4 x, by rows; y by columns.
      constexpr std::size_t k = 3;
      const std::size_t width = part.size;
      result<X> columns_memory(h, width * k);
      result<Y> several_memory(h, size * k);
      for (std::size_t j = 0; j < k; ++j) {
        tally::scale(w, static_cast<float>(1 << j), part,
                     tally::strided(columns_memory.get() + j, width, k));
      }
      tally::nccl::spmm(w, a, tally::rows(columns_memory.get(), width, k),
                        tally::rows(several_memory.get(), size, k, 1,
                                    static_cast<std::ptrdiff_t>(std::max<std::size_t>(size, 1))),
                        g);
      const std::vector<Y> several = several_memory.all();
      for (std::size_t i = 0; i < several.size(); ++i) {
        const auto scaled = static_cast<tally::real_t<Y>>(1 << i / size);
        h.expect_bits(several[i],
                      wanted[static_cast<std::size_t>(by_rows.first()) + i % size] * scaled,
                      name_of(rows, cut, "spmm"));
      }
      if (size == 0) continue;
      const bool meets_others = a.ghosts() > 0;
      h.expect(meets_others == (a.boundary_rows() > 0), "boundary rows have ghosts");
    }
    result<Y> captured_memory(h, size);
    const std::span got(captured_memory.get(), size);
    graph captured(h.stream(), [&] { tally::nccl::spmv(w, a, part, got); });
    std::vector<Y> wanted(whole.rows);
    tally::spmv(one(), whole.view(), x.all(), wanted);
    for (int turn = 0; turn < 2; ++turn) {
      captured.launch();
      const std::vector<Y> all = captured_memory.all();
      for (std::size_t i = 0; i < all.size(); ++i) {
        h.expect_bits(all[i], wanted[static_cast<std::size_t>(by_rows.first()) + i],
                      name_of(rows, cut, "spmv in a graph"));
      }
    }
  }
}

void multiplies(const here& h) {
  multiplies_of<double, double, double>(h, 3000, 3000, 40);
  multiplies_of<double, double, double>(h, 500, 2000, 1000);
  multiplies_of<double, double, double>(h, 300, 1, 0);
  multiplies_of<float, double, float>(h, 1200, 1000, 5);
  multiplies_of<std::complex<double>, std::complex<float>, std::complex<double>>(h, 700, 700, 30);
  multiplies_of<tally::float16, float, double>(h, 400, 400, 400);

  const tally::csr_matrix<double> whole = random_matrix<double>(200, 200, 3);
  const layout l = layout_of(h, 200, 0);
  tally::csr_matrix<double> broken = whole;
  broken.column_indices[0] = 200;
  h.expect_error(
      tally::errc::invalid_argument,
      l.first() == 0 && l.size() > 0 ? "column" : "tally::nccl::matrix: the rows of rank 0",
      [&] { tally::nccl::matrix(l, h.where, tally::nccl::rows_of(l, broken.view())); });
  h.expect_error(tally::errc::size_mismatch, "tally::nccl::matrix: this rank's rows are 200",
                 [&] { tally::nccl::matrix(layout(h.over, h.where, 201), h.where, whole.view()); });

  tally::nccl::matrix from(l, h.where, tally::nccl::rows_of(l, whole.view()));
  const tally::nccl::matrix to = std::move(from);
  h.expect(from.rows() == 0 && from.columns() == 0 && from.boundary_rows() == 0 &&
               from.ghosts() == 0 && to.rows() == 200,
           "a matrix that was moved from");
  vector<double> x(h, 200, 70);
  result<double> y(h, static_cast<std::size_t>(l.size()));
  h.expect_error(tally::errc::invalid_argument, "tally::nccl::matrix: it was moved from", [&] {
    tally::nccl::spmv(h.where, from, x.part_of(l),
                      std::span(y.get(), static_cast<std::size_t>(l.size())));
  });
}

void refuses(const here& h) {
  const layout l(h.over, h.where, 1000);
  vector<double> x(h, 1000, 60);
  h.expect_error(tally::errc::size_mismatch, "tally::nccl: a vector has 999 elements",
                 [&] { tally::nccl::dot(l, h.where, x.part(0, 1000), x.part(0, 999)); });
  h.expect_error(tally::errc::invalid_argument, "the executor is simd",
                 [&] { tally::nccl::dot(l, tally::simd(), x.part(0, 1000), x.part(0, 1000)); });
  h.expect_error(tally::errc::invalid_argument, "NCCL's communicator has device",
                 [&] { communicator(nullptr, h.where); });
  std::vector<double> on_host(1000);
  h.expect_error(tally::errc::wrong_memory, "",
                 [&] { tally::nccl::dot(l, h.where, on_host, on_host); });
  const double exact = tally::nccl::dot(h.over, h.where, x.part(0, 9), x.part(0, 9), tally::exact);
  h.expect_error(tally::errc::wrong_memory, "", [&] {
    tally::nccl::dot(h.over, h.where, x.part(0, 9), x.part(0, 9), on_host.data(), tally::exact);
  });
  h.expect_bits(tally::nccl::dot(h.over, h.where, x.part(0, 9), x.part(0, 9), tally::exact), exact,
                "an exact sum after one whose result was refused");
  tally::extremum<double>* const nowhere = nullptr;
  h.expect_error(tally::errc::null_pointer, "tally::nccl: result is null",
                 [&] { tally::nccl::max(l, h.where, x.part(0, 1000), nowhere); });
  h.expect_bits(
      tally::nccl::nrm2(l, h.where, x.part(0, 1000)),
      [&] {
        std::vector<double> all;
        for (int r = 0; r < h.over.ranks(); ++r) {
          for (std::int64_t i = 0; i < 1000; ++i) all.push_back(x[i]);
        }
        return tally::nrm2(one(), all);
      }(),
      "a call after those that were refused");
}

constexpr std::pair<const char*, void (*)(const here&)> tests[] = {
    {"numbers elements", numbers_elements},
    {"sums doubles", sums_doubles},
    {"sums all types", sums_all_types},
    {"scales norms", scales_norms},
    {"scans", scans},
    {"sums many", sums_many},
    {"sums layouts", sums_layouts},
    {"is captured in a graph", is_captured},
    {"runs back to back", runs_back_to_back},
    {"waits for idle ranks", waits_for_idle_ranks},
    {"finds extrema", finds_extrema},
    {"counts samples", counts_samples},
    {"adds samples", adds_samples},
    {"multiplies", multiplies},
    {"refuses", refuses},
};

// --- Ranks ----------------------------------------------------------------------------------------

std::vector<std::string_view> chosen;

/// Exceptions end the program: other ranks would wait for ever.
void run_rank(ncclComm_t comm, int device) {
  try {
    tally::nccl::detail::check(cudaSetDevice(device), "cudaSetDevice");
    cudaStream_t stream = nullptr;
    tally::nccl::detail::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                               "cudaStreamCreateWithFlags");
    {
      const tally::executor where = tally::cuda({.device = device, .stream = stream});
      const communicator over(comm, where);
      if (over.rank() == 0) {
        std::printf("  %d ranks, %s\n", over.ranks(),
                    over.through() != nullptr ? "windows" : "NCCL alone");
      }
      for (const auto& [name, run] : tests) {
        const auto is_named = [&, &name = name](std::string_view part) {
          return std::string_view(name).find(part) != std::string_view::npos;
        };
        if (!chosen.empty() && std::none_of(chosen.begin(), chosen.end(), is_named)) continue;
        run({over, where, name});
      }
    }
    (void)cudaStreamDestroy(stream);
  } catch (const std::exception& e) {
    std::printf("device %d: %s\n", device, e.what());
    std::fflush(stdout);
    std::_Exit(1);
  }
}

void check_nccl(ncclResult_t status) {
  if (status == ncclSuccess) return;
  std::printf("NCCL: %s\n", ncclGetErrorString(status));
  std::fflush(stdout);
  std::_Exit(1);
}

void run_threads(int ranks) {
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks));
  check_nccl(ncclCommInitAll(comms.data(), ranks, nullptr));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back(run_rank, comms[static_cast<std::size_t>(r)], r);
  }
  for (std::thread& t : threads) t.join();
  for (ncclComm_t comm : comms) check_nccl(ncclCommDestroy(comm));
}

/// Memory that the processes of one run share.
struct shared {
  std::atomic<bool> is_ready = false;
  ncclUniqueId id;
  std::atomic<int> checks = 0;
};

/// A process for each rank. The calling process has never used CUDA.
void run_processes(int ranks) {
  void* const memory =
      mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const all = new (memory) shared;
  std::vector<pid_t> children;
  for (int r = 0; r < ranks; ++r) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    alarm(900);
    if (r == 0) {
      check_nccl(ncclGetUniqueId(&all->id));
      all->is_ready = true;
    }
    while (!all->is_ready) std::this_thread::yield();
    if (cudaSetDevice(r) != cudaSuccess) std::_Exit(1);
    ncclComm_t comm = nullptr;
    check_nccl(ncclCommInitRank(&comm, ranks, all->id, r));
    run_rank(comm, r);
    check_nccl(ncclCommDestroy(comm));
    all->checks += checks;
    std::fflush(stdout);
    std::_Exit(failures > 0);
  }
  for (std::size_t ended = 0; ended < children.size(); ++ended) {
    int status = 0;
    const pid_t child = wait(&status);
    if (status == 0) continue;
    ++failures;
    for (const pid_t other : children) {
      if (other != child && !WIFEXITED(status)) kill(other, SIGKILL);
    }
  }
  checks += all->checks;
  munmap(memory, sizeof(shared));
}

/// Counted in another process, so that this one can still fork.
int count_devices() {
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    std::_Exit(cudaGetDeviceCount(&count) == cudaSuccess ? count : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool threads = true, processes = true;
  for (const std::string_view word : std::span(argv + 1, argv + argc)) {
    if (word == "--few") {
      few = true;
    } else if (word == "--threads") {
      processes = false;
    } else if (word == "--processes") {
      threads = false;
    } else {
      chosen.push_back(word);
    }
  }
  const int devices = count_devices();
  if (devices == 0) {
    std::puts("skipped: there is no GPU");
    return 77;
  }
  const auto run = [&](const char* what, int ranks, void (*ranks_of)(int)) {
    for (const char* windows : {"1", "0"}) {
      setenv("TALLY_NCCL_WINDOWS", windows, 1);
      std::printf("%s\n", what);
      std::fflush(stdout);
      ranks_of(ranks);
    }
  };
  if (processes) run("a process for each GPU", devices, run_processes);
  if (threads) {
    alarm(900);
    run("one GPU", 1, run_threads);
    if (devices > 1) run("a thread for each GPU", devices, run_threads);
  }
  std::printf("%d checks, %d failures\n", checks.load(), failures.load());
  return failures > 0;
}
