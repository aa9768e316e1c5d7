// Kernels for products of all types: a few threads per row, one block per piece or merge-path tile,
// and for matrices of four arrays one warp per four rows.
//
// Promise: y has the bits of the row order. Adjacent threads compute adjacent terms into shared
// memory, where rows are summed, short ones in 1, 2, 4 or 8 threads, which own equally spaced
// lanes, longer ones in a warp. Lanes start at +0 and never become -0, so adding an empty one
// changes nothing. With -fmad=false products are rounded.
//
// The block of a split row's last segment polls the carry-outs of the others (words.hpp). It cannot
// deadlock: blocks of lower numbers start earlier, and the lowest waits for none.
#pragma once

#include "backends/cuda/spmv/csr/any_rows.cuh"
#include "backends/cuda/spmv/csr/merge_path.cuh"
#include "backends/cuda/spmv/csr/pieces.cuh"
#include "backends/cuda/spmv/csr/row_threads.cuh"
#include "backends/cuda/spmv/kernels.hpp"

#include <type_traits>

namespace tally::backends::cuda {

template <class A>
const spmv_kernel_table& spmv_kernels() {
  static constexpr auto table = table_over<detail::matrix_value_types>([]<class V>() {
    return table_over<detail::spmv_vector_types>([]<class X>() {
      spmv_choice choice;
      if constexpr (std::is_same_v<dot_result_t<V, X>, A>) {
        // Mixed complex pairs are rare; one kernel with types known at run time serves all
        // (tuning/spmv.md).
        constexpr bool is_rare =
            is_complex_v<A> && !(std::is_same_v<X, A> && std::is_same_v<real_t<V>, real_t<A>>);
        using Values = std::conditional_t<is_rare, any_element,
                                          std::conditional_t<sizeof(V) == 2, any_half, V>>;
        using Elements = std::conditional_t<is_rare, any_element, X>;
        choice.tiles = &spmv_merge_tiles<A, Values, Elements>;
        choice.tile_bytes = term_planes<A, max_terms>::bytes;
        constexpr bool is_plain = !is_complex_v<A> && std::is_same_v<V, A>;
        choice.value_tiles =
            &spmv_merge_tiles<A, std::conditional_t<is_plain, A, any_element>,
                              std::conditional_t<is_plain, values_alone, any_element>>;
        choice.pieces = &spmv_pieces<A, Values, Elements>;
        choice.any_pieces = &spmv_pieces<A, any_element, any_element>;
        choice.piece_bytes = term_planes<A, piece_terms>::bytes;
        choice.any_rows = &spmv_any_rows<A>;
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

}  // namespace tally::backends::cuda
