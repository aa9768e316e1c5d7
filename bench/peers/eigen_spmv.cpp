#include "bench/peers/eigen_kernel.hpp"

#include <Eigen/SparseCore>

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
    if (w.transposes()) {
      Eigen::Map<vector>(y, columns).noalias() =
          from.transpose() * Eigen::Map<const vector>(x, rows);
    } else {
      Eigen::Map<vector>(y, rows).noalias() = from * Eigen::Map<const vector>(x, columns);
    }
  });
}
