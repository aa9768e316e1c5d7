#include "bench/peers/eigen_kernel.hpp"

#include <Eigen/SparseCore>

#include <cstring>

namespace {

/// Entries of an assembly, as setFromTriplets reads them.
template <class T>
struct entries {
  const std::int32_t *rows, *columns;
  const T* values;

  entries* operator->() { return this; }
  std::int32_t row() const { return *rows; }
  std::int32_t col() const { return *columns; }
  T value() const { return *values; }
  entries& operator++() {
    ++rows, ++columns, ++values;
    return *this;
  }
  friend bool operator==(const entries& a, const entries& b) { return a.rows == b.rows; }
};

}  // namespace

void bench_eigen_assembly(const bench::workload& w, void* values) {
  visit_matrix(w, [&]<class T>(const tally::csr_view<T>& a, const T*, T*) {
    const std::size_t n = a.values.size();
    const entries<T> first{static_cast<const std::int32_t*>(w.y.data), a.column_indices.data(),
                           a.values.data()};
    const entries<T> last{first.rows + n, nullptr, nullptr};
    Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t> made(
        static_cast<Eigen::Index>(a.rows), static_cast<Eigen::Index>(a.columns));
    made.setFromTriplets(first, last);
    if (values != nullptr) std::memcpy(values, made.valuePtr(), n * sizeof(T));
  });
}

void bench_eigen_spmv(const bench::workload& w) {
  visit_matrix(w, [&]<class T>(const tally::csr_view<T>& a, const T* x, T* y) {
    using matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t>;
    using vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    const auto rows = static_cast<Eigen::Index>(a.rows);
    const auto columns = static_cast<Eigen::Index>(a.columns);
    const auto nonzeros = static_cast<Eigen::Index>(a.values.size());
    const Eigen::Map<const matrix> from(rows, columns, nonzeros, a.row_offsets.data(),
                                        a.column_indices.data(), a.values.data());
    Eigen::setNbThreads(w.threads);
    if (w.what == bench::operation::spmm) {
      using dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      const auto k = static_cast<Eigen::Index>(w.rows);
      Eigen::Map<dense>(y, rows, k).noalias() = from * Eigen::Map<const dense>(x, columns, k);
    } else if (w.transposes()) {
      Eigen::Map<vector>(y, columns).noalias() =
          from.transpose() * Eigen::Map<const vector>(x, rows);
    } else {
      Eigen::Map<vector>(y, rows).noalias() = from * Eigen::Map<const vector>(x, columns);
    }
  });
}
