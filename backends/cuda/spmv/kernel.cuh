// spmv on a GPU: each call is one launch. Where a plan found no long row, each row has a few
// threads; else each piece or tile of the matrix has a block (shape.hpp).
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

#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/pieces.cuh"
#include "backends/cuda/spmv/rows.cuh"
#include "backends/cuda/spmv/tiles.cuh"

#include <type_traits>

namespace tally::backends::cuda {

/// Makes the table that kernels.hpp declares.
template <class A>
const spmv_kernel_table& table_of_spmv_kernels() {
  static constexpr auto table = []<class... V>(type_list<V...>) {
    spmv_kernel_table all{};
    const auto with_value = [&]<class Value, class... X>(std::type_identity<Value>,
                                                         type_list<X...>) {
      const auto one = [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_same_v<dot_result_t<Value, T>, A>) {
          auto& choice =
              all[static_cast<std::size_t>(type_of<Value>)][static_cast<std::size_t>(type_of<T>)];
          choice.tiles = &spmv_tiles<A, Value, T>;
          choice.tile_bytes = term_planes<A, most_terms>::bytes;
          choice.pieces = &spmv_pieces<A, Value, T>;
          choice.piece_bytes = term_planes<A, piece_terms>::bytes;
          if constexpr (!is_complex_v<A> || std::is_same_v<Value, T>) {  // the others are too rare
            choice.rows[1] = &spmv_rows<A, Value, T, 2>;
            choice.rows[2] = &spmv_rows<A, Value, T, 4>;
            choice.rows[3] = &spmv_rows<A, Value, T, 8>;
          }
        }
      };
      (one(std::type_identity<X>{}), ...);
    };
    (with_value(std::type_identity<V>{}, spmv_vector_types{}), ...);
    return all;
  }(csr_value_types{});
  return table;
}

}  // namespace tally::backends::cuda
