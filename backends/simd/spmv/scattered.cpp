#include "backends/simd/spmv/scattered.hpp"
#include "backends/simd/simd.hpp"

#include <new>
#include <type_traits>
#include <utility>

namespace tally::backends::simd {
namespace {

/// `to`: index of each term in `terms`.
template <class W, class Offset>
void write_terms(const csr_operand& a, const operand& x, const std::int32_t* to, std::size_t first,
                 std::size_t n, W* terms) {
  const auto* const offsets = static_cast<const Offset*>(a.row_offsets.data) + first;
  const auto* const values = static_cast<const W*>(a.values.data);
  const auto* of_row =
      static_cast<const W*>(x.data) + static_cast<std::ptrdiff_t>(first) * x.increment;
  for (std::size_t i = 0; i < n; ++i, of_row += x.increment) {
    const W factor = *of_row;
    for (Offset j = offsets[i]; j < offsets[i + 1]; ++j) terms[to[j]] = values[j] * factor;
  }
}

}  // namespace

scattered_transpose::scattered_transpose(std::shared_ptr<const csr_transpose> transpose,
                                         const csr_operand& a)
    : csr_transpose(*transpose), kept(std::move(transpose)), of(a) {
  if (a.row_ends || places.element != type::int32 ||
      !is_in<type_list<float, double>>(a.values.element)) {
    return;
  }
  to.reset(new std::int32_t[places.size]);
  const auto* const from = static_cast<const std::int32_t*>(places.data);
  for (std::size_t k = 0; k < places.size; ++k) to[from[k]] = static_cast<std::int32_t>(k);
}

scattered_transpose::~scattered_transpose() { ::operator delete(room.load()); }

const scattered_transpose* scattered_transpose_of(const csr_product& a) {
  if (!a.is_permuted() || a.options.grade.is_exact()) return nullptr;
  const auto& transpose = static_cast<const scattered_transpose&>(*a.plan->transpose());
  const type element = transpose.of.values.element;
  const bool suits = transpose.to && a.a.values.element == element && a.x.element == element;
  return suits ? &transpose : nullptr;
}

scattered_terms::scattered_terms(const scattered_transpose& transpose, const csr_product& a)
    : transpose_(transpose),
      product_(a),
      terms_(transpose.room.exchange(nullptr, std::memory_order_acquire)),
      sums_(a) {
  if (terms_ == nullptr) {
    terms_ = static_cast<std::byte*>(
        ::operator new(a.places.size * size_of(transpose.of.values.element)));
  }
  sums_.a.values.data = terms_;
  sums_.x = {nullptr, a.x.size, 1, a.x.element};
  sums_.places = {};
  sums_.plan = nullptr;
}

scattered_terms::~scattered_terms() {
  std::byte* none = nullptr;
  if (!transpose_.room.compare_exchange_strong(none, terms_, std::memory_order_release)) {
    ::operator delete(terms_);
  }
}

void scattered_terms::write(std::size_t first, std::size_t n) const {
  csr_operand matrix = transpose_.of;
  matrix.values.data = product_.a.values.data;  // perhaps not the plan's
  const auto write_as = [&]<class W, class Offset>(W* terms, Offset) {
    write_terms<W, Offset>(matrix, product_.x, transpose_.to.get(), first, n, terms);
  };
  with_type<type_list<float, double>>(matrix.values.element, [&]<class W>() {
    auto* const terms = reinterpret_cast<W*>(terms_);
    matrix.row_offsets.element == type::int64 ? write_as(terms, std::int64_t{})
                                              : write_as(terms, std::int32_t{});
  });
}

std::shared_ptr<const csr_transpose> backend::transpose(const executor& where, const csr_operand& a,
                                                        bool keeps_values) const {
  auto made = serial::backend::transpose(where, a, keeps_values);
  if (keeps_values) return made;
  return std::make_shared<scattered_transpose>(std::move(made), a);
}

}  // namespace tally::backends::simd
