#include "bench/matrices.hpp"

#include <tally/sparse/matrix_market.hpp>

#include <algorithm>
#include <complex>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>

namespace bench {
namespace {

enum class listed { never, full, quick };

struct entry {
  std::string name;
  listed on_host;
  listed on_device;
  std::function<matrices::pattern(std::uint64_t seed)> generate;  ///< none for a file
};

std::vector<entry>& entries() {
  using enum listed;
  using matrices::band, matrices::random_rows, matrices::rmat, matrices::stencil;
  using seed = std::uint64_t;
  constexpr std::size_t m = 1 << 20;
  static std::vector<entry> list = {
      entry{"west0067", full, full, nullptr},
      entry{"1138_bus", full, full, nullptr},
      entry{"cryg2500", full, full, nullptr},
      entry{"ani4", full, full, nullptr},
      entry{"wiki-Vote", quick, quick, nullptr},
      entry{"memplus", quick, quick, nullptr},
      entry{"arrow", quick, quick, [](seed) { return matrices::arrow(46500); }},
      entry{"wing", full, full, nullptr},
      entry{"bcsstk16", quick, quick, nullptr},
      entry{"soc-Slashdot0902", quick, quick, nullptr},
      entry{"rmat-18", quick, quick, [](seed s) { return rmat(18, std::size_t{16} << 18, s); }},
      entry{"random-18", quick, full, [](seed s) { return random_rows(1 << 18, 16.5, 0, s); }},
      // The mean of lengths before truncation.
      entry{"random-4.2", full, full, [](seed s) { return random_rows(1 << 20, 4.7, 0, s); }},
      entry{"5-point-1024", quick, never, [](seed) { return stencil(1024, 1024, 1, 1); }},
      entry{"27-point-64", quick, never, [](seed) { return stencil(64, 64, 64, 3); }},
      entry{"7-point-128", full, full, [](seed) { return stencil(128, 128, 128, 1); }},
      entry{"random-20", full, quick, [](seed s) { return random_rows(1 << 20, 16.5, 0, s); }},
      entry{"skewed-20", full, full, [](seed s) { return random_rows(1 << 20, 16.5, 0.5, s); }},
      entry{"5-point-2048", full, quick, [](seed) { return stencil(2048, 2048, 1, 1); }},
      entry{"rmat-21", full, quick, [](seed s) { return rmat(21, std::size_t{16} << 21, s); }},
      entry{"27-point-128", full, quick, [](seed) { return stencil(128, 128, 128, 3); }},
      entry{"9-point-1500", never, full, [](seed) { return stencil(1500, 1500, 1, 2); }},
      entry{"1-to-16", never, full, [](seed s) { return band(m, m, 1, 16, 100, s); }},
      entry{"8-to-30", never, full, [](seed s) { return band(m / 2, m / 2, 8, 30, 100, s); }},
      entry{"40-to-128", never, full, [](seed s) { return band(m / 8, m / 8, 40, 128, 2000, s); }},
      entry{"1-to-64", never, full, [](seed s) { return band(m / 4, m / 4, 1, 64, 2000, s); }},
      entry{"200-to-2000", never, full,
            [](seed s) { return band(m / 64, m / 8, 200, 2000, m, s); }},
      entry{"3-of-64", never, full, [](seed s) { return band(2 * m, 64, 3, 3, 64, s); }},
      entry{"64-of-75000", never, full, [](seed s) { return band(64, m / 8, 75000, 75000, m, s); }},
  };
  return list;
}

bool own = false;  // whether the caller's matrices are used

bool is_here(const entry& e) {
  return e.generate || (TALLY_HAS_ZLIB && std::filesystem::exists(matrices::file(e.name)));
}

/// Every field can be read as this type.
matrices::pattern pattern_in(const std::string& path) {
  auto a = tally::read_matrix_market<std::complex<double>>(path);
  return {a.rows, a.columns, std::move(a.row_offsets), std::move(a.column_indices)};
}

/// Returns the file's name without folder, .mtx and .mtx.gz.
std::string name_of(const std::filesystem::path& path) {
  std::filesystem::path name = path.filename();
  for (const char* const end : {".gz", ".mtx"}) {
    if (name.extension() == end) name = name.stem();
  }
  return name.string();
}

}  // namespace

void take_matrices(const std::vector<std::string>& paths) {
  std::vector<entry> taken;
  for (const std::string& path : paths) {
    const std::string name = name_of(path);
    if (std::ranges::find(taken, name, &entry::name) != taken.end()) {
      throw std::invalid_argument(path + ": a matrix of this name was given before");
    }
    const auto pattern = std::make_shared<matrices::pattern>(pattern_in(path));
    if (pattern->nonzeros() == 0) throw std::invalid_argument(path + ": the matrix has no entries");
    taken.push_back({name, listed::quick, listed::quick, [=](std::uint64_t) { return *pattern; }});
  }
  for (entry& e : entries()) e.on_host = e.on_device = listed::never;
  std::ranges::move(taken, std::back_inserter(entries()));
  own = true;
}

bool has_own_matrices() { return own; }

const std::string& matrix_name(std::size_t n) { return entries()[n].name; }

std::vector<std::size_t> matrices_of(bool on_device, bool full) {
  std::vector<std::size_t> list;
  for (std::size_t n = 0; n < entries().size(); ++n) {
    const entry& e = entries()[n];
    const listed lowest = full ? listed::full : listed::quick;
    if ((on_device ? e.on_device : e.on_host) >= lowest && is_here(e)) list.push_back(n);
  }
  return list;
}

std::size_t matrix_of_ladder() {
  const auto& all = entries();
  const auto found = std::ranges::find(all, "random-4.2", &entry::name);
  return static_cast<std::size_t>(found - all.begin());
}

matrices::pattern pattern_of(std::size_t n, std::uint64_t seed) {
  const entry& e = entries()[n];
  return e.generate ? e.generate(seed) : pattern_in(matrices::file(e.name).string());
}

std::vector<std::int32_t> shuffle_entries(matrices::pattern& p, std::uint64_t seed) {
  std::vector<std::int32_t> rows;
  rows.reserve(p.nonzeros());
  for (std::size_t i = 0; i < p.rows; ++i) {
    rows.insert(rows.end(), static_cast<std::size_t>(p.row_offsets[i + 1] - p.row_offsets[i]),
                static_cast<std::int32_t>(i));
  }
  std::mt19937_64 engine(seed);
  for (std::size_t i = rows.size(); i > 1; --i) {
    const std::size_t j = engine() % i;
    std::swap(rows[i - 1], rows[j]);
    std::swap(p.column_indices[i - 1], p.column_indices[j]);
  }
  return rows;
}

}  // namespace bench
