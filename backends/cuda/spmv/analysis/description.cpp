#include "backends/common/order/row_order.hpp"
#include "backends/cuda/spmv/analysis/analysis.hpp"
#include "backends/cuda/spmv/analysis/plan.hpp"

#include <cstdint>
#include <string>

namespace tally::backends::cuda {

void describe(const csr_operand& a, const planned_products& products, const survey_words& found,
              cut_analysis& made) {
  const auto text = [](std::uint64_t value) { return std::to_string(value); };
  std::string& s = made.description;
  if (made.band >= 0) {
    s = "each row in " + text(row_order::lanes) +
        " threads, with x in shared memory, since columns are at most " +
        std::to_string(made.band) +
        " from the diagonal; in the place of columns differences of 16 bits, in " +
        text(made.kept_bytes) + " bytes";
  } else if (made.tile_terms > 0) {
    s = "each row in a thread, in tiles of " + text(row_tile) + ", since rows are short";
    if (made.columns == column_source::patterns) {
      s += "; in the place of columns the " + text(made.pattern_count) + " patterns of rows, in " +
           text(made.kept_bytes) + " bytes";
    } else if (made.columns == column_source::differences) {
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
        (products.has_places ? " blocks, which read values at places: "
                             : " blocks, since some rows are long: ") +
        text(found.of[survey::runs]) + " for runs of rows of at most " +
        text(row_order::short_row) + " terms, " + text(found.of[survey::shares]) + " for the " +
        text(found.of[survey::long_rows]) + " longer ones";
    if (made.split_rows > 0) {
      s += ", of which " + text(made.split_rows) + " in several";
    }
    s += ", in " + text(made.piece_bytes) + " bytes";
    if (made.hot.count > 0) {
      s += "; of " + std::string(name(made.hot_type)) + " in warps, with the elements of x of " +
           text(static_cast<std::uint64_t>(made.hot.count)) + " columns, which have " +
           text(made.hot_share) +
           " % of the terms, in shared memory, and codes of all columns, in " +
           text(made.kept_bytes) + " bytes";
    }
  }
  if (const expansion& cut = made.cut; cut.tiles > 0) {
    s += "; of " + std::string(name(made.cut_type)) +
         " in two steps, since columns are far apart: x comes in sections of " +
         text(static_cast<std::uint64_t>(cut.section)) +
         " elements to shared memory, and from there to a buffer, where tiles of " +
         text(static_cast<std::uint64_t>(cut.tile_rows)) +
         " rows find what they need; with places in sections and tiles, in " +
         text(made.kept_bytes) + " bytes, and a buffer of " +
         text(buffer_bytes(cut, made.cut_type)) + " bytes while a product runs";
    const std::int32_t parts = (cut.tiles - 1) / cut.tiles_at_a_time + 1;
    if (parts > 1) s += ", in " + std::to_string(parts) + " parts";
  }
  s += ": " + text(a.rows) + " rows of " + text(a.nonzeros() / a.rows) + " terms in the mean, " +
       text(made.longest) + " at most, " + text(found.of[survey::empty]) + " empty";
}

}  // namespace tally::backends::cuda
