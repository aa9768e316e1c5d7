// Calls over ranks have the bits of the same calls on the whole vectors in one process. A program
// for mpiexec: prints each difference with its rank, and exits with the number of failures.
//
//   mpiexec -n 3 tally_mpi_tests [--full | --few] [TEST...]     (a part of a test's name)
//
// --few: for an MPI that spins while it waits, with more ranks than processors.
#include <tally/mpi.hpp>
#include <tally/tally.hpp>

#include <tests/cuts.hpp>
#include <tests/data.hpp>

#include <sys/stat.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

using tally::mpi::layout;

int rank_here = 0;
int ranks_here = 1;
bool full = false, few = false;
std::string test;  // its name
int checks = 0;
int failures = 0;

/// Whether MPI pretends to combine out of order.
bool spoils_order = false;
int spoiled_messages = 0;

/// The MPI function that pretends to fail here; the functions called so far.
std::string failing;
int failed_calls = 0;
std::set<std::string> called;

/// Communicators created and not freed.
int communicators = 0;

void expect(bool holds, const std::string& what) {
  ++checks;
  if (holds) return;
  if (++failures <= 20) {
    std::printf("rank %d of %d: %s: %s\n", rank_here, ranks_here, test.c_str(), what.c_str());
    std::fflush(stdout);
  }
}

template <class T>
void expect_bits(const T& got, const T& wanted, const std::string& what) {
  expect(data::bits(got) == data::bits(wanted), what);
}

/// This rank's executor: they differ.
tally::executor here() {
  switch (rank_here % 3) {
    case 0:
      return tally::simd();
    case 1:
      return tally::serial();
    default:
      return tally::executor_named(TALLY_HAS_OPENMP ? "openmp" : "simd");
  }
}

// --- Vectors, and where they are cut --------------------------------------------------------------

/// Every `increment`-th element of memory, on all ranks.
template <class T>
class vector {
 public:
  explicit vector(std::int64_t n, std::uint64_t seed = 1, data::kind kind = data::kind::plain,
                  std::ptrdiff_t increment = 1)
      : size_(n),
        increment_(increment),
        memory_(std::make_unique<T[]>(static_cast<std::size_t>(n * std::abs(increment) + 1))) {
    std::mt19937_64 random(seed);
    for (std::int64_t i = 0; i < n; ++i) (*this)[i] = data::random_element<T>(random, kind);
  }

  T& operator[](std::int64_t i) {
    return memory_[static_cast<std::size_t>((increment_ < 0 ? i + 1 - size_ : i) * increment_)];
  }
  tally::strided_view<const T> part(std::int64_t first, std::int64_t n) {
    if (n == 0) return tally::strided<const T>(nullptr, 0, increment_);
    const T* const lowest = &(*this)[increment_ < 0 ? first + n - 1 : first];
    return tally::strided(lowest, static_cast<std::size_t>(n), increment_);
  }
  tally::strided_view<const T> all() { return part(0, size_); }
  tally::strided_view<const T> part_of(const layout& l) { return part(l.first(), l.size()); }

 private:
  std::int64_t size_;
  std::ptrdiff_t increment_;
  std::unique_ptr<T[]> memory_;
};

template <class T>
std::vector<T> copied(vector<T>& x, const layout& l) {
  std::vector<T> part;
  for (std::int64_t i = 0; i < l.size(); ++i) part.push_back(x[l.first() + i]);
  return part;
}

using data::all_cuts;
std::vector<int> cuts() { return data::cuts(few); }

std::int64_t size_of_cut(std::int64_t n, int cut) {
  return data::size_of_cut(n, cut, rank_here, ranks_here);
}

std::vector<std::int64_t> sizes() {
  if (full) return {0, 1, 63, 1000, 1024, 1025, 5000, 16384, 100000, 1048577};
  if (few) return {0, 1, 1025, 9000};
  return {0, 1, 63, 1024, 1025, 5000, 70000};
}

std::string name_of(std::int64_t n, int cut, const char* function) {
  return std::string(function) + ", " + std::to_string(n) + " elements, cut " + std::to_string(cut);
}

void expect_error(tally::errc code, const std::string& text, const std::function<void()>& call) {
  try {
    call();
    expect(false, "nothing was thrown instead of: " + text);
  } catch (const tally::error& e) {
    expect(e.code() == code && std::string(e.what()).find(text) != std::string::npos,
           std::string("\"") + e.what() + "\" instead of: " + text);
  }
}

class ranks_again {
 public:
  ranks_again() { PMPI_Comm_dup(MPI_COMM_WORLD, &handle_); }
  ranks_again(const ranks_again&) = delete;
  ranks_again& operator=(const ranks_again&) = delete;
  ~ranks_again() { free(); }

  MPI_Comm get() const { return handle_; }
  void free() {
    if (handle_ != MPI_COMM_NULL) PMPI_Comm_free(&handle_);
  }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

// --- The tests ------------------------------------------------------------------------------------

void numbers_elements() {
  for (const std::int64_t n : sizes()) {
    for (const int cut : cuts()) {
      layout l(MPI_COMM_WORLD, size_of_cut(n, cut));
      expect(l.total() == n && l.rank() == rank_here && l.ranks() == ranks_here, "a layout");
      for (std::int64_t i = l.first(); i < l.first() + l.size(); ++i) {
        expect(l.owner(i) == rank_here, "an owner");
      }
      const layout moved = std::move(l);
      expect(moved.first(ranks_here) == n, "a layout that was moved");
      expect(l.first(ranks_here) == n && l.size() == moved.size() && l.owner(0) == moved.owner(0) &&
                 l.communicator() == moved.communicator(),
             "a layout that was moved from");
    }
    expect(layout::cut(n, 0, ranks_here) == 0 && layout::cut(n, ranks_here, ranks_here) == n,
           "the ends of a cut");
    const std::int64_t border = layout::cut(n, rank_here, ranks_here);
    expect(border % 1024 == 0 || border == n, "a cut at a chunk");
  }

  // Ranks in reverse order, the middle ones empty.
  const std::int64_t mine = rank_here % 2 == 0 ? 10 + rank_here : 0;
  std::int64_t after = 0;
  for (int r = rank_here + 1; r < ranks_here; ++r) after += r % 2 == 0 ? 10 + r : 0;
  const layout l(MPI_COMM_WORLD, mine, after);
  expect(l.size() == mine && (mine == 0 || l.first() == after), "a layout of placed ranks");
  vector<double> x(l.total());
  expect_bits(tally::mpi::dot(l, here(), x.part_of(l), x.part_of(l)),
              tally::dot(tally::serial(), x.all(), x.all()), "placed ranks");

  expect_error(tally::errc::invalid_argument, "rank 0 has -1 elements",
               [] { layout(MPI_COMM_WORLD, rank_here == 0 ? -1 : 5); });
  expect_error(tally::errc::invalid_argument, "begins at element",
               [] { layout(MPI_COMM_WORLD, 5, 5 * rank_here + 1); });
  expect_error(tally::errc::invalid_argument, "MPI_COMM_NULL", [] { layout(MPI_COMM_NULL, 5); });
}

void sums_doubles() {
  for (const std::int64_t n : sizes()) {
    vector<double> x(n, 1, data::kind::wide), y(n, 2);
    const double dot = tally::dot(tally::serial(), x.all(), y.all());
    const double exact = tally::dot(tally::serial(), x.all(), y.all(), tally::exact);
    for (const int cut : cuts()) {
      const layout l(MPI_COMM_WORLD, size_of_cut(n, cut));
      const auto a = x.part_of(l), b = y.part_of(l);
      expect_bits(tally::mpi::dot(l, here(), a, b), dot, name_of(n, cut, "dot"));
      expect_bits(tally::mpi::dot(l, here(), a, b, tally::exact), exact,
                  name_of(n, cut, "exact dot"));
      expect_bits(tally::mpi::dot(MPI_COMM_WORLD, here(), a, b, tally::exact), exact,
                  name_of(n, cut, "exact dot over a communicator"));
    }
  }
}

template <class X, class Y>
void sums_types_of(std::int64_t n, int cut, data::kind kind, std::ptrdiff_t increment) {
  const std::string name = name_of(n, cut, "") + ", " +
                           std::string(tally::name(tally::type_of<X>)) + " and " +
                           std::string(tally::name(tally::type_of<Y>));
  vector<X> x(n, 3, kind, increment);
  vector<Y> y(n, 4, kind);
  const layout l(MPI_COMM_WORLD, size_of_cut(n, cut));
  const auto all_x = x.all(), a = x.part_of(l);
  const auto all_y = y.all(), b = y.part_of(l);
  const auto one = tally::serial();
  using wide = tally::dot_widest_t<X, Y>;
  using wide_sum = tally::dot_widest_t<X, X>;
  for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
    const std::string of = (g.is_exact() ? " exactly" : "") + name;
    expect_bits(tally::mpi::dot(l, here(), a, b, g), tally::dot(one, all_x, all_y, g), "dot" + of);
    for (const auto vector : {tally::conjugate::x, tally::conjugate::y}) {
      expect_bits(tally::mpi::dot(l, here(), a, b, {vector, g}),
                  tally::dot(one, all_x, all_y, {vector, g}), "conjugated dot" + of);
    }
    expect_bits(tally::mpi::dot<wide>(l, here(), a, b, g), tally::dot<wide>(one, all_x, all_y, g),
                "wide dot" + of);
    expect_bits(tally::mpi::sum(l, here(), a, g), tally::sum(one, all_x, g), "sum" + of);
    expect_bits(tally::mpi::sum<wide_sum>(l, here(), a, g), tally::sum<wide_sum>(one, all_x, g),
                "wide sum" + of);
    expect_bits(tally::mpi::asum(l, here(), a, g), tally::asum(one, all_x, g), "asum" + of);
    expect_bits(tally::mpi::nrm2(l, here(), a, g), tally::nrm2(one, all_x, g), "nrm2" + of);
    expect_bits(tally::mpi::nrm2<double>(l, here(), a, g), tally::nrm2<double>(one, all_x, g),
                "wide nrm2" + of);
    if constexpr (!tally::is_complex_v<X> && !tally::is_complex_v<Y>) {
      expect_bits(tally::mpi::wrms_norm(l, here(), a, b, g), tally::wrms_norm(one, all_x, all_y, g),
                  "wrms_norm" + of);
      expect_bits(tally::mpi::wrms_norm_mask<double>(l, here(), a, b, b, g),
                  tally::wrms_norm_mask<double>(one, all_x, all_y, all_y, g),
                  "wrms_norm_mask" + of);
      expect_bits(tally::mpi::weighted_nrm2(l, here(), a, b, g),
                  tally::weighted_nrm2(one, all_x, all_y, g), "weighted_nrm2" + of);
      expect_bits(tally::mpi::max_norm(l, here(), a), tally::max_norm(one, all_x), "max_norm" + of);
    }
  }
}

template <class X, class Y>
void sums_types() {
  for (const std::int64_t n : {std::int64_t{700}, std::int64_t{9000}}) {
    for (const int cut : few ? std::vector{n < 1024 ? 4 : 8} : std::vector{0, 1, 4, 7}) {
      sums_types_of<X, Y>(n, cut, data::kind::plain, 1);
      sums_types_of<X, Y>(n, cut, data::kind::wide, -2);
      sums_types_of<X, Y>(n, cut, data::kind::special, 1);
    }
  }
}

void sums_all_types() {
  sums_types<double, double>();
  sums_types<float, float>();
  sums_types<float, double>();
  sums_types<tally::float16, tally::float16>();
  sums_types<tally::bfloat16, std::int8_t>();
  sums_types<std::int32_t, std::int64_t>();
  sums_types<std::int64_t, float>();
  sums_types<bool, std::uint8_t>();
  sums_types<std::complex<float>, std::complex<float>>();
  sums_types<std::complex<double>, double>();
  sums_types<float, std::complex<double>>();
  sums_types<std::complex<double>, std::complex<float>>();
}

template <class X, class Y>
void scans_type(std::int64_t n, int cut, data::kind kind, std::ptrdiff_t increment) {
  vector<X> x(n, 7, kind, increment);
  const layout l(MPI_COMM_WORLD, size_of_cut(n, cut));
  std::vector<Y> whole(static_cast<std::size_t>(n)), part(static_cast<std::size_t>(l.size()));
  const auto expect_part = [&](const std::vector<Y>& got, const char* function) {
    bool equal = true;
    for (std::int64_t i = 0; i < l.size(); ++i) {
      equal = equal && data::same_bits(got[static_cast<std::size_t>(i)],
                                       whole[static_cast<std::size_t>(l.first() + i)]);
    }
    expect(equal, name_of(n, cut, function) + " of " + std::string(name(tally::type_of<X>)) +
                      " in " + std::string(name(tally::type_of<Y>)));
  };
  tally::inclusive_scan(tally::serial(), x.all(), whole);
  tally::mpi::inclusive_scan(l, here(), x.part_of(l), part);
  expect_part(part, "inclusive_scan");
  tally::exclusive_scan(tally::serial(), x.all(), whole);
  tally::mpi::exclusive_scan(l, here(), x.part_of(l), part);
  expect_part(part, "exclusive_scan");
  if constexpr (std::is_same_v<X, Y>) {
    std::vector<X> own = copied(x, l);
    tally::mpi::exclusive_scan(l, here(), own, own);
    expect_part(own, "exclusive_scan in place");
  }
}

void scans() {
  for (const std::int64_t n : sizes()) {
    for (const int cut : cuts()) {
      scans_type<double, double>(n, cut, data::kind::wide, 1);
      scans_type<std::complex<float>, std::complex<float>>(n, cut, data::kind::special, -2);
    }
  }
  for (const int cut : cuts()) {
    scans_type<tally::float16, float>(9000, cut, data::kind::special, 1);
    scans_type<std::int32_t, double>(9000, cut, data::kind::wide, 2);
    scans_type<std::int64_t, std::int64_t>(9000, cut, data::kind::wide, 1);
    scans_type<bool, std::int64_t>(700, cut, data::kind::plain, 1);
    scans_type<std::complex<float>, std::complex<double>>(9000, cut, data::kind::plain, 1);
  }
  const layout l(MPI_COMM_WORLD, 700);
  std::vector<double> x(700, 1), y(rank_here == ranks_here - 1 ? 699 : 700);
  const std::string last = "rank " + std::to_string(ranks_here - 1);
  expect_error(tally::errc::size_mismatch,
               last + ": tally::mpi: a vector has 699 elements, this rank's part of the layout has",
               [&] { tally::mpi::inclusive_scan(l, here(), x, y); });
  std::vector<double> twice(701);
  const std::span<double> from(twice.data(), 700), to(twice.data() + (rank_here == 0 ? 1 : 0), 700);
  expect_error(tally::errc::overlap, "rank 0: tally::inclusive_scan: y overlaps x",
               [&] { tally::mpi::inclusive_scan(l, here(), from, to); });
}

void scales_norms() {
  const std::int64_t n = 5000;
  for (const double huge : {1e200, 1e-200, 0x1p-1074, 1.7e308}) {
    for (const int cut : cuts()) {
      vector<double> x(n, 5);
      for (std::int64_t i = 0; i < n; ++i) x[i] *= huge < 1 ? huge : 1;
      x[n - 1] = huge;
      vector<std::complex<float>> z(n, 6);
      z[17] = {0, 1e30f};
      const layout l(MPI_COMM_WORLD, size_of_cut(n, cut));
      expect_bits(tally::mpi::nrm2(l, here(), x.part_of(l)), tally::nrm2(tally::serial(), x.all()),
                  name_of(n, cut, "nrm2"));
      expect_bits(tally::mpi::nrm2(l, here(), z.part_of(l)), tally::nrm2(tally::serial(), z.all()),
                  name_of(n, cut, "complex nrm2"));
    }
  }
}

void sums_many() {
  for (const std::int64_t n : {std::int64_t{900}, std::int64_t{20000}}) {
    std::vector<vector<float>> x;
    for (std::uint64_t j = 0; j < 5; ++j) x.emplace_back(n, 10 + j, data::kind::wide);
    vector<double> y(n, 20);
    vector<std::complex<double>> block(3 * n, 21);
    for (const int cut : cuts()) {
      const layout l(MPI_COMM_WORLD, size_of_cut(n, cut));
      const auto size = static_cast<std::size_t>(l.size());
      for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
        std::vector<tally::strided_view<const float>> fields;
        std::vector<tally::vector_pair<float, double>> pairs;
        for (vector<float>& field : x) {
          fields.push_back(field.part_of(l));
          pairs.push_back(tally::pair_of(field.part_of(l), y.part_of(l)));
        }
        const auto sums = tally::mpi::sums(l, here(), fields, g);
        auto started = tally::mpi::isums<double>(l, here(), fields, g);
        const auto dots = tally::mpi::multi_dot(l, here(), pairs, g);
        const auto wide_sums = started.wait();
        for (std::size_t j = 0; j < x.size(); ++j) {
          const auto one = tally::serial();
          expect_bits(sums[j], tally::sum(one, x[j].all(), g), name_of(n, cut, "sums"));
          expect_bits(wide_sums[j], tally::sum<double>(one, x[j].all(), g),
                      name_of(n, cut, "isums"));
          expect_bits(dots[j], tally::dot(one, x[j].all(), y.all(), g),
                      name_of(n, cut, "multi_dot"));
        }
        const auto rows = tally::rows(l.size() == 0 ? nullptr : &block[l.first()], 3, size, n);
        const auto products =
            tally::mpi::multi_dot(l, here(), rows, y.part_of(l), {tally::conjugate::x, g});
        for (std::int64_t j = 0; j < 3; ++j) {
          expect_bits(
              products[static_cast<std::size_t>(j)],
              tally::dot(tally::serial(), block.part(j * n, n), y.all(), {tally::conjugate::x, g}),
              name_of(n, cut, "conjugated multi_dot"));
        }
      }
      // A message longer than a page.
      const std::vector<tally::strided_view<const double>> copies(300, y.part_of(l));
      const double of_each = tally::sum(tally::serial(), y.all());
      for (const double sum : tally::mpi::sums(l, here(), copies)) {
        expect_bits(sum, of_each, name_of(n, cut, "300 sums"));
      }
      const std::vector<tally::strided_view<const float>> none;
      expect(tally::mpi::sums(l, here(), none).empty(), "no sums");
    }
  }
}

/// An axis over ranks: columns of a row-major matrix of which each rank has rows, the same of a
/// column-major one, and an array of three dimensions.
template <class A, class X, class Y>
void sums_layouts_of(std::int64_t n, int cut) {
  constexpr std::size_t k = 6;
  constexpr std::ptrdiff_t width = k;
  vector<A> a(n * width, 90, data::kind::wide);
  vector<X> x(n, 91);
  const layout l(MPI_COMM_WORLD, size_of_cut(n, cut));
  const auto size = static_cast<std::size_t>(l.size()), all = static_cast<std::size_t>(n);
  const A* const whole = &a[0];
  const A* const part = whole + l.first() * width;
  const auto one = tally::serial();
  const std::string name = name_of(n, cut, "an axis over ranks of ") +
                           std::string(tally::name(tally::type_of<A>)) + " and " +
                           std::string(tally::name(tally::type_of<X>));
  const auto expect_equal = [&]<class T>(const std::vector<T>& got, const std::vector<T>& wanted,
                                         const char* what) {
    expect(got.size() == wanted.size(), name + what);
    for (std::size_t j = 0; j < wanted.size(); ++j) expect_bits(got[j], wanted[j], name + what);
  };
  const auto columns = [&](const A* from, std::size_t m) {
    return tally::rows(from, k, m, 1, width);
  };
  const auto rows = [&](const A* from, std::size_t m) { return tally::rows(from, k, m, n); };
  for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
    expect_equal(tally::mpi::sums(l, here(), columns(part, size), g),
                 tally::sums(one, columns(whole, all), g), ", sums of columns");
    expect_equal(tally::mpi::isums(l, here(), rows(whole + l.first(), size), g).wait(),
                 tally::sums(one, rows(whole, all), g), ", sums of rows");
    const auto blocks = [&](const A* from, std::size_t m) {
      return tally::rows(from, 2, m, 1, 2, 3, 2 * n);
    };
    expect_equal(tally::mpi::sums(l, here(), blocks(whole + 2 * l.first(), size), g),
                 tally::sums(one, blocks(whole, all), g), ", sums along a middle axis");
    expect_equal(tally::mpi::multi_dot(l, here(), columns(part, size), x.part_of(l), g),
                 tally::multi_dot(one, columns(whole, all), x.all(), g), ", multi_dot of columns");
    if constexpr (!std::is_integral_v<A>) {
      const auto product = [&](const auto& of_ranks, const auto& of_all, const auto alpha,
                               const auto beta, const char* what) {
        std::vector<Y> got(k, Y{3}), wanted(k, Y{3});
        tally::mpi::gemv(l, here(), alpha, of_ranks, x.part_of(l), beta, got, g);
        tally::gemv(one, alpha, of_all, x.all(), beta, wanted, g);
        expect_equal(got, wanted, what);
      };
      const auto mine = tally::rows(part, size, k), every = tally::rows(whole, all, k);
      product(rows(whole + l.first(), size), rows(whole, all), 3, 0, ", gemv");
      product(tally::transpose(mine), tally::transpose(every), 0.1, -2.5f, ", gemv, transposed");
      product(tally::conjugate_transpose(mine), tally::conjugate_transpose(every), Y{0.1f}, Y{3},
              ", gemv, conjugated");
      std::vector<Y> got(k), wanted(k);
      tally::mpi::gemv(l, here(), rows(whole + l.first(), size), x.part_of(l), got, g);
      tally::gemv(one, rows(whole, all), x.all(), wanted, g);
      expect_equal(got, wanted, ", gemv without factors");
    }
  }
  expect_equal(tally::mpi::sums<tally::dot_widest_t<A, A>>(MPI_COMM_WORLD, here(),
                                                           columns(part, size), tally::exact),
               tally::sums<tally::dot_widest_t<A, A>>(one, columns(whole, all), tally::exact),
               ", sums over a communicator");
}

void sums_layouts() {
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{900}, std::int64_t{9000}}) {
    for (const int cut : cuts()) {
      sums_layouts_of<double, double, double>(n, cut);
      sums_layouts_of<float, float, double>(n, cut);
      sums_layouts_of<std::complex<float>, float, std::complex<double>>(n, cut);
      sums_layouts_of<std::int32_t, std::int8_t, double>(n, cut);
    }
  }
  const layout l(MPI_COMM_WORLD, 5);
  const std::vector<double> a(10, 1), x(5, 1);
  std::vector<double> y(rank_here == ranks_here - 1 ? 3 : 2);
  const std::string last = "rank " + std::to_string(ranks_here - 1) + ": ";
  expect_error(tally::errc::size_mismatch,
               last + "tally::mpi::gemv: y has 3 elements, op(A) 2 rows",
               [&] { tally::mpi::gemv(l, here(), tally::rows(a.data(), 2, 5), x, y); });
}

void gathers_what_mpi_joins_out_of_order() {
  for (const int spoiled : {0, 1}) {  // on all ranks, or on one alone
    spoils_order = spoiled == 0 || rank_here == ranks_here - 1;
    const int before = spoiled_messages;
    const std::int64_t n = 5000;
    const ranks_again comm;  // findings are cached with it
    const layout l(comm.get(), size_of_cut(n, 0));
    vector<double> x(n, 7), y(n, 8);
    for (int turn = 0; turn < 3; ++turn) {
      expect_bits(tally::mpi::dot(l, here(), x.part_of(l), y.part_of(l)),
                  tally::dot(tally::serial(), x.all(), y.all()), "dot");
      expect_bits(tally::mpi::idot(l, here(), x.part_of(l), y.part_of(l)).wait(),
                  tally::dot(tally::serial(), x.all(), y.all()), "idot");
    }
    expect(!spoils_order || spoiled_messages == before + 2,
           "each kind of message is looked at once");
  }
  spoils_order = true;
  const ranks_again comm;
  for (const std::int64_t n : sizes()) {
    for (const int cut : cuts()) {
      const layout l(comm.get(), size_of_cut(n, cut));
      vector<double> x(n, 7), y(n, 8);
      expect_bits(tally::mpi::dot(l, here(), x.part_of(l), y.part_of(l)),
                  tally::dot(tally::serial(), x.all(), y.all()), name_of(n, cut, "dot"));
    }
  }
  spoils_order = false;
}

void keeps_requests_apart() {
  const std::int64_t n = 30000;
  vector<double> x(n, 30), y(n, 31);
  vector<std::complex<float>> z(n, 32);
  const auto one = tally::serial();
  for (const int cut : cuts()) {
    const layout l(MPI_COMM_WORLD, size_of_cut(n, cut));
    const layout m(MPI_COMM_WORLD, size_of_cut(n, (cut + 4) % all_cuts));
    const auto w = here();
    auto a = tally::mpi::idot(l, w, x.part_of(l), y.part_of(l));
    auto b = tally::mpi::idot(m, w, z.part_of(m), z.part_of(m), tally::conjugate::x);
    auto c = tally::mpi::inrm2(l, w, z.part_of(l));
    auto d = tally::mpi::isum(m, w, x.part_of(m), tally::exact);
    auto e = tally::mpi::iasum(l, w, y.part_of(l));
    auto f = tally::mpi::idot(MPI_COMM_WORLD, w, x.part_of(m), y.part_of(m), tally::exact);
    auto h = tally::mpi::idot(MPI_COMM_WORLD, w, z.part_of(m), z.part_of(m),
                              {tally::conjugate::x, tally::exact});
    {
      auto dropped = tally::mpi::idot(l, w, x.part_of(l), x.part_of(l));
    }
    while (!e.test()) {
    }
    expect_bits(e.wait(), tally::asum(one, y.all()), name_of(n, cut, "iasum"));
    expect_bits(a.wait(), tally::dot(one, x.all(), y.all()), name_of(n, cut, "idot"));
    expect_bits(f.wait(), tally::dot(one, x.all(), y.all(), tally::exact),
                name_of(n, cut, "exact idot"));
    expect_bits(h.wait(), tally::dot(one, z.all(), z.all(), {tally::conjugate::x, tally::exact}),
                name_of(n, cut, "conjugated exact idot"));
    a = tally::mpi::idot(m, w, y.part_of(m), y.part_of(m));
    expect_bits(b.wait(), tally::dot(one, z.all(), z.all(), tally::conjugate::x),
                name_of(n, cut, "conjugated idot"));
    expect_bits(c.wait(), tally::nrm2(one, z.all()), name_of(n, cut, "inrm2"));
    expect_bits(d.wait(), tally::sum(one, x.all(), tally::exact), name_of(n, cut, "isum"));
    expect_bits(a.wait(), tally::dot(one, y.all(), y.all()), name_of(n, cut, "another idot"));
    expect(a.test(), "a request of nothing");
    expect_error(tally::errc::invalid_argument, "nothing to wait for", [&] { a.wait(); });
  }
}

void fails_on_all_ranks() {
  const std::int64_t n = 3000;
  vector<double> x(n), y(n);
  const int failing = ranks_here / 2;
  const std::string who = "rank " + std::to_string(failing) + ": ";
  for (const int cut : cuts()) {
    const layout l(MPI_COMM_WORLD, size_of_cut(n, cut));
    const bool fails = rank_here == failing;
    const auto a = x.part_of(l);
    auto b = y.part_of(l);
    if (fails) b.size += 1;
    for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
      expect_error(tally::errc::size_mismatch, who, [&] { tally::mpi::dot(l, here(), a, b, g); });
      auto started = tally::mpi::idot(l, here(), a, b, g);
      expect_error(tally::errc::size_mismatch, who, [&] { started.wait(); });
    }
    expect_error(tally::errc::size_mismatch, who,
                 [&] { tally::mpi::dot(MPI_COMM_WORLD, here(), a, b, tally::exact); });
    expect_error(tally::errc::size_mismatch, who, [&] { tally::mpi::nrm2(l, here(), b); });
    expect_error(tally::errc::size_mismatch, who, [&] { tally::mpi::max(l, here(), b); });
    expect_error(tally::errc::size_mismatch, who, [&] { tally::mpi::iamax(l, here(), b); });
    // Every rank with elements fails: the error names the lowest.
    const auto nowhere = tally::strided<const double>(nullptr, static_cast<std::size_t>(l.size()));
    for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
      expect_error(tally::errc::null_pointer, "rank " + std::to_string(l.owner(0)) + ": ",
                   [&] { tally::mpi::dot(l, here(), nowhere, nowhere, g); });
    }
    expect_bits(tally::mpi::dot(l, here(), a, a), tally::dot(tally::serial(), x.all(), x.all()),
                "dot after errors");
  }
  const layout none(MPI_COMM_WORLD, 0);
  expect_error(tally::errc::no_elements, "no rank has an element",
               [&] { tally::mpi::min(none, here(), x.part(0, 0)); });
  expect(tally::mpi::iamax(none, here(), x.part(0, 0)) == -1, "iamax of nothing");
}

template <class T>
void finds_extrema_of(data::kind kind) {
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{40}, std::int64_t{3000}}) {
    vector<T> x(n, 40, kind);
    for (const int cut : cuts()) {
      const layout l(MPI_COMM_WORLD, size_of_cut(n, cut));
      const auto part = x.part_of(l);
      const std::string name =
          name_of(n, cut, "an end") + " of " + std::string(tally::name(tally::type_of<T>));
      const auto one = tally::serial();
      if constexpr (!tally::is_complex_v<T>) {
        const auto [min, max] = tally::minmax(one, x.all());
        expect_bits(tally::mpi::min(l, here(), part), min, name);
        expect_bits(tally::mpi::max(l, here(), part), max, name);
        const auto both = tally::mpi::minmax(l, here(), part);
        expect_bits(both.min, min, name);
        expect_bits(both.max, max, name);
      }
      expect(tally::mpi::iamax(l, here(), part) == tally::iamax(one, x.all()), "iamax, " + name);
    }
  }
}

void finds_extrema() {
  data::for_each_type([]<class T>(std::type_identity<T>) {
    for (const data::kind kind : {data::kind::plain, data::kind::wide, data::kind::special}) {
      finds_extrema_of<T>(kind);
    }
  });
}

// --- Histograms -----------------------------------------------------------------------------------

void counts_samples() {
  const std::int64_t n = 20000;
  const tally::executor one = tally::serial();
  vector<std::int32_t> keys(n, 80);
  for (std::int64_t i = 0; i < n; ++i) keys[i] = static_cast<std::int32_t>(i * i % 61);
  vector<double> samples(n, 81, data::kind::special), doubles(n, 82, data::kind::wide);
  vector<float> floats(n, 83, data::kind::wide);
  const std::vector<float> edges = {-1, -0.5f, 0.1f, 0.1f, 2};
  for (const tally::executor& where : tally::executors()) {
    for (const int cut : cuts()) {
      const layout l(MPI_COMM_WORLD, size_of_cut(n, cut));
      const std::string name = name_of(n, cut, "histogram") + ", " + std::string(where.name());
      const auto placed = [&](const auto& mine) {
        tally::buffer made(where, std::max<std::size_t>(mine.size(), 1) * sizeof(mine[0]));
        if (!mine.empty()) {
          tally::copy_bytes(where, mine.data(), made.get(), mine.size() * sizeof(mine[0]));
        }
        return made;
      };
      const auto count_on = [&](auto type_of_count, const std::string& what, std::size_t bins,
                                const auto& over_ranks, const auto& whole) {
        using T = decltype(type_of_count);
        for (const bool add : {false, true}) {
          std::vector<T> wanted(bins, 5), got(bins, 5);
          tally::outside_counts wanted_outside{1, 2, 3}, got_outside{1, 2, 3};
          const tally::buffer counts = placed(got);
          const tally::buffer outside = placed(std::vector{got_outside});
          whole(std::span(wanted), tally::histogram_options{add, 1, &wanted_outside});
          over_ranks(
              std::span(static_cast<T*>(counts.get()), bins),
              tally::histogram_options{add, 1, static_cast<tally::outside_counts*>(outside.get())});
          tally::copy_bytes(where, counts.get(), got.data(), bins * sizeof(T));
          tally::copy_bytes(where, outside.get(), &got_outside, sizeof got_outside);
          expect(got == wanted, name + what);
          expect(got_outside == wanted_outside, name + what + ", outside");
        }
      };
      const std::vector<std::int32_t> my_keys = copied(keys, l);
      const std::vector<double> my_samples = copied(samples, l);
      const tally::buffer key_memory = placed(my_keys), sample_memory = placed(my_samples);
      const std::span<const std::int32_t> k(static_cast<std::int32_t*>(key_memory.get()),
                                            my_keys.size());
      const std::span<const double> s(static_cast<double*>(sample_memory.get()), my_samples.size());
      count_on(
          std::int64_t{}, ", keys", 40,
          [&](auto c, const auto& o) { tally::mpi::bincount(MPI_COMM_WORLD, where, k, c, o); },
          [&](auto c, const auto& o) { tally::bincount(one, keys.all(), c, o); });
      count_on(
          std::int32_t{}, ", even", 33,
          [&](auto c, const auto& o) { tally::mpi::histogram_even(l, where, s, -0.75, 1, c, o); },
          [&](auto c, const auto& o) {
            tally::histogram_even(one, samples.all(), -0.75, 1, c, o);
          });
      count_on(
          std::int64_t{}, ", range", 4,
          [&](auto c, const auto& o) { tally::mpi::histogram_range(l, where, s, edges, c, o); },
          [&](auto c, const auto& o) { tally::histogram_range(one, samples.all(), edges, c, o); });
      const auto sum_weights = [&]<class W>(vector<W>& weights, auto type_of_sum,
                                            const std::string& what) {
        const std::vector<W> my_weights = copied(weights, l);
        const tally::buffer memory = placed(my_weights);
        const std::span<const W> w(static_cast<W*>(memory.get()), my_weights.size());
        count_on(
            type_of_sum, what + " of keys", 40,
            [&](auto c, const auto& o) { tally::mpi::bincount(l, where, k, w, c, o); },
            [&](auto c, const auto& o) { tally::bincount(one, keys.all(), weights.all(), c, o); });
        count_on(
            type_of_sum, what + ", even", 33,
            [&](auto c, const auto& o) {
              tally::mpi::histogram_even(MPI_COMM_WORLD, where, s, w, -0.75, 1, c, o);
            },
            [&](auto c, const auto& o) {
              tally::histogram_even(one, samples.all(), weights.all(), -0.75, 1, c, o);
            });
        count_on(
            type_of_sum, what + ", range", 4,
            [&](auto c, const auto& o) {
              tally::mpi::histogram_range(l, where, s, w, edges, c, o);
            },
            [&](auto c, const auto& o) {
              tally::histogram_range(one, samples.all(), weights.all(), edges, c, o);
            });
      };
      sum_weights(doubles, double{}, ", doubles");
      sum_weights(doubles, float{}, ", doubles in floats");
      sum_weights(floats, float{}, ", floats");
      sum_weights(floats, double{}, ", floats in doubles");
    }
  }
  // A key without a bin on one rank: nothing is counted on any.
  const std::vector<std::int32_t> mine = {3, rank_here == ranks_here - 1 ? 9 : 4};
  std::vector<std::int64_t> counts(8, 7);
  expect_error(tally::errc::key_out_of_range,
               "rank " + std::to_string(ranks_here - 1) + ": tally::bincount: key 1 is 9",
               [&] { tally::mpi::bincount(MPI_COMM_WORLD, here(), mine, counts); });
  expect(counts == std::vector<std::int64_t>(8, 7), "counts stay after an error");
  std::vector<double> sums(8, -0.0);
  expect_error(tally::errc::key_out_of_range,
               "rank " + std::to_string(ranks_here - 1) + ": tally::bincount: key 1 is 9", [&] {
                 tally::mpi::bincount(MPI_COMM_WORLD, here(), mine, std::vector<float>(2, 1), sums,
                                      {.add = true});
               });
  expect(std::ranges::all_of(sums, [](double sum) { return sum == 0 && std::signbit(sum); }),
         "sums stay after an error");
}

/// Samples of each rank to elements of any, distributed and replicated.
template <class T, class Index>
void adds_samples_of(const tally::executor& where, std::int64_t n, std::int64_t samples, int cut,
                     data::kind kind) {
  vector<T> z(n, 100, kind), x(samples, 101, kind);
  vector<Index> indices(samples, 102);
  std::mt19937_64 random(103);
  for (std::int64_t i = 0; i < samples; ++i) {  // a few lie outside
    indices[i] = static_cast<Index>(random() % static_cast<std::uint64_t>(n + 2)) - 1;
  }
  if (n > 1) z[1] = -T{0};
  std::vector<T> wanted(&z[0], &z[0] + n);
  tally::scatter_add(tally::serial(), x.all(),
                     std::span<const Index>(&indices[0], static_cast<std::size_t>(samples)),
                     wanted);
  const layout of_samples(MPI_COMM_WORLD, size_of_cut(samples, cut));
  const layout of_elements(MPI_COMM_WORLD, size_of_cut(n, (cut + 3) % all_cuts));
  const auto placed = [&](const auto& mine) {
    tally::buffer made(where, std::max<std::size_t>(mine.size(), 1) * sizeof(mine[0]));
    if (!mine.empty()) {
      tally::copy_bytes(where, mine.data(), made.get(), mine.size() * sizeof(mine[0]));
    }
    return made;
  };
  const auto span_of = []<class U>(const std::vector<U>& mine, const tally::buffer& memory) {
    return std::span(static_cast<U*>(memory.get()), mine.size());
  };
  const auto expect_all = [&](std::vector<T> got, const tally::buffer& memory, std::int64_t first,
                              const char* what) {
    if (!got.empty()) tally::copy_bytes(where, memory.get(), got.data(), got.size() * sizeof(T));
    for (std::size_t i = 0; i < got.size(); ++i) {
      expect_bits(got[i], wanted[static_cast<std::size_t>(first) + i],
                  name_of(n, cut, what) + ", " + std::string(where.name()));
    }
  };
  const std::vector<T> my_x = copied(x, of_samples), my_z = copied(z, of_elements),
                       all_z(&z[0], &z[0] + n);
  const std::vector<Index> my_indices = copied(indices, of_samples);
  const tally::buffer bx = placed(my_x), bi = placed(my_indices), bz = placed(my_z),
                      ball = placed(all_z);
  const auto px = span_of(my_x, bx);
  const auto pi = span_of(my_indices, bi);
  tally::mpi::scatter_add(of_elements, where, px, pi, span_of(my_z, bz));
  expect_all(my_z, bz, of_elements.first(), "scatter_add");
  tally::mpi::scatter_add(MPI_COMM_WORLD, where, px, pi, span_of(all_z, ball));
  expect_all(all_z, ball, 0, "scatter_add, replicated");
}

void adds_samples() {
  for (const tally::executor& where : tally::executors()) {
    for (const int cut : cuts()) {
      adds_samples_of<double, std::int32_t>(where, 5, 3000, cut, data::kind::wide);
      adds_samples_of<double, std::int64_t>(where, 3000, 5000, cut, data::kind::special);
      adds_samples_of<float, std::int64_t>(where, 7, 4000, cut, data::kind::special);
      adds_samples_of<float, std::int32_t>(where, 2000, 300, cut, data::kind::wide);
      adds_samples_of<double, std::int32_t>(where, 1, 0, cut, data::kind::wide);
    }
  }
  const layout l(MPI_COMM_WORLD, 3);
  const bool fails = rank_here == ranks_here - 1;
  const std::string last = "rank " + std::to_string(ranks_here - 1) + ": ";
  const std::vector<double> x(fails ? 3 : 2, 1);
  const std::vector<std::int32_t> indices(2, 0);
  std::vector<double> z(3, 5), wrong(fails ? 4 : 3, 5);
  const auto expect_refused = [&](const auto& over) {
    expect_error(tally::errc::size_mismatch, last + "tally::scatter_add: ", [&] {
      tally::mpi::scatter_add(over, here(), x, indices, z);
    });
  };
  expect_refused(l);
  expect_refused(MPI_COMM_WORLD);
  expect_error(tally::errc::size_mismatch, last + "tally::mpi: a vector has 4 elements", [&] {
    tally::mpi::scatter_add(l, here(), std::vector<double>(2, 1), indices, wrong);
  });
  expect(z == std::vector<double>(3, 5), "elements stay after an error");
}

// --- Matrices -------------------------------------------------------------------------------------

/// Very different row lengths, unsorted and repeated columns.
template <class V>
tally::csr_matrix<V> random_matrix(std::int64_t rows, std::int64_t columns, std::int64_t band) {
  tally::csr_matrix<V> a;
  a.rows = static_cast<std::size_t>(rows);
  a.columns = static_cast<std::size_t>(columns);
  std::mt19937_64 random(static_cast<std::uint64_t>(rows + 7 * band));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::uint64_t terms = columns == 0 ? 0 : i % 97 == 3 ? 300 : random() % 12;
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
void multiplies_of(std::int64_t rows, std::int64_t columns, std::int64_t band) {
  const tally::csr_matrix<V> whole = random_matrix<V>(rows, columns, band);
  vector<X> x(columns, 50);
  vector<Y> y(rows, 51);
  vector<X> u(rows, 52);
  const auto one = tally::serial();
  for (const int cut : cuts()) {
    const std::string name = name_of(rows, cut, "spmv");
    const layout by_rows(MPI_COMM_WORLD, size_of_cut(rows, cut));
    const layout by_columns(MPI_COMM_WORLD, size_of_cut(columns, (cut + 3) % all_cuts));
    const tally::mpi::matrix a(by_rows, by_columns, tally::mpi::rows_of(by_rows, whole.view()));
    const tally::mpi::matrix t = tally::mpi::transpose(a);
    const tally::mpi::matrix h = tally::mpi::conjugate_transpose(a);
    const auto first_row = static_cast<std::size_t>(by_rows.first());
    const auto first_column = static_cast<std::size_t>(by_columns.first());
    for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
      const auto compare = [&](const std::vector<Y>& got, const std::vector<Y>& wanted,
                               std::size_t first, const char* what) {
        for (std::size_t i = 0; i < got.size(); ++i) {
          expect_bits(got[i], wanted[first + i], name + what);
        }
      };
      std::vector<Y> wanted(whole.rows), got(static_cast<std::size_t>(by_rows.size()));
      tally::spmv(one, whole.view(), x.all(), wanted, g);
      tally::mpi::spmv(here(), a, x.part_of(by_columns), got, g);
      compare(got, wanted, first_row, "");
      for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = y[static_cast<std::int64_t>(i)];
      got = copied(y, by_rows);
      tally::spmv(one, 3.0f, whole.view(), x.all(), -2, wanted, g);
      tally::mpi::spmv(here(), 3.0f, a, x.part_of(by_columns), -2, got, g);
      compare(got, wanted, first_row, ", with factors");

      std::vector<Y> apart(wanted.size()), got_apart(got.size());
      const std::vector<Y> all_added(wanted), added(got);
      tally::spmv(one, 3.0f, whole.view(), x.all(), 0, all_added, apart, g);
      tally::mpi::spmv(here(), 3.0f, a, x.part_of(by_columns), 0, added, got_apart, g);
      compare(got_apart, apart, first_row, ", apart");

      wanted.assign(whole.columns, Y{});
      got.assign(static_cast<std::size_t>(by_columns.size()), Y{});
      tally::spmv(one, tally::transpose(whole.view()), u.all(), wanted, g);
      tally::mpi::spmv(here(), t, u.part_of(by_rows), got, g);
      compare(got, wanted, first_column, " of the transpose");
      tally::spmv(one, tally::conjugate_transpose(whole.view()), u.all(), wanted, g);
      tally::mpi::spmv(here(), h, u.part_of(by_rows), got, g);
      compare(got, wanted, first_column, " of the conjugate transpose");
    }
  }
}

void multiplies() {
  multiplies_of<double, double, double>(3000, 3000, 40);
  multiplies_of<double, double, double>(500, 2000, 1000);
  multiplies_of<double, double, double>(300, 1, 0);
  multiplies_of<double, double, double>(5, 40, 40);
  multiplies_of<float, double, float>(1200, 1000, 5);
  multiplies_of<std::complex<double>, std::complex<float>, std::complex<double>>(700, 700, 30);
  multiplies_of<tally::float16, float, double>(400, 400, 400);
}

/// A matrix's rows [first, first + n) of k elements: adjacent ones, or columns behind one another.
template <class T>
class dense_rows {
 public:
  dense_rows(std::size_t n, std::size_t k, bool by_rows)
      : n_(n), k_(k), by_rows_(by_rows), all_(n * k + 1) {}

  T& operator()(std::size_t i, std::size_t j) { return all_[by_rows_ ? i * k_ + j : j * n_ + i]; }
  auto view() {
    const auto n = static_cast<std::ptrdiff_t>(n_), k = static_cast<std::ptrdiff_t>(k_);
    return by_rows_ ? tally::rows(all_.data(), n_, k_, k, 1)
                    : tally::rows(all_.data(), n_, k_, 1, n + (n == 0));
  }

 private:
  std::size_t n_, k_;
  bool by_rows_;
  std::vector<T> all_;
};

template <class V, class X, class Y>
void multiplies_several_of(std::int64_t rows, std::int64_t columns, std::int64_t band) {
  const tally::csr_matrix<V> whole = random_matrix<V>(rows, columns, band);
  const auto one = tally::serial();
  for (const int cut : cuts()) {
    const layout by_rows(MPI_COMM_WORLD, size_of_cut(rows, cut));
    const layout by_columns(MPI_COMM_WORLD, size_of_cut(columns, (cut + 3) % all_cuts));
    const tally::mpi::matrix a(by_rows, by_columns, tally::mpi::rows_of(by_rows, whole.view()));
    // More columns than before, and fewer: buffers grow and stay.
    for (const std::size_t k : {2u, 37u, 1u, 0u}) {
      for (const bool adjacent : {true, false}) {
        std::vector<vector<X>> x;
        std::vector<vector<Y>> y;
        dense_rows<X> part(static_cast<std::size_t>(by_columns.size()), k, adjacent);
        dense_rows<Y> got(static_cast<std::size_t>(by_rows.size()), k, !adjacent);
        for (std::size_t j = 0; j < k; ++j) {
          x.emplace_back(columns, 60 + j);
          y.emplace_back(rows, 160 + j);
          for (std::int64_t i = 0; i < by_columns.size(); ++i) {
            part(static_cast<std::size_t>(i), j) = x[j][by_columns.first() + i];
          }
          for (std::int64_t i = 0; i < by_rows.size(); ++i) {
            got(static_cast<std::size_t>(i), j) = y[j][by_rows.first() + i];
          }
        }
        const auto compare = [&](const char* what, const auto& product) {
          for (std::size_t j = 0; j < k; ++j) {
            std::vector<Y> wanted(whole.rows);
            for (std::size_t i = 0; i < wanted.size(); ++i) {
              wanted[i] = y[j][static_cast<std::int64_t>(i)];
            }
            product(x[j].all(), wanted);
            for (std::int64_t i = 0; i < by_rows.size(); ++i) {
              expect_bits(got(static_cast<std::size_t>(i), j),
                          wanted[static_cast<std::size_t>(by_rows.first() + i)],
                          name_of(rows, cut, "spmm") + " of " + std::to_string(k) + what);
            }
          }
        };
        auto to = got.view();
        tally::mpi::spmm(here(), 3.0f, a, part.view(), -2, to);
        compare(", with factors", [&](const auto& of, auto& wanted) {
          tally::spmv(one, 3.0f, whole.view(), of, -2, wanted);
        });
        for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
          tally::mpi::spmm(here(), a, part.view(), to, g);
          compare("", [&](const auto& of, auto& wanted) {
            tally::spmv(one, whole.view(), of, wanted, g);
          });
        }
      }
    }
  }
}

void multiplies_several() {
  multiplies_several_of<double, double, double>(700, 700, 40);
  multiplies_several_of<double, double, double>(300, 1, 0);
  multiplies_several_of<float, float, double>(5, 40, 40);
  multiplies_several_of<std::complex<double>, std::complex<float>, std::complex<double>>(200, 200,
                                                                                         30);
}

/// A product of several columns fails on one rank and on those that need its elements.
void refuses_several() {
  const std::int64_t n = 200;
  constexpr std::size_t k = 5;
  const tally::csr_matrix<double> whole = random_matrix<double>(n, n, 3);
  const layout l(MPI_COMM_WORLD, size_of_cut(n, 0));
  const tally::mpi::matrix a(l, tally::mpi::rows_of(l, whole.view()));
  const auto size = static_cast<std::size_t>(l.size());
  std::vector<double> x((size + 1) * k, 1.0), y(size * k);
  const int failing = ranks_here - 1;
  std::string said;
  try {
    const std::size_t rows = size + (rank_here == failing ? 1 : 0);
    tally::mpi::spmm(here(), a, tally::rows(x.data(), rows, k), tally::rows(y.data(), size, k));
  } catch (const tally::error& e) {
    said = e.what();
  }
  const bool waits = rank_here == failing - 1 || rank_here == 0;  // as in refuses_matrices
  if (rank_here == failing) {
    expect(said.starts_with("tally::mpi::spmm: x has "), "the rank that fails says so: " + said);
  } else if (waits) {
    expect(said.starts_with("tally::mpi::spmm: rank " + std::to_string(failing)),
           "ranks that wait for it say so: " + said);
  } else {
    expect(said.empty(), "no other rank fails: " + said);
  }
  expect_error(tally::errc::size_mismatch, "tally::mpi::spmm: x has 5 columns, y has 4", [&] {
    tally::mpi::spmm(here(), a, tally::rows(x.data(), size, k), tally::rows(y.data(), size, k - 1));
  });
  expect_error(tally::errc::zero_increment, "tally::mpi::spmm: x has increment 0", [&] {
    tally::mpi::spmm(here(), a, tally::rows(x.data(), size, k, k, 0),
                     tally::rows(y.data(), size, k));
  });
  tally::mpi::spmm(here(), a, tally::rows(x.data(), size, k), tally::rows(y.data(), size, k));
  std::vector<double> ones(static_cast<std::size_t>(n), 1.0), wanted(whole.rows);
  tally::spmv(tally::serial(), whole.view(), ones, wanted);
  for (std::size_t i = 0; i < y.size(); ++i) {
    expect_bits(y[i], wanted[static_cast<std::size_t>(l.first()) + i / k], "spmm after an error");
  }
}

void refuses_matrices() {
  const std::int64_t n = 200;
  const tally::csr_matrix<double> whole = random_matrix<double>(n, n, 3);
  const layout l(MPI_COMM_WORLD, size_of_cut(n, 0));
  const int failing = ranks_here - 1;
  const std::string who = "rank " + std::to_string(failing) + ": ";
  auto rows = tally::mpi::rows_of(l, whole.view());
  if (rank_here == failing) rows.rows += 1;
  expect_error(tally::errc::size_mismatch, who, [&] { tally::mpi::matrix(l, rows); });
  auto broken = whole;
  broken.column_indices.back() = static_cast<std::int32_t>(n);
  expect_error(tally::errc::invalid_argument, who,
               [&] { tally::mpi::matrix(l, tally::mpi::rows_of(l, broken.view())); });

  if (ranks_here > 1) {
    const layout reversed(MPI_COMM_WORLD, 3, 3 * (ranks_here - 1 - rank_here));
    const layout in_order(MPI_COMM_WORLD, 3);
    const tally::csr_matrix<double> few_rows = random_matrix<double>(3, 3 * ranks_here, 1);
    expect_error(tally::errc::invalid_argument, "different orders",
                 [&] { tally::mpi::matrix(reversed, in_order, few_rows.view()); });
  }
  {  // other indices
    const layout one_each(MPI_COMM_WORLD, 1);
    const std::vector<std::int64_t> offsets = {0, 1}, columns = {ranks_here - 1 - rank_here};
    const std::vector<double> value = {2}, number = {1.0 + rank_here};
    const tally::mpi::matrix<double, std::int64_t> reversal(
        one_each,
        tally::csr_view(1, static_cast<std::size_t>(ranks_here), offsets, columns, value));
    std::vector<double> result(1);
    tally::mpi::spmv(here(), reversal, number, result);
    expect(result[0] == 2.0 * (ranks_here - rank_here), "indices of 64 bits");
  }

  // Errors of the gathering name the product.
  {
    const tally::mpi::matrix b(l, tally::mpi::rows_of(l, whole.view()));
    const std::vector<double> u(static_cast<std::size_t>(l.size()));
    std::vector<double> v(u.size());
    expect_error(tally::errc::zero_increment, "tally::mpi::spmv: x has increment 0",
                 [&] { tally::mpi::spmv(here(), b, tally::strided(u.data(), u.size(), 0), v); });
  }

  // A product fails on one rank and on those that need its elements.
  const tally::mpi::matrix a(l, tally::mpi::rows_of(l, whole.view()));
  vector<double> all(n, 70);
  const std::vector<double> x = copied(all, l);
  std::vector<double> y(x.size()), wanted(whole.rows);
  const std::vector<double> wrong(x.size() + 1);
  tally::spmv(tally::serial(), whole.view(), all.all(), wanted);
  std::string said;
  try {
    tally::mpi::spmv(here(), a, rank_here == failing ? wrong : x, y);
  } catch (const tally::error& e) {
    said = e.what();
  }
  // Narrow bands; those at the ends wrap around.
  const bool waits = rank_here == failing - 1 || rank_here == 0;
  if (rank_here == failing) {
    expect(said.starts_with("tally::mpi::spmv: x has "), "the rank that fails says so: " + said);
  } else if (waits) {
    expect(said.starts_with("tally::mpi::spmv: rank " + std::to_string(failing)),
           "ranks that wait for it say so: " + said);
  } else {
    expect(said.empty(), "no other rank fails: " + said);
  }
  if (rank_here == failing && !x.empty()) {  // no rank needs y
    expect_error(tally::errc::null_pointer, "tally::mpi::spmv: y is null", [&] {
      tally::mpi::spmv(here(), a, x, std::span<double>(static_cast<double*>(nullptr), x.size()));
    });
  } else {
    try {
      tally::mpi::spmv(here(), a, x, y);
    } catch (const tally::error&) {
      expect(waits || x.empty(), "only ranks that wait fail");
    }
  }
  tally::mpi::spmv(here(), a, x, y);
  for (std::size_t i = 0; i < y.size(); ++i) {
    expect_bits(y[i], wanted[static_cast<std::size_t>(l.first()) + i], "spmv after an error");
  }

  tally::mpi::matrix from(l, tally::mpi::rows_of(l, whole.view()));
  const tally::mpi::matrix to = std::move(from);
  expect(from.rows() == 0 && from.columns() == 0 && from.boundary_rows() == 0 && from.ghosts() == 0,
         "a matrix that was moved from");
  const std::vector<double> before = y;
  const auto text = "tally::mpi::matrix: it was moved from";
  expect_error(tally::errc::invalid_argument, text, [&] { tally::mpi::spmv(here(), from, x, y); });
  expect_error(tally::errc::invalid_argument, text, [&] { (void)tally::mpi::transpose(from); });
  expect(y == before, "nothing was written");
  tally::mpi::spmv(here(), to, x, y);
  expect(y == before, "a matrix that was moved to");
}

class file {
 public:
  explicit file(const std::string& contents) {
    if (rank_here == 0) std::ofstream(path_, std::ios::binary) << contents;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~file() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_here == 0) std::remove(path_.c_str());
  }
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_ = "tally_mpi_tests_" + std::to_string(ranks_here) + "_" + job() + ".mtx";

  static std::string job() {  // of this run: others may run at the same time
    int id = static_cast<int>(std::random_device()() >> 1);
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return std::to_string(id);
  }
};

/// Expects the rows of this rank, whose values are `value`s.
template <class Matrix, class View>
void expect_part(const Matrix& got, const View& wanted, const char* value) {
  expect(got.rows == wanted.rows && got.columns == wanted.columns, "the size of a part");
  for (std::size_t i = 0; i < got.rows; ++i) {
    const auto begin = static_cast<std::size_t>(got.row_offsets[i]);
    const auto first = static_cast<std::size_t>(wanted.row_offsets[i]);
    const auto terms = static_cast<std::size_t>(got.row_offsets[i + 1]) - begin;
    expect(terms == static_cast<std::size_t>((*wanted.row_ends)[i]) - first, "a row's terms");
    for (std::size_t j = 0; j < terms; ++j) {
      expect(got.column_indices[begin + j] == wanted.column_indices[first + j], "a column");
      expect_bits(got.values[begin + j], wanted.values[first + j], value);
    }
  }
}

template <class V>
void reads_matrices_of(const std::string& text) {
  const file f(text);
  const auto whole = tally::read_matrix_market<V, std::int64_t, std::int64_t>(f.path());
  for (const int cut : cuts()) {
    const layout l(MPI_COMM_WORLD, size_of_cut(static_cast<std::int64_t>(whole.rows), cut));
    const auto got = tally::mpi::read_matrix_market<V>(l, f.path());
    const auto wanted = tally::mpi::rows_of(l, whole.view());
    expect_part(got, wanted, "a value that was read");
  }
}

/// Entries on all ranks, about three per place, some ranks without any.
template <class V, class Index>
void assembles_matrices_of() {
  constexpr std::int64_t height = 23, width = 9;
  std::mt19937_64 random(81);
  std::vector<Index> rows, columns, own_rows, own_columns;
  std::vector<V> values, own_values;
  for (int r = 0; r < ranks_here; ++r) {
    const int count = r % 3 == 1 ? 0 : 250 / (r + 1);
    for (int i = 0; i < count; ++i) {
      rows.push_back(static_cast<Index>(random() % height));
      columns.push_back(static_cast<Index>(random() % width));
      values.push_back(V(static_cast<tally::real_t<V>>(
          std::ldexp(1.5 + static_cast<double>(i), static_cast<int>(random() % 60)))));
      if (r != rank_here) continue;
      own_rows.push_back(rows.back());
      own_columns.push_back(columns.back());
      own_values.push_back(values.back());
    }
  }
  for (const tally::grade g : {tally::grade{}, tally::grade(tally::exact)}) {
    const auto whole =
        tally::csr_from_coo<std::int64_t, std::int64_t>(height, width, rows, columns, values, g);
    for (const int cut : cuts()) {
      const layout l(MPI_COMM_WORLD, size_of_cut(height, cut));
      const auto got = tally::mpi::csr_from_coo(l, width, own_rows, own_columns, own_values, g);
      const auto wanted = tally::mpi::rows_of(l, whole.view());
      expect_part(got, wanted, "an assembled value");
    }
  }
  const layout l(MPI_COMM_WORLD, size_of_cut(height, 0));
  const bool is_last = rank_here == ranks_here - 1;
  const std::vector<Index> zero(1), beyond(1, static_cast<Index>(is_last ? height : 0));
  const std::vector<V> one(1);
  expect_error(tally::errc::invalid_argument,
               "tally::mpi::csr_from_coo: row_indices[0] is 23; there are 23 rows",
               [&] { (void)tally::mpi::csr_from_coo(l, width, beyond, zero, one); });
  expect_error(tally::errc::invalid_argument,
               "tally::mpi::csr_from_coo: column_indices[0] is 23; there are 9 columns",
               [&] { (void)tally::mpi::csr_from_coo(l, width, zero, beyond, one); });
  expect_error(tally::errc::size_mismatch,
               "tally::mpi::csr_from_coo: row_indices has 1 elements, values has 0", [&] {
                 (void)tally::mpi::csr_from_coo(l, width, zero, zero,
                                                std::vector<V>(is_last ? 0 : 1));
               });
  expect_error(tally::errc::null_pointer,
               "tally::mpi::csr_from_coo: column_indices is null and should point at 1 elements",
               [&] {
                 const std::span<const Index> none(is_last ? nullptr : zero.data(), 1);
                 (void)tally::mpi::csr_from_coo(l, width, zero, none, one);
               });
}

void assembles_matrices() {
  assembles_matrices_of<double, std::int32_t>();
  assembles_matrices_of<float, std::int64_t>();
  assembles_matrices_of<std::complex<float>, std::int32_t>();
}

void reads_matrices() {
  const std::string head = "%%MatrixMarket matrix coordinate ";
  std::mt19937_64 random(80);
  std::string general = head + "real general\n% a comment\n40 30 500\n";
  for (int i = 0; i < 500; ++i) {  // many at the same place
    general += std::to_string(random() % 40 + 1) + ' ' + std::to_string(random() % 30 / 5 + 1) +
               " 1.5e" + std::to_string(static_cast<int>(random() % 40) - 20) + '\n';
    if (i % 70 == 0) general += "% another one\n\n";
  }
  reads_matrices_of<double>(general);
  reads_matrices_of<float>(head + "integer symmetric\n3 3 4\n1 1 1\n2 1 2\n3 2 3\n3 3 4\n");
  reads_matrices_of<std::complex<double>>(head + "complex hermitian\n3 3 2\n1 1 2 0\n3 1 0.5 -1\n");
  reads_matrices_of<double>(head + "pattern general\n5 0 0\n");

  const auto refuse = [](const std::string& text, std::int64_t rows, tally::errc code,
                         const std::string& why) {
    const file f(text);
    const layout l(MPI_COMM_WORLD, size_of_cut(rows, 0));
    expect_error(code, why, [&] { tally::mpi::read_matrix_market(l, f.path()); });
  };
  const std::string matrix = head + "real general\n3 3 3\n1 1 1\n2 2 1\n";
  refuse(matrix + "3 4 1\n", 3, tally::errc::unreadable_file, ":5: column 4 of a matrix with 3");
  refuse(matrix, 3, tally::errc::unreadable_file, ":4: the file ends after 2 of 3 entries");
  refuse(matrix + "3 3 1\n3 1 1\n", 3, tally::errc::unreadable_file, ":6: more than the 3 entries");
  refuse(matrix + "3 3 1\n", 4, tally::errc::size_mismatch,
         "has 3 rows, the layout has 4 elements");

  // Each rank may read as much as one rank needs.
  const std::int64_t n = 10 * ranks_here;
  std::string equal =
      head + "real general\n" + std::to_string(n) + " 1 " + std::to_string(n) + '\n';
  for (std::int64_t i = 0; i < n; ++i) equal += std::to_string(i % 9 + 1) + " 1 5\n";
  {
    const file f(equal);
    const layout l(MPI_COMM_WORLD, size_of_cut(n, 2));
    const auto rows = tally::mpi::read_matrix_market(l, f.path(), {.max_entries = 11});
    expect(rows.values.size() == (l.size() == 0 ? 0 : 9), "as many entries as ranks may read");
    expect_error(tally::errc::unreadable_file, "matrix_market_options::max_entries",
                 [&] { tally::mpi::read_matrix_market(l, f.path(), {.max_entries = 9}); });
  }
  equal.replace(equal.rfind('5'), 1, "x");
  refuse(equal, n, tally::errc::unreadable_file,
         "rank " + std::to_string(ranks_here - 1) + ": tally::read_matrix_market: ");
  refuse(equal, n, tally::errc::unreadable_file, ":" + std::to_string(n + 2) + ": \"x\" is not a");
  if (ranks_here > 1) {  // exceeds one process's limit
    refuse(head + "real general\n3 3 2147483650\n1 1 1\n2 2 1\n", 3, tally::errc::unreadable_file,
           ":4: the file ends after 2 of 2147483650 entries");
  }
  // No rank waits for a writer.
  const layout one(MPI_COMM_WORLD, size_of_cut(1, 0));
  const std::string pipe = file("").path() + ".pipe";
  if (rank_here == 0) expect(mkfifo(pipe.c_str(), 0600) == 0, "a pipe");
  MPI_Barrier(MPI_COMM_WORLD);
  for (const std::string& path : {pipe, std::string("/dev/zero"), std::string("/")}) {
    expect_error(tally::errc::unreadable_file, "can't be read in parts: it is no regular file",
                 [&] { tally::mpi::read_matrix_market(one, path); });
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_here == 0) std::remove(pipe.c_str());
}

/// All ranks on one executor of each kind, with vectors and results in its memory; on CUDA they
/// share a device.
void runs_on_every_executor() {
  using V = double;
  for (const tally::executor& where : tally::executors()) {
    for (const std::int64_t n : {std::int64_t{1500}, std::int64_t{40000}}) {
      const tally::csr_matrix<V> whole = random_matrix<V>(n, n, 60);
      vector<V> x(n, 60, data::kind::wide), y(n, 61);
      for (const int cut : cuts()) {
        const std::string name =
            name_of(n, cut, "on an executor") + ", " + std::string(where.name());
        const layout l(MPI_COMM_WORLD, size_of_cut(n, cut));
        const auto size = static_cast<std::size_t>(l.size());
        const auto placed = [&](vector<V>& v) {
          tally::buffer made(where, size * sizeof(V));
          const std::vector<V> mine = copied(v, l);
          tally::copy_bytes(where, mine.data(), made.get(), made.bytes());
          return made;
        };
        const auto span_of = [&](const tally::buffer& b) {
          return std::span(static_cast<V*>(b.get()), size);
        };
        const tally::buffer bx = placed(x), by = placed(y), bw = placed(y);
        const auto px = span_of(bx), py = span_of(by), pw = span_of(bw);
        for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
          expect_bits(tally::mpi::dot(l, where, px, py, g),
                      tally::dot(tally::serial(), x.all(), y.all(), g), name + ", dot");
          expect_bits(tally::mpi::asum(l, where, px, g), tally::asum(tally::serial(), x.all(), g),
                      name + ", asum");
          expect_bits(tally::mpi::nrm2(l, where, px, g), tally::nrm2(tally::serial(), x.all(), g),
                      name + ", nrm2");
          expect_bits(tally::mpi::wrms_norm_mask(l, where, px, py, py, g),
                      tally::wrms_norm_mask(tally::serial(), x.all(), y.all(), y.all(), g),
                      name + ", wrms_norm_mask");
        }
        const auto largest = tally::mpi::max(l, where, px);
        const auto wanted_largest = tally::max(tally::serial(), x.all());
        expect(largest.index == wanted_largest.index, name + ", max");

        const tally::mpi::matrix a(l, tally::mpi::rows_of(l, whole.view()));
        std::vector<V> wanted(whole.rows), got(size);
        for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = y[static_cast<std::int64_t>(i)];
        for (int turn = 0; turn < 3; ++turn) {
          tally::spmv(tally::serial(), 0.5, whole.view(), x.all(), -2.0, wanted);
          tally::mpi::spmv(where, 0.5, a, px, -2.0, pw);
        }
        tally::copy_bytes(where, bw.get(), got.data(), bw.bytes());
        for (std::size_t i = 0; i < got.size(); ++i) {
          expect_bits(got[i], wanted[static_cast<std::size_t>(l.first()) + i], name + ", spmv");
        }
      }
    }
  }
}

// --- What MPI has few of, and what it may refuse --------------------------------------------------

/// Two rows of a matrix of ones in two columns.
struct two_rows {
  std::vector<std::int32_t> offsets = {0, 2, 4}, columns = {0, 1, 0, 1};
  std::vector<double> values = std::vector<double>(4, 1.0);

  tally::csr_view<double, std::int32_t, std::int32_t> of(const layout& l) const {
    return {2, static_cast<std::size_t>(l.total()), offsets, columns, values};
  }
};

/// More than MPICH has communicators, except where many ranks spin.
int how_many() { return few && ranks_here > 2 ? 60 : 3000; }

void makes_many() {
  const int many = how_many();
  const two_rows two;
  const std::vector<double> x = {1, 1};
  std::vector<double> y(2);
  const auto expect_sum = [&](const layout& l, const std::string& name) {
    expect(tally::mpi::sum(l, here(), x) == 2 * ranks_here, name);
  };
  const auto expect_product = [&](const tally::mpi::matrix<double>& a, const std::string& name) {
    tally::mpi::spmv(here(), a, x, y);
    expect(y == std::vector<double>{2, 2}, name);
  };
  const ranks_again comm;
  const int before = communicators;
  std::vector<layout> layouts;
  std::vector<tally::mpi::matrix<double>> matrices;
  for (int i = 0; i < many; ++i) {
    layouts.emplace_back(comm.get(), 2);
    matrices.emplace_back(layouts.back(), two.of(layouts.back()));
  }
  matrices.push_back(tally::mpi::transpose(matrices.back()));
  for (int i = 0; i < many; i += many / 10) {
    expect_sum(layouts[static_cast<std::size_t>(i)], "one of many layouts");
    expect_product(matrices[static_cast<std::size_t>(i)], "one of many matrices");
  }
  expect(communicators == before + 1, "they share a communicator");

  for (int i = 0; i < many; ++i) {
    const layout l(comm.get(), 2);
    if (i % (many / 10) == 0) expect_sum(l, "layouts that come and go");
  }
  // Ranks in other orders: one repeated, and rotations; the last 8 orders used are kept.
  std::vector<layout> placed;
  for (int i = 0; i < many; ++i) {
    const int turned = i % 3 == 0 ? ranks_here - 1 - rank_here : (rank_here + i) % ranks_here;
    placed.emplace_back(comm.get(), 2, 2 * turned);
    if (i % (many / 10) == 0) expect_sum(placed.back(), "layouts in other orders");
  }
  const int orders = ranks_here <= 8 ? ranks_here + 1 : many - (many - 1) / 3;
  expect(communicators <= before + 1 + orders, "layouts of one order share a communicator");
}

/// The caller's communicator comes and goes, before and after objects over it.
void outlives_communicators() {
  const two_rows two;
  const std::vector<double> x = {1, 1};
  const int before = communicators;
  for (int i = 0; i < (few ? 20 : how_many()); ++i) {
    ranks_again comm;
    auto l = std::make_unique<layout>(comm.get(), 2);
    const layout reversed(comm.get(), 2, 2 * (ranks_here - 1 - rank_here));
    auto a = std::make_unique<tally::mpi::matrix<double>>(*l, two.of(*l));
    if (i % 2 == 0) comm.free();
    if (i % 4 == 0) l.reset();
    if (i % 50 > 9) continue;
    std::vector<double> y(2);
    tally::mpi::spmv(here(), *a, x, y);
    expect(y == std::vector<double>{2, 2}, "a matrix without its communicator");
    expect(tally::mpi::sum(reversed, here(), x) == 2 * ranks_here, "a layout without it");
    if (!l) continue;
    auto started = tally::mpi::isum(*l, here(), x);
    expect(tally::mpi::max(*l, here(), x).index == 0, "max");
    expect(started.wait() == 2 * ranks_here, "a request without it");
  }
  expect(communicators == before, "none is left");
#ifdef MPICH_VERSION
  // MPICH has 2048 communicators. Their error handler, MPI_ERRORS_ARE_FATAL, is not called.
  const ranks_again without;
  std::vector<MPI_Comm> all;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (MPI_Comm one; PMPI_Comm_dup(MPI_COMM_WORLD, &one) == MPI_SUCCESS;) all.push_back(one);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  expect_error(tally::errc::device_failure, "MPI_Comm_dup: ", [&] { layout(without.get(), 2); });
  for (MPI_Comm& one : all) PMPI_Comm_free(&one);
  expect(layout(without.get(), 2).total() == 2 * ranks_here, "a layout after an error");
#endif
}

/// Makes `function` fail in `call` on ranks from `first` on; returns the message here.
std::string thrown_where_it_fails(const std::string& function, int first,
                                  const std::function<void()>& call) {
  std::string text;
  failed_calls = 0;
  called.clear();
  if (rank_here >= first) failing = function;
  try {
    call();
  } catch (const tally::error& e) {
    expect(e.code() == tally::errc::device_failure, function + ": " + e.what());
    text = e.what();
  }
  failing.clear();
  return text;
}

void checks_what_mpi_returns() {
  const file f("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n");
  const two_rows two;
  // Cut chunks: ranks send each other terms.
  const auto part = [](const layout& l) {
    return std::vector<double>(static_cast<std::size_t>(l.size()), 1.0);
  };
  using body = std::function<void()>;
  using call = std::function<void(MPI_Comm, const std::function<void(const body&)>&)>;
  const auto on_layout = [&](const auto& f) -> call {
    return [&part, f](MPI_Comm comm, const auto& run) {
      const layout l(comm, 700);
      run([&] { f(l, part(l)); });
    };
  };
  const auto on_rows = [&](const auto& f) -> call {
    return [&two, f](MPI_Comm comm, const auto& run) {
      const layout l(comm, 2);
      const tally::mpi::matrix a(l, two.of(l));
      run([&] { f(l, a); });
    };
  };
  const struct {
    const char* name;
    bool tells_all;  ///< whether an MPI error on one rank is thrown on all
    call make;
  } calls[] = {
      {"layout", true, [](MPI_Comm comm, const auto& run) { run([&] { layout(comm, 7); }); }},
      {"layout in another order", true,
       [](MPI_Comm comm, const auto& run) {
         run([&] { layout(comm, 7, 7 * (ranks_here - 1 - rank_here)); });
       }},
      {"matrix", true,
       on_rows([&](const layout& l, const auto&) { tally::mpi::matrix<double>(l, two.of(l)); })},
      {"transpose", true, on_rows([](const layout&, const auto& a) { tally::mpi::transpose(a); })},
      {"spmv", false, on_rows([](const layout&, const auto& a) {
         std::vector<double> x = {1, 1}, y(2);
         tally::mpi::spmv(here(), a, x, y);
       })},
      {"spmm", false, on_rows([](const layout&, const auto& a) {
         std::vector<double> x = {1, 1, 1, 1}, y(4);
         tally::mpi::spmm(here(), a, tally::rows(x.data(), 2, 2), tally::rows(y.data(), 2, 2));
       })},
      {"dot", true,
       on_layout([](const layout& l, const auto& x) { tally::mpi::dot(l, here(), x, x); })},
      {"scan", true, on_layout([](const layout& l, std::vector<double> x) {
         tally::mpi::inclusive_scan(l, here(), x, x);
       })},
      {"idot", true,
       on_layout([](const layout& l, const auto& x) { tally::mpi::idot(l, here(), x, x).wait(); })},
      {"scaled nrm2", true, on_layout([](const layout& l, std::vector<double> x) {
         x[0] = 1e200;
         tally::mpi::nrm2(l, here(), x);
       })},
      {"exact dot", true, on_layout([](const layout& l, const auto& x) {
         tally::mpi::dot(l, here(), x, x, tally::exact);
       })},
      {"exact idot", true, on_layout([](const layout& l, const auto& x) {
         auto started = tally::mpi::idot(l, here(), x, x, tally::exact);
         started.test();
         started.wait();
       })},
      {"max", true,
       on_layout([](const layout& l, const auto& x) { tally::mpi::max(l, here(), x); })},
      {"bincount", true, on_layout([](const layout& l, const auto& x) {
         std::vector<std::int64_t> counts(3);
         tally::mpi::bincount(l, here(), std::vector<std::int32_t>(3, 1), counts);
         std::vector<double> sums(3);
         tally::mpi::bincount(l, here(), std::vector<std::int32_t>(x.size(), 1), x, sums);
       })},
      {"scatter_add", false, on_layout([](const layout& l, std::vector<double> x) {
         const std::vector<std::int32_t> first(3, 0);
         tally::mpi::scatter_add(l, here(), std::vector<double>(3, 1), first, x);
         tally::mpi::scatter_add(l.communicator(), here(), std::vector<double>(3, 1), first, x);
         const std::vector<std::int32_t> many(1000, 0);
         x.resize(1);
         tally::mpi::scatter_add(l.communicator(), here(), std::vector<double>(1000, 1), many, x);
       })},
      {"gemv", true, on_layout([](const layout& l, const auto& x) {
         std::vector<double> y(1);
         tally::mpi::gemv(l, here(), tally::rows(x.data(), 1, x.size()), x, y);
       })},
      {"csr_from_coo", true, on_layout([](const layout& l, const auto& x) {
         const std::vector<std::int32_t> first(x.size());
         (void)tally::mpi::csr_from_coo(l, 1, first, first, x);
       })},
      {"read_matrix_market", true,
       [&](MPI_Comm comm, const auto& run) {
         const layout l(comm, rank_here == 0 ? 3 : 0);
         run([&] { tally::mpi::read_matrix_market(l, f.path()); });
       }},
  };
  // Errors of these reach all ranks, by an extra message or the next one. (Errors of a reduction
  // and of queries of a communicator do not.)
  const std::vector<std::string> told = {
      "MPI_Comm_dup",    "MPI_Comm_split", "MPI_Comm_set_attr",   "MPI_Op_create",
      "MPI_Type_commit", "MPI_Alltoallv",  "MPI_Type_contiguous", "MPI_Waitall",
      "MPI_Irecv",       "MPI_Isend"};
  const std::vector<std::string> untold = {"MPI_Comm_get_errhandler",
                                           "MPI_Comm_set_errhandler",
                                           "MPI_Comm_get_attr",
                                           "MPI_Comm_rank",
                                           "MPI_Comm_size",
                                           "MPI_Comm_test_inter",
                                           "MPI_Comm_compare",
                                           "MPI_Allreduce",
                                           "MPI_Iallreduce",
                                           "MPI_Allgather",
                                           "MPI_Allgatherv",
                                           "MPI_Iallgather",
                                           "MPI_Alltoall",
                                           "MPI_Bcast",
                                           "MPI_Wait",
                                           "MPI_Test",
                                           "MPI_Get_count"};
  const auto any = [](int here) {
    PMPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return here != 0;
  };
  const int before = communicators;
  for (const auto& [name, tells_all, make] : calls) {
    const auto fails = [&, &make = make](const std::string& function, int first) {
      const ranks_again comm;
      std::string text;
      make(comm.get(),
           [&](const auto& call) { text = thrown_where_it_fails(function, first, call); });
      std::set<std::string> were_called = std::move(called);
      layout(comm.get(), 1);  // all ranks have a duplicate, or none has
      called = std::move(were_called);
      return text;
    };
    expect(fails("", 0).empty(), std::string(name) + " fails");
    const std::set<std::string> here = called;
    for (const std::string& function : here) {
      const bool is_listed =
          std::ranges::count(told, function) + std::ranges::count(untold, function);
      expect(is_listed, "no list has " + function);
    }
    for (const auto& [functions, first] :
         {std::pair(&told, 0), std::pair(&untold, 0), std::pair(&told, ranks_here - 1)}) {
      for (const std::string& function : *functions) {
        if (!any(here.count(function) != 0)) continue;
        const std::string text = fails(function, first);
        const bool must_throw = tells_all ? any(failed_calls) : failed_calls > 0;
        std::string wanted = function + ": ";
        if (tells_all && first > 0 && must_throw) {
          wanted = "rank " + std::to_string(first) + ": " + wanted;
        }
        expect(!must_throw || text.find(wanted) != text.npos,
               std::string(name) + " throws \"" + text + "\" instead of " + wanted);
      }
    }
  }
  expect(communicators == before, "none is left after errors");
}

/// Outlive MPI_Finalize, as permitted.
struct {
  std::unique_ptr<layout> of_world, of_self, reversed;
  std::unique_ptr<tally::mpi::matrix<double>> matrix;
} left;

void leaves_some() {
  const two_rows two;
  left.of_world = std::make_unique<layout>(MPI_COMM_WORLD, 2);
  left.of_self = std::make_unique<layout>(MPI_COMM_SELF, 2);
  left.reversed = std::make_unique<layout>(MPI_COMM_WORLD, 2, 2 * (ranks_here - 1 - rank_here));
  left.matrix =
      std::make_unique<tally::mpi::matrix<double>>(*left.of_world, two.of(*left.of_world));
  const std::vector<double> x = {1, 1};
  expect(tally::mpi::sum(*left.of_self, here(), x) == 2, "a layout of this rank alone");
}

const struct {
  const char* name;
  void (*run)();
} tests[] = {
    {"numbers elements", numbers_elements},
    {"sums doubles", sums_doubles},
    {"sums all types", sums_all_types},
    {"scans", scans},
    {"scales norms", scales_norms},
    {"sums many", sums_many},
    {"sums layouts", sums_layouts},
    {"gathers what MPI joins out of order", gathers_what_mpi_joins_out_of_order},
    {"keeps requests apart", keeps_requests_apart},
    {"fails on all ranks", fails_on_all_ranks},
    {"finds extrema", finds_extrema},
    {"counts samples", counts_samples},
    {"adds samples", adds_samples},
    {"multiplies", multiplies},
    {"multiplies several", multiplies_several},
    {"refuses several", refuses_several},
    {"refuses matrices", refuses_matrices},
    {"assembles matrices", assembles_matrices},
    {"reads matrices", reads_matrices},
    {"runs on every executor", runs_on_every_executor},
    {"makes many", makes_many},
    {"outlives communicators", outlives_communicators},
    {"checks what MPI returns", checks_what_mpi_returns},
    {"leaves some", leaves_some},
};

/// A real status, or a pretended error after the work is done, so that no other rank waits in vain.
int returned(const char* function, MPI_Comm comm, int status) {
  called.insert(function);
  if (failing != function) return status;
  ++failed_calls;
  if (comm != MPI_COMM_NULL) PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

}  // namespace

/// MPI's profiling interface permits functions in front of the PMPI_ ones.
#define TALLY_SEEN(function, comm, parameters, arguments) \
  int function parameters { return returned(#function, comm, P##function arguments); }
// Functions without a communicator, or answered locally.
TALLY_SEEN(MPI_Comm_get_errhandler, MPI_COMM_NULL, (MPI_Comm c, MPI_Errhandler* h), (c, h))
TALLY_SEEN(MPI_Comm_set_errhandler, MPI_COMM_NULL, (MPI_Comm c, MPI_Errhandler h), (c, h))
TALLY_SEEN(MPI_Comm_get_attr, MPI_COMM_NULL, (MPI_Comm c, int k, void* v, int* f), (c, k, v, f))
TALLY_SEEN(MPI_Comm_test_inter, MPI_COMM_NULL, (MPI_Comm c, int* f), (c, f))
TALLY_SEEN(MPI_Type_contiguous, MPI_COMM_NULL, (int n, MPI_Datatype t, MPI_Datatype* u), (n, t, u))
TALLY_SEEN(MPI_Type_commit, MPI_COMM_NULL, (MPI_Datatype * t), (t))
TALLY_SEEN(MPI_Op_create, MPI_COMM_NULL, (MPI_User_function * f, int c, MPI_Op* o), (f, c, o))
TALLY_SEEN(MPI_Get_count, MPI_COMM_NULL, (const MPI_Status* s, MPI_Datatype t, int* n), (s, t, n))
TALLY_SEEN(MPI_Wait, MPI_COMM_NULL, (MPI_Request * r, MPI_Status* s), (r, s))
TALLY_SEEN(MPI_Test, MPI_COMM_NULL, (MPI_Request * r, int* f, MPI_Status* s), (r, f, s))
TALLY_SEEN(MPI_Waitall, MPI_COMM_NULL, (int n, MPI_Request* r, MPI_Status* s), (n, r, s))
TALLY_SEEN(MPI_Comm_rank, c, (MPI_Comm c, int* r), (c, r))
TALLY_SEEN(MPI_Comm_size, c, (MPI_Comm c, int* n), (c, n))
TALLY_SEEN(MPI_Comm_compare, c, (MPI_Comm c, MPI_Comm d, int* r), (c, d, r))
TALLY_SEEN(MPI_Bcast, c, (void* b, int n, MPI_Datatype t, int r, MPI_Comm c), (b, n, t, r, c))
TALLY_SEEN(MPI_Allgather, c,
           (const void* s, int n, MPI_Datatype t, void* r, int m, MPI_Datatype u, MPI_Comm c),
           (s, n, t, r, m, u, c))
TALLY_SEEN(MPI_Allgatherv, c,
           (const void* s, int n, MPI_Datatype t, void* r, const int* m, const int* d,
            MPI_Datatype u, MPI_Comm c),
           (s, n, t, r, m, d, u, c))
TALLY_SEEN(MPI_Alltoall, c,
           (const void* s, int n, MPI_Datatype t, void* r, int m, MPI_Datatype u, MPI_Comm c),
           (s, n, t, r, m, u, c))
TALLY_SEEN(MPI_Alltoallv, c,
           (const void* s, const int* n, const int* d, MPI_Datatype t, void* r, const int* m,
            const int* e, MPI_Datatype u, MPI_Comm c),
           (s, n, d, t, r, m, e, u, c))
TALLY_SEEN(MPI_Irecv, c,
           (void* b, int n, MPI_Datatype t, int s, int tag, MPI_Comm c, MPI_Request* r),
           (b, n, t, s, tag, c, r))
TALLY_SEEN(MPI_Isend, c,
           (const void* b, int n, MPI_Datatype t, int d, int tag, MPI_Comm c, MPI_Request* r),
           (b, n, t, d, tag, c, r))
#undef TALLY_SEEN

int MPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
  const bool fails = failing == "MPI_Comm_set_attr";  // then it sets none
  return returned("MPI_Comm_set_attr", comm,
                  fails ? MPI_SUCCESS : PMPI_Comm_set_attr(comm, key, value));
}

/// A new communicator, unless creation pretends to fail.
int made(const char* function, MPI_Comm comm, MPI_Comm* out, int status) {
  const int seen = returned(function, comm, status);
  if (seen == MPI_SUCCESS) ++communicators;
  if (seen != MPI_SUCCESS && status == MPI_SUCCESS) PMPI_Comm_free(out);
  return seen;
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* out) {
  return made("MPI_Comm_dup", comm, out, PMPI_Comm_dup(comm, out));
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* out) {
  return made("MPI_Comm_split", comm, out, PMPI_Comm_split(comm, color, key, out));
}
int MPI_Comm_free(MPI_Comm* comm) {
  --communicators;
  return PMPI_Comm_free(comm);
}

int MPI_Allreduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const int status = PMPI_Allreduce(own, all, count, type, op, comm);
  int commutes = 1;
  if (spoils_order) PMPI_Op_commutative(op, &commutes);
  if (!commutes) {
    static_cast<tally::interval_head*>(all)->gap = 1;
    ++spoiled_messages;
  }
  return returned("MPI_Allreduce", comm, status);
}

/// The spoiled result is there at once.
int MPI_Iallreduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  int commutes = 1;
  if (spoils_order) PMPI_Op_commutative(op, &commutes);
  const int status = PMPI_Iallreduce(own, all, count, type, op, comm, request);
  if (!commutes || failing == "MPI_Iallreduce") PMPI_Wait(request, MPI_STATUS_IGNORE);
  if (!commutes) {
    static_cast<tally::interval_head*>(all)->gap = 1;
    ++spoiled_messages;
  }
  return returned("MPI_Iallreduce", comm, status);
}
int MPI_Iallgather(const void* own, int count, MPI_Datatype type, void* all, int each,
                   MPI_Datatype of, MPI_Comm comm, MPI_Request* request) {
  const int status = PMPI_Iallgather(own, count, type, all, each, of, comm, request);
  if (failing == "MPI_Iallgather") PMPI_Wait(request, MPI_STATUS_IGNORE);
  return returned("MPI_Iallgather", comm, status);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_here);
  std::vector<std::string_view> chosen(argv + 1, argv + argc);
  full = std::erase(chosen, "--full") > 0;
  few = std::erase(chosen, "--few") > 0;
  for (const auto& [name, run] : tests) {
    test = name;
    const auto names_it = [&](std::string_view part) { return test.find(part) != test.npos; };
    if (!chosen.empty() && std::none_of(chosen.begin(), chosen.end(), names_it)) continue;
    try {
      run();
    } catch (const std::exception& e) {
      expect(false, e.what());
      std::fflush(stdout);
      MPI_Abort(MPI_COMM_WORLD, 1);  // other ranks may wait
    }
  }
  const int mine[] = {checks, failures};
  int all[2] = {};
  PMPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank_here == 0) {
    std::printf("%d ranks: %d checks, %d failed\n", ranks_here, all[0], all[1]);
  }
  MPI_Bcast(all, 2, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  // Communicators that remaining objects keep; the callers' have dropped theirs.
  const int kept = left.of_world ? (ranks_here > 1 ? 3 : 2) : 0;
  if (communicators != kept) {
    std::printf("rank %d: %d communicators after MPI_Finalize, not %d\n", rank_here, communicators,
                kept);
    return 1;
  }
  return all[1] == 0 ? 0 : 1;
}
