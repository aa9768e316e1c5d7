// Kernels of spmv by accumulator, one launch per call: a few threads per row where a plan found no
// long row, else one block per piece or tile of the matrix (shape.hpp); one warp per four rows for
// matrices of four arrays (any_rows.cuh). Further kernels, for values and x both float or both
// double: row tiles (row_tiles.cuh, near_rows.cu, ring_rows.cu), bands (band_rows.cu), and in two
// launches hub columns (hot_columns.cuh), propagation blocking (expansion.hpp) and large matrices
// without a plan (unplanned.cuh).
//
// Promise: y has the bits of the row order. A block computes its terms into shared memory, adjacent
// threads adjacent ones, and sums the rows there: short ones in 1, 2, 4 or 8 threads, which own
// equally spaced lanes, longer ones in a warp. Lanes start at +0, so none becomes -0, and adding a
// lane without terms changes nothing. With -fmad=false each product is rounded before it is added.
//
// Blocks with segments of a split row pass carry-outs to the block of the last segment, which polls
// them (words.hpp). It cannot deadlock: it waits for blocks of lower numbers, which start earlier,
// and the lowest of these waits for none.
#pragma once

#include "backends/cuda/spmv/any_rows.cuh"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/pieces.cuh"
#include "backends/cuda/spmv/rows.cuh"
#include "backends/cuda/spmv/tiles.cuh"

#include <type_traits>

namespace tally::backends::cuda {

template <class A>
const spmv_kernel_table& spmv_kernels() {
  static constexpr auto table = table_over<spmvs::value_types>([]<class V>() {
    return table_over<spmvs::vector_types>([]<class X>() {
      spmv_choice choice;
      if constexpr (std::is_same_v<dot_result_t<V, X>, A>) {
        // Mixed pairs of complex types are rare, and one kernel with types known at run time serves
        // them all at little cost (tuning/spmv.md: is_rare).
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
