// Kokkos Kernels on the host, in Kokkos's default execution space.
#include "bench/peers/peers.hpp"

#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>
#include <Kokkos_Core.hpp>

#include <memory>
#include <string>

namespace bench::peers {

contenders kokkos_kernels_spmv(const workload& w) {
  contenders list;
  const int threads = kokkos_threads(w);
  if (threads == 0) return list;
  visit_matrix(w, [&]<class T>(const tally::csr_view<T>& a, const T* x, T* y) {
    using space = Kokkos::DefaultHostExecutionSpace;
    using index = std::int32_t;
    using matrix = KokkosSparse::CrsMatrix<T, index, space, void, index>;
    using kept = std::shared_ptr<const matrix>;
    const on_demand<kept> made([=]() -> kept {  // views of existing data
      return std::make_shared<matrix>(
          "a", static_cast<index>(a.rows), static_cast<index>(a.columns),
          static_cast<index>(a.values.size()),
          typename matrix::values_type(const_cast<T*>(a.values.data()), a.values.size()),
          typename matrix::row_map_type(a.row_offsets.data(), a.row_offsets.size()),
          typename matrix::index_type(const_cast<index*>(a.column_indices.data()),
                                      a.column_indices.size()));
    });
    using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    const Kokkos::View<const T*, space, unmanaged> from(x, w.matrix.width());
    const Kokkos::View<T*, space, unmanaged> to(y, w.matrix.height());
    const char* const how = w.transposes() ? "T" : "N";
    list.push_back(on_host(std::string("Kokkos Kernels ") + space::name(),
                           "with Kokkos " + std::to_string(KOKKOS_VERSION), w,
                           [=] { KokkosSparse::spmv(how, T{1}, *made(), from, T{0}, to); }));
    list.back().threads = threads;
  });
  return list;
}

}  // namespace bench::peers
