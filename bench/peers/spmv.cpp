// Sparse matrix times vector in plain code.
#include "bench/peers/peers.hpp"

#include <algorithm>

namespace bench::peers {
namespace {

/// A row's sum.
template <class T>
T sum(const tally::csr_view<T>& a, const T* x, std::size_t row) {
  T sum{};
  const auto end = static_cast<std::size_t>(a.row_offsets[row + 1]);
  for (auto j = static_cast<std::size_t>(a.row_offsets[row]); j < end; ++j) {
    sum += a.values[j] * x[a.column_indices[j]];
  }
  return sum;
}

template <class T>
[[gnu::noinline]] void multiply(const tally::csr_view<T>& a, const T* x, T* y) {
  for (std::size_t i = 0; i < a.rows; ++i) y[i] = sum(a, x, i);
}

template <class T>
void multiply(const tally::csr_view<T>& a, const T* x, T* y, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::size_t i = 0; i < a.rows; ++i) y[i] = sum(a, x, i);
}

template <class T>
[[gnu::noinline]] void multiply_transpose(const tally::csr_view<T>& a, const T* x, T* y) {
  std::fill_n(y, a.columns, T{});
  for (std::size_t i = 0; i < a.rows; ++i) {
    const auto end = static_cast<std::size_t>(a.row_offsets[i + 1]);
    for (auto j = static_cast<std::size_t>(a.row_offsets[i]); j < end; ++j) {
      y[a.column_indices[j]] += a.values[j] * x[i];
    }
  }
}

}  // namespace

contenders standard_spmv(const workload& w) {
  contenders list;
  visit_matrix(w, [&]<class T>(const tally::csr_view<T>& a, const T* x, T* y) {
    if (w.transposes()) {  // one thread, since any row may add to any element
      list.push_back(on_host("plain loop", "-O3", w, [=] { multiply_transpose(a, x, y); }));
      list.back().threads = 1;
    } else if (w.threads == 1) {
      list.push_back(on_host("plain loop", "-O3", w, [=] { multiply(a, x, y); }));
    } else {
      list.push_back(on_host("OpenMP loop", "rows in equal shares", w,
                             [=, threads = w.threads] { multiply(a, x, y, threads); }));
    }
  });
  return list;
}

}  // namespace bench::peers
