// Functions of sparse matrices in plain code.
#include "bench/peers/peers.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

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

/// Y = A X, for k vectors in rows of X and Y.
template <class T>
void multiply_row(const tally::csr_view<T>& a, std::size_t row, std::size_t k, const T* x, T* y) {
  T* const to = y + row * k;
  std::fill_n(to, k, T{});
  const auto end = static_cast<std::size_t>(a.row_offsets[row + 1]);
  for (auto j = static_cast<std::size_t>(a.row_offsets[row]); j < end; ++j) {
    const T value = a.values[j];
    const T* const from = x + static_cast<std::size_t>(a.column_indices[j]) * k;
    for (std::size_t c = 0; c < k; ++c) to[c] += value * from[c];
  }
}

/// Row `row` of a function of rows.
template <class T>
void apply(operation what, const tally::csr_view<T>& a, std::size_t row, const T* x, T* z) {
  const auto first = static_cast<std::size_t>(a.row_offsets[row]),
             end = static_cast<std::size_t>(a.row_offsets[row + 1]);
  if (what == operation::scale_rows) {
    for (std::size_t j = first; j < end; ++j) z[j] = x[row] * a.values[j];
    return;
  }
  if (what == operation::diagonal && row >= a.columns) return;
  T sum{};
  for (std::size_t j = first; j < end; ++j) {
    if (what == operation::row_norms) {
      sum += std::abs(a.values[j]);
    } else if (static_cast<std::size_t>(a.column_indices[j]) == row) {
      sum += a.values[j];
    }
  }
  z[row] = sum;
}

/// Counts the entries of each row, and sorts each row's by column.
template <class T>
struct rows_of_entries {
  std::vector<std::int32_t> offsets, columns, order;

  void make(const workload& w, const tally::csr_view<T>& a, T* z) {
    const auto* const rows = static_cast<const std::int32_t*>(w.y.data);
    const std::size_t n = a.values.size();
    offsets.assign(a.rows + 2, 0);
    columns.resize(n);
    order.resize(n);
    for (std::size_t i = 0; i < n; ++i) ++offsets[static_cast<std::size_t>(rows[i]) + 2];
    for (std::size_t i = 0; i < a.rows; ++i) offsets[i + 2] += offsets[i + 1];
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(offsets[static_cast<std::size_t>(rows[i]) + 1]++);
      order[at] = static_cast<std::int32_t>(i);
    }
    for (std::size_t i = 0; i < a.rows; ++i) {
      std::sort(order.begin() + offsets[i], order.begin() + offsets[i + 1],
                [&](std::int32_t j, std::int32_t k) {
                  return a.column_indices[static_cast<std::size_t>(j)] <
                         a.column_indices[static_cast<std::size_t>(k)];
                });
    }
    for (std::size_t i = 0; i < n; ++i) {
      columns[i] = a.column_indices[static_cast<std::size_t>(order[i])];
      z[i] = a.values[static_cast<std::size_t>(order[i])];
    }
  }
};

}  // namespace

contenders standard_sparse(const workload& w) {
  contenders list;
  visit_matrix(w, [&]<class T>(const tally::csr_view<T>& a, const T* x, T* z) {
    if (w.what == operation::assembly) {
      const auto made = std::make_shared<rows_of_entries<T>>();
      list.push_back(
          on_host("plain loop", "counts, then std::sort by row", w, [=] { made->make(w, a, z); }));
      list.back().threads = 1;
      return;
    }
    const auto row = [=, what = w.what, k = w.rows](std::size_t i) {
      what == operation::spmm ? multiply_row(a, i, k, x, z) : apply(what, a, i, x, z);
    };
    if (w.threads == 1) {
      list.push_back(on_host("plain loop", "-O3", w, [=] {
        for (std::size_t i = 0; i < a.rows; ++i) row(i);
      }));
    } else {
      list.push_back(on_host("OpenMP loop", "rows in equal shares", w, [=, threads = w.threads] {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (std::size_t i = 0; i < a.rows; ++i) row(i);
      }));
    }
  });
  return list;
}

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
