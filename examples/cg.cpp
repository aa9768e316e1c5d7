// Conjugate gradients: solves A x = b, b all ones, on any executors, and shows that every iterate
// has the same bits on all of them.
//
// Each line has the iteration, the residual |b - A x| / |b| as the recurrence has it, and a hash of
// the bits of all iterates x so far. Two runs with equal hashes, on two executors or two machines,
// had equal bits all the way.
#include <tally/tally.hpp>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#if TALLY_HAS_CUDA
#include <cuda_runtime.h>
#endif

namespace {

using matrix = tally::csr_matrix<double>;

struct options {
  std::string file;  // empty: the grid
  int grid = 100;
  int iterations = 10000;
  double tolerance = 1e-10;
  int every = 100;
  std::optional<std::uint64_t> expected_hash;
  std::vector<tally::executor> executors;
};

constexpr char usage[] = R"(cg [options] [FILE] [EXECUTOR...]

Solves A x = b by conjugate gradients on each executor in turn, b all ones. Fails if an iterate
differs between two of them by as much as a bit.

  FILE              a Matrix Market file, .mtx or .mtx.gz; without one: a 5-point Laplacian
  EXECUTOR          serial, simd, openmp, openmp:THREADS, cuda, cuda:DEVICE or kokkos
                    (default: all that are here)
  --grid N          the Laplacian's grid has N x N points (default: 100)
  --tolerance R     stop when the residual is R times that of x = 0 (default: 1e-10)
  --iterations N    stop after N iterations (default: 10000)
  --every N         print every N-th iteration; 0: only the last (default: 100)
  --expect HASH     fail unless the last hash is this one, from a run elsewhere

  cg --grid 1000 openmp:8 cuda
  cg bcsstk16.mtx.gz
)";

// --- Memory ---------------------------------------------------------------------------------------

#if TALLY_HAS_CUDA
void check_cuda(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}
#endif

/// A vector where an executor's kernels can reach it.
template <class T>
class placed {
 public:
  placed([[maybe_unused]] const tally::executor& where, const std::vector<T>& values) {
#if TALLY_HAS_CUDA
    if (where.name() == "cuda") {
      check_cuda(cudaMalloc(&device_, values.size() * sizeof(T)));
      elements_ = {static_cast<T*>(device_), values.size()};
      check_cuda(cudaMemcpy(device_, values.data(), elements_.size_bytes(), cudaMemcpyDefault));
      return;
    }
#endif
    host_ = values;
    elements_ = host_;
  }
  ~placed() {
#if TALLY_HAS_CUDA
    cudaFree(device_);
#endif
  }
  placed(const placed&) = delete;
  placed& operator=(const placed&) = delete;

  std::span<T> operator*() const { return elements_; }

  /// Its elements on the host, after all that was queued before on the default stream.
  std::span<const T> on_host() {
#if TALLY_HAS_CUDA
    if (device_ != nullptr) {
      host_.resize(elements_.size());
      check_cuda(cudaMemcpy(host_.data(), device_, elements_.size_bytes(), cudaMemcpyDefault));
    }
#endif
    return host_;
  }

 private:
  std::vector<T> host_;
  void* device_ = nullptr;
  std::span<T> elements_;
};

// --- The solver -----------------------------------------------------------------------------------

/// FNV-1a, a double at a time.
class bit_hash {
 public:
  void add(std::span<const double> values) {
    for (const double v : values)
      value_ = (value_ ^ std::bit_cast<std::uint64_t>(v)) * 0x100000001b3;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

/// The hash of all iterates.
std::uint64_t solve(const tally::executor& where, const matrix& a, const options& chosen) {
#if TALLY_HAS_CUDA
  if (where.name() == "cuda") check_cuda(cudaSetDevice(where.device()));
#endif
  const placed offsets(where, a.row_offsets);
  const placed columns(where, a.column_indices);
  const placed values(where, a.values);
  const tally::csr_view view{a.rows, a.columns, *offsets, *columns, *values};
  const tally::spmv_plan plan(where, view);

  const std::vector<double> b(a.rows, 1.0);
  placed x(where, std::vector<double>(a.rows, 0.0));
  const placed r(where, b), p(where, b), q(where, b);
  double rr = tally::dot(where, *r, *r);
  const double norm = std::sqrt(rr);

  std::printf("%s\n", where.description().c_str());
  bit_hash hash;
  double residual = 1;
  int k = 0;
  while (!(residual <= chosen.tolerance) && k < chosen.iterations) {
    tally::spmv(where, plan, view, *p, *q);
    const double curvature = tally::dot(where, *p, *q);
    if (!(curvature > 0)) throw std::runtime_error("the matrix is not positive definite");
    const double alpha = rr / curvature;
    tally::axpy(where, alpha, *p, *x);
    tally::axpy(where, -alpha, *q, *r);
    const double next = tally::dot(where, *r, *r);
    tally::axpby(where, 1.0, *r, next / rr, *p);
    rr = next;

    ++k;
    hash.add(x.on_host());
    residual = std::sqrt(rr) / norm;
    const bool is_last = residual <= chosen.tolerance || k == chosen.iterations;
    if (is_last || (chosen.every > 0 && k % chosen.every == 0)) {
      std::printf("%8d  %.3e  %016llx\n", k, residual,
                  static_cast<unsigned long long>(hash.value()));
    }
  }
  if (!(residual <= chosen.tolerance)) std::puts("          not converged");
  return hash.value();
}

/// The 5-point Laplacian of n x n points: 4 on the diagonal, -1 for each neighbour.
matrix laplacian(int n) {
  matrix a;
  a.rows = a.columns = static_cast<std::size_t>(n) * n;
  const auto add = [&](int i, int j, double value) {
    if (i < 0 || i == n || j < 0 || j == n) return;
    a.column_indices.push_back(i * n + j);
    a.values.push_back(value);
  };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      add(i - 1, j, -1);
      add(i, j - 1, -1);
      add(i, j, 4);
      add(i, j + 1, -1);
      add(i + 1, j, -1);
      a.row_offsets.push_back(static_cast<std::int32_t>(a.values.size()));
    }
  }
  return a;
}

// --- The command line -----------------------------------------------------------------------------

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

/// None if `word` doesn't name one.
std::optional<tally::executor> parse_executor(std::string_view word) {
  const std::size_t colon = word.find(':');
  const std::string_view name = word.substr(0, colon);
  const auto number = [&](int otherwise) {
    return colon == word.npos ? otherwise : parse<int>(word.substr(colon + 1));
  };
  if (word == "serial") return tally::serial();
  if (word == "simd") return tally::simd();
  if (name == "openmp") return tally::openmp({.threads = number(0)});
  if (name == "cuda") return tally::cuda({.device = number(-1)});
  if (word == "kokkos") return tally::kokkos();
  return {};
}

options parse_options(std::span<char*> words) {
  options chosen;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const auto value = [&]() -> std::string_view {
      if (++i == words.size()) throw std::runtime_error(std::string(word) + " needs a value");
      return words[i];
    };
    if (word == "--help" || word == "-h") {
      std::fputs(usage, stdout);
      std::exit(EXIT_SUCCESS);
    } else if (word == "--grid") {
      chosen.grid = parse<int>(value());
      constexpr int largest = 20000;  // 5 * 20000^2 fits the row offsets' 31 bits
      if (chosen.grid < 1 || chosen.grid > largest) throw std::runtime_error("--grid: 1 to 20000");
    } else if (word == "--tolerance") {
      chosen.tolerance = parse<double>(value());
    } else if (word == "--iterations") {
      chosen.iterations = parse<int>(value());
    } else if (word == "--every") {
      chosen.every = parse<int>(value());
    } else if (word == "--expect") {
      chosen.expected_hash = parse<std::uint64_t>(value(), 16);
    } else if (word.starts_with("--")) {
      throw std::runtime_error("cg does not know " + std::string(word));
    } else if (const auto where = parse_executor(word)) {
      chosen.executors.push_back(*where);
    } else if (chosen.file.empty()) {
      chosen.file = word;
    } else {
      throw std::runtime_error(std::string(word) + " is not an executor; see cg --help");
    }
  }
  if (chosen.executors.empty()) chosen.executors = tally::executors();
  return chosen;
}

}  // namespace

int main(int argc, char** argv) try {
  const options chosen = parse_options({argv + 1, argv + argc});
  const matrix a =
      chosen.file.empty() ? laplacian(chosen.grid) : tally::read_matrix_market(chosen.file);
  if (a.rows != a.columns) throw std::runtime_error("the matrix is not square");
  std::printf("%zu rows, %zu entries\n", a.rows, a.values.size());

  std::optional<std::uint64_t> hash = chosen.expected_hash;
  bool agree = true;
  for (const tally::executor& where : chosen.executors) {
    const std::uint64_t here = solve(where, a, chosen);
    agree = agree && here == hash.value_or(here);
    hash = hash.value_or(here);
  }
  std::puts(agree ? "All iterates have equal bits." : "The iterates DIFFER.");
  return agree ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
  std::fprintf(stderr, "cg: %s\n", e.what());
  return EXIT_FAILURE;
}
