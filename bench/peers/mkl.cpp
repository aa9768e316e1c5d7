// Intel MKL: opening, and products of sparse matrices, plain and after inspection. Constants are
// those of mkl_spblas.h and mkl_service.h.
#include "bench/peers/mkl.hpp"

#include "bench/peers/peers.hpp"

#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace bench::peers {
namespace {

/// Opens a release of MKL, in a folder or on the loader's path.
library open_mkl() {
  const char* const root = std::getenv("MKLROOT");
  const std::string folder = root != nullptr ? std::string(root) + "/lib/" : "";
  return library{folder + "libmkl_rt.so.3", folder + "libmkl_rt.so.2", folder + "libmkl_rt.so.1",
                 folder + "libmkl_rt.so"};
}

constexpr int interface_of_int32 = 0, threads_of_gnu = 3;
constexpr int zero_based = 0, as_it_is = 10, transposed = 11, general = 20, row_major = 101;

/// MKL's matrix_descr.
struct description {
  int type = general, triangle = 0, diagonal = 0;
};

template <class F, class... Argument>
void call(const library& from, const char* name, Argument... arguments) {
  if (const int status = from.function<F>(name)(arguments...); status != 0) {
    throw std::runtime_error(std::string(name) + " of MKL returned " + std::to_string(status));
  }
}

/// References to the caller's arrays, and the inspector's data.
class matrix {
 public:
  template <class T>
  matrix(const library& from, const tally::csr_view<T>& a) : from_(from) {
    using create = int(void**, int, int, int, int*, int*, int*, T*);
    auto* const offsets = const_cast<int*>(a.row_offsets.data());
    call<create>(from_, with_letter<T>("mkl_sparse_", "create_csr").c_str(), &handle_, zero_based,
                 static_cast<int>(a.rows), static_cast<int>(a.columns), offsets, offsets + 1,
                 const_cast<int*>(a.column_indices.data()), const_cast<T*>(a.values.data()));
  }
  matrix(const matrix&) = delete;
  matrix& operator=(const matrix&) = delete;
  ~matrix() { from_.function<int(void*)>("mkl_sparse_destroy")(handle_); }

  /// Optimises products with `vectors` at a time.
  void inspect(int operation, int vectors) {
    if (vectors == 1) {
      call<int(void*, int, description, int)>(from_, "mkl_sparse_set_mv_hint", handle_, operation,
                                              description{}, 1000);
    } else {
      call<int(void*, int, description, int, int, int)>(from_, "mkl_sparse_set_mm_hint", handle_,
                                                        operation, description{}, row_major,
                                                        vectors, 1000);
    }
    call<int(void*)>(from_, "mkl_sparse_optimize", handle_);
  }
  template <class T>
  void multiply(int operation, const T* x, T* y) const {
    using product = int(int, T, void*, description, const T*, T, T*);
    static product* const f = from_.function<product>(with_letter<T>("mkl_sparse_", "mv").c_str());
    f(operation, T{1}, handle_, description{}, x, T{0}, y);
  }
  template <class T>
  void multiply(int operation, int vectors, const T* x, T* y) const {
    using product = int(int, T, void*, description, int, const T*, int, int, T, T*, int);
    static product* const f = from_.function<product>(with_letter<T>("mkl_sparse_", "mm").c_str());
    f(operation, T{1}, handle_, description{}, row_major, x, vectors, vectors, T{0}, y, vectors);
  }

 private:
  template <class T>
  static std::string with_letter(const std::string& before, const char* after) {
    return before + (std::is_same_v<T, double> ? "d_" : "s_") + after;
  }

  library from_;
  void* handle_ = nullptr;
};

}  // namespace

const mkl* find_mkl() {
  static const library l = open_mkl();
  if (!l) return nullptr;
  static const mkl found = [] {
    l.function<int(int)>("MKL_Set_Interface_Layer")(interface_of_int32);
    l.function<int(int)>("MKL_Set_Threading_Layer")(threads_of_gnu);
    std::array<char, 200> text{};
    l.function<void(char*, int)>("MKL_Get_Version_String")(text.data(),
                                                           static_cast<int>(text.size()) - 1);
    std::string version = text.data();
    version.erase(version.find_last_not_of(' ') + 1);
    return mkl{l, version, l.function<void(int)>("MKL_Set_Num_Threads")};
  }();
  return &found;
}

namespace {

contenders spmv(const workload& w, bool anew) {
  contenders list;
  const mkl* const b = find_mkl();
  if (b == nullptr) return list;
  visit_matrix(w, [&]<class T>(const tally::csr_view<T>& a, const T* x, T* y) {
    const int operation = w.transposes() ? transposed : as_it_is;
    const auto vectors = static_cast<int>(w.rows);
    const auto multiply = [=](const matrix& m) {
      vectors == 1 ? m.multiply(operation, x, y) : m.multiply(operation, vectors, x, y);
    };
    const auto add = [&](const std::string& name, bool inspects) {
      const auto make = [=] {
        b->set_threads(w.threads);
        auto made = std::make_shared<matrix>(b->from, a);
        if (inspects) made->inspect(operation, vectors);
        return made;
      };
      const auto set_threads = [b, threads = w.threads] { b->set_threads(threads); };
      if (anew) {
        list.push_back(on_host(name, b->version, w, [=] { multiply(*make()); }, set_threads));
        return;
      }
      const on_demand<std::shared_ptr<matrix>> made(make);
      list.push_back(on_host(name, b->version, w, [=] { multiply(*made()); }, set_threads));
      if (inspects) list.back().set_up = [=] { make(); };
    };
    add("MKL", false);
    add("MKL inspector", true);
  });
  return list;
}

}  // namespace

contenders mkl_spmv(const workload& w) { return spmv(w, false); }
contenders mkl_spmv_anew(const workload& w) { return spmv(w, true); }

}  // namespace bench::peers
