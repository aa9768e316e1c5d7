// Reductions of a whole array or along axes; the regular ones are rows of bindings/operations.
#pragma once

#include "call.hpp"
#include "operations/argument.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace python {

/// A reduction's result: as the sum of its elements, real if that is complex, or the root of such a
/// sum, of double precision for integers.
enum class result_kind { sum, real, root };

struct reduction {
  const char* name;
  tally_status (*function)(const tally_executor*, std::size_t, tally_type, const void*,
                           std::ptrdiff_t, tally_type, void*, const tally_call_options*);
  result_kind result;
};

nb::object reduce(const reduction& r, nb::handle x, nb::handle axis, nb::handle dtype,
                  nb::handle out, bool keepdims, bool exact, nb::handle backend);

/// A norm of vectors of one size, the second one weights, the third a mask.
struct weighted_norm {
  const char* name;
  tally_status (*function)(const tally_executor*, std::size_t, const vector*, tally_type, void*,
                           const tally_call_options*);
};

nb::object weighted(const weighted_norm& f, std::initializer_list<argument> vectors,
                    nb::handle dtype, nb::handle out, bool exact, nb::handle backend);

/// What tally.h writes for an element: a value and its index.
struct extremum_record {
  alignas(8) std::byte value[8];
  std::int64_t index;
};

/// The least and the greatest of integers. Pre: there is one.
std::pair<std::int64_t, std::int64_t> extrema_of(call& c, const vector& integers);

/// A part of one record, or of two.
enum class extremum_part { value, index, second_value };

struct extremum {
  const char* name;
  tally_status (*function)(const tally_executor*, std::size_t, tally_type, const void*,
                           std::ptrdiff_t, void*, const tally_call_options*);
  std::vector<extremum_part> parts;  ///< several are returned as a tuple
};

nb::object find(const extremum& e, nb::handle x, nb::handle axis, nb::handle out, bool keepdims,
                nb::handle backend);

}  // namespace python
