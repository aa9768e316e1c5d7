// spmv on a GPU: a call is one launch. Where a plan found no long row, each row has a few threads;
// else each piece or tile of the matrix has a block (shape.hpp). Rows whose ends are said apart are
// summed in warps (any_rows.cuh). Apart from these there are, for values and x that are both float
// or both double, tiles of rows (row_tiles.cuh, near_rows.cu, ring_rows.cu), and in two launches
// hot columns (hot_columns.cuh), expansions (expansion.hpp) and large matrices without a plan
// (unplanned.cuh).
//
// Promise: y has the bits of the row order. A block computes its terms, adjacent threads adjacent
// ones, into shared memory, where it sums the rows: short ones in 1, 2, 4 or 8 threads, which own
// lanes of the order that lie so many apart, longer ones in a warp. Lanes start at +0, so none can
// hold -0, and it makes no difference whether a lane without terms is added. The code is compiled
// with -fmad=false, so a product is rounded before it is added.
//
// The blocks that have shares of a split row hand their sums to the block that has the last share,
// through words that this block polls (words.hpp). That can't deadlock: it waits for blocks of
// lower numbers, which start before it, and the lowest of these waits for nobody.
#pragma once

#include "backends/cuda/spmv/any_rows.cuh"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/pieces.cuh"
#include "backends/cuda/spmv/rows.cuh"
#include "backends/cuda/spmv/tiles.cuh"

#include <type_traits>

namespace tally::backends::cuda {

/// Makes the table that kernels.hpp declares.
template <class A>
const spmv_kernel_table& spmv_kernels() {
  static constexpr auto table = table_over<spmvs::value_types>([]<class V>() {
    return table_over<spmvs::vector_types>([]<class X>() {
      spmv_choice choice;
      if constexpr (std::is_same_v<dot_result_t<V, X>, A>) {
        // A real or complex matrix times a complex vector, all in one precision, is common. Other
        // pairs of complex types are rare, and one kernel that is told the types serves all: of
        // 2^20 rows of 5, complex128 x float64 takes 89 us with it and 94 with its own, float16 x
        // complex64 56 and 54 (one H200, 2026-11-22).
        constexpr bool is_rare =
            is_complex_v<A> && !(std::is_same_v<X, A> && std::is_same_v<real_t<V>, real_t<A>>);
        using Values = std::conditional_t<is_rare, any_element,
                                          std::conditional_t<sizeof(V) == 2, any_half, V>>;
        using Elements = std::conditional_t<is_rare, any_element, X>;
        choice.tiles = &spmv_tiles<A, Values, Elements>;
        choice.tile_bytes = term_planes<A, most_terms>::bytes;
        choice.pieces = &spmv_pieces<A, Values, Elements>;
        choice.piece_bytes = term_planes<A, piece_terms>::bytes;
        if constexpr (!is_complex_v<A> || std::is_same_v<V, X>) {
          choice.rows[1] = &spmv_rows<A, Values, X, 2>;
          choice.rows[2] = &spmv_rows<A, Values, X, 4>;
          choice.rows[3] = &spmv_rows<A, Values, X, 8>;
        }
      }
      return choice;
    });
  });
  return table;
}

template <class A>
any_spmv_choice any_spmv_kernels() {
  return {&spmv_pieces<A, any_element, any_element>, term_planes<A, piece_terms>::bytes,
          &spmv_any_rows<A>};
}

}  // namespace tally::backends::cuda
