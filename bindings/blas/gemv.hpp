// BLAS's gemv over Tally, with netlib's rules: y = alpha op(A) x + beta y.
#pragma once

#include "bindings/blas/level_one.hpp"

#include <tally/operations/gemv.hpp>

#include <complex>
#include <optional>

namespace tally::blas {

/// A of the caller: m rows of n elements, stored column by column; and what is done with it.
template <class T>
struct matrix {
  const T* elements;
  length m, n, lda;
  bool is_transposed, is_conjugated;

  length height() const { return is_transposed ? n : m; }  ///< of op(A)
  length width() const { return is_transposed ? m : n; }
};

/// r = op(A) x, then y = alpha r + beta y, on `where`.
template <class T>
void multiply(const executor& where, T alpha, const matrix<T>& a, const auto& x, T beta, auto y) {
  const auto height = static_cast<std::size_t>(a.height());
  const auto width = static_cast<std::size_t>(a.width());
  const length row = a.is_transposed ? a.lda : 1, element = a.is_transposed ? 1 : a.lda;
  if (a.is_conjugated) {
    // The transpose of op(A) without its conjugation, which Tally transposes once more.
    tally::gemv(where, alpha, conjugate_transpose(rows(a.elements, width, height, element, row)), x,
                beta, y, set().grade);
  } else {
    tally::gemv(where, alpha, rows(a.elements, height, width, row, element), x, beta, y,
                set().grade);
  }
}

/// The same on copies of A and y, which is written last.
template <class T>
void multiply_copies(T alpha, const matrix<T>& a, const T* x, length incx, T beta, T* y,
                     length incy) {
  run(routine::gemv, bytes_of<T>(a.m) * static_cast<std::size_t>(a.n), [&](const executor& where) {
    std::vector<T> columns(static_cast<std::size_t>(a.m) * static_cast<std::size_t>(a.n));
    for (length j = 0; j < a.n; ++j) {
      gather_elements(columns.data() + j * a.m, a.m, a.elements + j * a.lda, 1);
    }
    const std::vector<T> copy_of_x = gathered(a.width(), x, incx);
    std::vector<T> copy_of_y = gathered(a.height(), y, incy);
    multiply(where, alpha, {columns.data(), a.m, a.n, a.m, a.is_transposed, a.is_conjugated},
             copy_of_x, beta, std::span<T>(copy_of_y));
    T* const to = first(y, a.height(), incy);
    for (length i = 0; i < a.height(); ++i) {
      std::memcpy(static_cast<void*>(to + i * incy), &copy_of_y[static_cast<std::size_t>(i)],
                  sizeof(T));
    }
  });
}

/// Pre: valid arguments.
template <class T>
void gemv(T alpha, const matrix<T>& a, const T* x, length incx, T beta, T* y, length incy) {
  if (a.m == 0 || a.n == 0) return;
  if (is_zero(alpha)) return scale_or_zero(routine::gemv, a.height(), beta, y, incy);
  if (is_regular(a.elements, a.lda) && is_regular(x, incx) && is_regular(y, incy)) [[likely]] {
    const auto bytes = bytes_of<T>(a.m) * static_cast<std::size_t>(a.n);
    if (run(routine::gemv, bytes, [&](const executor& where) {
          multiply(where, alpha, a, strided(x, static_cast<std::size_t>(a.width()), incx), beta,
                   strided(y, static_cast<std::size_t>(a.height()), incy));
        })) [[likely]] {
      return;
    }
  }
  multiply_copies(alpha, a, x, incx, beta, y, incy);
}

// --- Arguments -----------------------------------------------------------------------------------

/// op: transposed, conjugated; and whether x is conjugated first.
struct operation {
  bool is_transposed, is_conjugated, conjugates_x = false;
};

/// The operation of Fortran's letter. Netlib has the first three, OpenBLAS all.
inline std::optional<operation> operation_of(char letter) {
  switch (letter | 0x20) {  // in lower case
    case 'n':
      return operation{false, false};
    case 't':
      return operation{true, false};
    case 'c':
      return operation{true, true};
    case 'r':
      return operation{false, true};
    case 'o':
      return operation{false, false, true};
    case 'u':
      return operation{true, false, true};
    case 'd':
      return operation{true, true, true};
    case 's':
      return operation{false, true, true};
    default:
      return std::nullopt;
  }
}

/// The same of an enumerator of CBLAS.
inline std::optional<operation> operation_of(int transposition) {
  switch (transposition) {
    case 111:
      return operation{false, false};
    case 112:
      return operation{true, false};
    case 113:
      return operation{true, true};
    case 114:
      return operation{false, true};
    default:
      return std::nullopt;
  }
}

/// The number of the first invalid argument of Fortran's gemv, 0 if there is none.
inline int invalid_argument(bool has_operation, length m, length n, length lda, length incx,
                            length incy) {
  return !has_operation                 ? 1
         : m < 0                        ? 2
         : n < 0                        ? 3
         : lda < std::max(length{1}, m) ? 6
         : incx == 0                    ? 8
         : incy == 0                    ? 11
                                        : 0;
}

/// Reports an argument by the error routine of the BLAS behind this one (XERBLA), or stops. Returns
/// where that returns, as OpenBLAS's does.
void report_fortran(char type, int argument) noexcept;
/// `argument` is that of the call by columns, in which m and n change places.
void report_c(char type, int argument, bool by_rows) noexcept;

/// The first letter of the routine's name.
template <class T>
inline constexpr char type_letter = 0;
template <>
inline constexpr char type_letter<float> = 's';
template <>
inline constexpr char type_letter<double> = 'd';
template <>
inline constexpr char type_letter<std::complex<float>> = 'c';
template <>
inline constexpr char type_letter<std::complex<double>> = 'z';

template <class T>
void fortran_gemv(char letter, length m, length n, T alpha, const T* a, length lda, const T* x,
                  length incx, T beta, T* y, length incy) {
  const auto op = operation_of(letter);
  if (const int wrong = invalid_argument(op.has_value(), m, n, lda, incx, incy)) {
    return report_fortran(type_letter<T>, wrong);
  }
  const matrix<T> all = {
      a, m, n, lda, op->is_transposed, op->is_conjugated && !std::floating_point<T>};
  if constexpr (!std::floating_point<T>) {
    if (op->conjugates_x && !is_zero(alpha)) {
      std::vector<T> conjugated;
      run(routine::gemv, 0, [&](const executor&) {
        conjugated = gathered(all.width(), x, incx);
        for (T& each : conjugated) each = std::conj(each);
      });
      return gemv(alpha, all, static_cast<const T*>(conjugated.data()), 1, beta, y, incy);
    }
  }
  gemv(alpha, all, x, incx, beta, y, incy);
}

/// `order`: 101, row by row, or 102.
template <class T>
void c_gemv(int order, int transposition, length m, length n, T alpha, const T* a, length lda,
            const T* x, length incx, T beta, T* y, length incy) {
  const auto op = operation_of(transposition);
  const bool by_rows = order == 101;
  if (!by_rows && order != 102) return report_c(type_letter<T>, 1, false);
  // Rows are the columns of the transpose.
  const length height = by_rows ? n : m, width = by_rows ? m : n;
  if (const int wrong = invalid_argument(op.has_value(), height, width, lda, incx, incy)) {
    return report_c(type_letter<T>, wrong + 1, by_rows);
  }
  const bool is_transposed = op->is_transposed != by_rows;
  const bool is_conjugated = op->is_conjugated && !std::floating_point<T>;
  gemv(alpha, {a, height, width, lda, is_transposed, is_conjugated}, x, incx, beta, y, incy);
}

}  // namespace tally::blas
