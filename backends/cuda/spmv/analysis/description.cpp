#include "backends/common/order/row_order.hpp"
#include "backends/cuda/spmv/analysis/analysis_job.hpp"
#include "backends/cuda/spmv/analysis/plan.hpp"

#include <cstdint>
#include <string>

namespace tally::backends::cuda {

void describe(const csr_operand& a, const planned_products& products, const analysis_results& found,
              cuda_plan& made) {
  const auto text = [](std::uint64_t value) { return std::to_string(value); };
  std::string& s = made.description;
  if (made.band >= 0) {
    s = "each row in " + text(row_order::lanes) +
        " threads, with x in shared memory, since columns are at most " +
        std::to_string(made.band) +
        " from the diagonal; in the place of columns differences of 16 bits, in " +
        text(made.kept_bytes) + " bytes";
  } else if (made.tile_terms > 0) {
    s = "each row in a thread, in tiles of " + text(rows_per_row_tile) + ", since rows are short";
    if (made.columns == column_form::patterns) {
      s += "; in the place of columns the " + text(made.stencil_count) + " patterns of rows, in " +
           text(made.kept_bytes) + " bytes";
    } else if (made.columns == column_form::differences) {
      s += "; in the place of columns differences of 16 bits, in " + text(made.kept_bytes) +
           " bytes";
      if (const reach& near = made.near_rows; near.is_known()) {
        s += ", and x in shared memory, since they are from " + std::to_string(near.least) +
             " to " + std::to_string(near.most);
      }
    }
  } else if (made.threads_per_row > 0) {
    s = "each row in " + text(made.threads_per_row) + " threads, since rows are short";
  } else {
    s = text(made.blocks) +
        (products.is_permuted ? " blocks, which read values at places: "
                              : " blocks, since some rows are long: ") +
        text(found.of[result_words::runs]) + " for runs of rows of at most " +
        text(row_order::short_row) + " terms, " + text(found.of[result_words::shares]) +
        " for the " + text(found.of[result_words::long_rows]) + " longer ones";
    if (made.split_rows > 0) {
      s += ", of which " + text(made.split_rows) + " in several";
    }
    s += ", in " + text(made.piece_bytes) + " bytes";
    if (made.hub.count > 0) {
      s += "; of " + std::string(name(made.hub_type)) + " in warps, with the elements of x of " +
           text(static_cast<std::uint64_t>(made.hub.count)) + " columns, which have " +
           text(made.hub_percent) +
           " % of the terms, in shared memory, and codes of all columns, in " +
           text(made.kept_bytes) + " bytes";
    }
  }
  if (const propagation_blocking& cut = made.cut; cut.tiles > 0) {
    s += "; of " + std::string(name(made.blocking_type)) +
         " in two steps, since columns are far apart: x comes in sections of " +
         text(static_cast<std::uint64_t>(cut.section)) +
         " elements to shared memory, and from there to a buffer, where tiles of " +
         text(static_cast<std::uint64_t>(cut.tile_rows)) +
         " rows find what they need; with places in sections and tiles, in " +
         text(made.kept_bytes) + " bytes, and a buffer of " +
         text(buffer_bytes(cut, made.blocking_type)) + " bytes while a product runs";
    const std::int32_t parts = (cut.tiles - 1) / cut.tiles_per_part + 1;
    if (parts > 1) s += ", in " + std::to_string(parts) + " parts";
  }
  s += ": " + text(a.rows) + " rows of " + text(a.nonzeros() / a.rows) + " terms in the mean, " +
       text(made.longest) + " at most, " + text(found.of[result_words::empty]) + " empty";
}

}  // namespace tally::backends::cuda
