// Public histograms.
#include <tally/buffer.hpp>
#include <tally/error.hpp>
#include <tally/numerics/exact_words.hpp>
#include <tally/operations/histogram.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/histogram/weights.hpp"
#include "backends/common/types/tables.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"

#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

namespace tally {
namespace {

/// Function names in the order of `binning`.
constexpr std::array<std::string_view, 3> functions = {"tally::bincount", "tally::histogram_even",
                                                       "tally::histogram_range"};

check check_of(binning what) { return check{functions[static_cast<std::size_t>(what)]}; }

constexpr std::size_t max_channels = 65536;
constexpr std::size_t max_of_32_bits = (std::size_t{1} << 31) - 1;

using backends::max_counts;
using backends::max_weights;
using detail::count_types;
using detail::weight_types;

operand of_outside(const histogram_arguments& a) {
  return {a.options.outside, 3 * a.options.channels, 1, type::int64};
}

operand written_by(const histogram_arguments& a) {
  if (!a.words) return a.counts;
  return {a.counts.data, a.counts.size * exact_words(a.counts.element), 1, type::int64};
}

const char* name_of_x(const histogram_arguments& a) {
  return a.what == binning::keys ? "keys" : "samples";
}
const char* name_of_counts(const histogram_arguments& a) { return a.weighted ? "sums" : "counts"; }

// --- Checks --------------------------------------------------------------------------------------

void check_types(const check& check, const histogram_arguments& a) {
  const auto only = [&](const char* name, type element, bool is_allowed, const char* allowed) {
    check.known_type(name, element);
    if (!is_allowed) {
      check.fail(errc::unsupported_type, name, " is ", tally::name(element), "; there are ",
                 allowed);
    }
  };
  if (a.what == binning::keys) {
    only("keys", a.x.element, is_integer(a.x.element), "integers and bool");
  } else {
    only("samples", a.x.element, is_real(a.x.element), "real numbers");
  }
  if (a.unsigned_keys) {
    only("unsigned keys", a.x.element, is_in<count_types>(a.x.element), "int32 and int64");
  }
  if (a.unsigned_edges) {
    only("unsigned edges", a.edges.element, is_in<count_types>(a.edges.element), "int32 and int64");
  }
  if (a.weighted) {
    only("weights", a.weights.element, is_in<weight_types>(a.weights.element),
         "float32 and float64");
    only("sums", a.counts.element, is_in<weight_types>(a.counts.element), "float32 and float64");
    if (a.words && a.counts.element == type::float32 && a.weights.element == type::float64) {
      check.fail(errc::unsupported_type,
                 "weights is float64, and the words are those of sums of float32");
    }
  } else {
    only("counts", a.counts.element, is_in<count_types>(a.counts.element), "int32 and int64");
  }
  if (a.what == binning::even) {
    only("lower", a.lower.element, is_real(a.lower.element), "real numbers");
    only("upper", a.upper.element, is_real(a.upper.element), "real numbers");
  } else if (a.what == binning::edges) {
    only("edges", a.edges.element, is_real(a.edges.element), "real numbers");
  }
}

void check_sizes(const check& check, const histogram_arguments& a) {
  const char *const x = name_of_x(a), *const counts = name_of_counts(a);
  const std::size_t channels = a.options.channels;
  if (channels == 0 || channels > max_channels) {
    check.fail(errc::invalid_argument, "channels is ", channels, "; there can be 1 to ",
               max_channels);
  }
  check.vector(x, a.x);
  if (a.weighted) {
    check.same_size(x, a.x, "weights", a.weights);
    check.vector("weights", a.weights);
  }
  if (a.words && !a.weighted) {
    check.fail(errc::invalid_argument, "words are those of sums of weights");
  }
  check.vector(counts, written_by(a));
  if (a.counts.increment != 1) {
    check.fail(errc::invalid_argument, counts, " has increment ",
               static_cast<std::int64_t>(a.counts.increment), " and should have 1");
  }
  if (a.counts.size == 0 || a.counts.size > max_counts) {
    check.fail(errc::invalid_argument, counts, " has ", a.counts.size,
               " elements; there can be 1 to ", max_counts);
  }
  if (a.x.size % channels != 0 || a.counts.size % channels != 0) {
    const bool of_x = a.x.size % channels != 0;
    check.fail(errc::size_mismatch, of_x ? x : counts, " has ", of_x ? a.x.size : a.counts.size,
               " elements, which is no multiple of ", channels, " channels");
  }
  if (!a.weighted && a.counts.element == type::int32 && a.x.size > max_of_32_bits) {
    check.fail(errc::invalid_argument, x, " has ", a.x.size, " elements; counts of 32 bits hold ",
               max_of_32_bits);
  }
  if (a.weighted && a.x.size > max_weights) {
    check.fail(errc::invalid_argument, x, " has ", a.x.size,
               " elements; with weights there can be ", max_weights);
  }
}

void check_bounds(const check& check, const histogram_arguments& a) {
  if (is_integer(a.lower.element) && is_integer(a.upper.element)) {
    if (a.lower.integer < a.upper.integer) return;
    check.fail(errc::invalid_argument, "lower is ", a.lower.integer, ", upper is ", a.upper.integer,
               "; lower must be less");
  }
  const auto lower = a.lower.as<double>(), upper = a.upper.as<double>();
  if (!std::isfinite(lower) || !std::isfinite(upper)) {
    check.fail(errc::invalid_argument, "lower is ", lower, ", upper is ", upper,
               "; both must be finite");
  }
  if (!(lower < upper)) {
    check.fail(errc::invalid_argument, "lower is ", lower, ", upper is ", upper,
               "; lower must be less");
  }
}

void check_edges(const check& check, const histogram_arguments& a) {
  const operand& e = a.edges;
  check.vector("edges", e);
  const std::size_t bins = a.counts.size / a.options.channels;
  if (e.size != bins + 1) {
    check.fail(errc::size_mismatch, "edges has ", e.size, " elements; ", bins,
               bins == 1 ? " bin needs " : " bins need ", bins + 1);
  }
  check.read_on_host("edges", e);
  backends::with_type<real_types>(e.element, [&]<class E>() {
    using number = std::conditional_t<std::is_integral_v<E>, std::int64_t, double>;
    const auto at = [&](std::size_t i) {
      const auto edge = static_cast<const detail::stored_t<E>*>(
          e.data)[static_cast<std::ptrdiff_t>(i) * e.increment];
      if constexpr (std::is_same_v<E, std::int32_t>) {
        if (a.unsigned_edges) return number{static_cast<std::uint32_t>(edge)};
      }
      return static_cast<number>(edge);
    };
    for (std::size_t i = 0; i < e.size; ++i) {
      if constexpr (std::is_same_v<E, std::int64_t>) {
        if (a.unsigned_edges && at(i) < 0) {
          check.fail(errc::invalid_argument, "edge ", i, " is ", static_cast<std::size_t>(at(i)),
                     "; unsigned edges must be less than 2^63");
        }
      }
      if (at(i) != at(i)) check.fail(errc::invalid_argument, "edge ", i, " is NaN");
      if (i > 0 && at(i) < at(i - 1)) {
        check.fail(errc::invalid_argument, "edges must not decrease: edge ", i - 1, " is ",
                   at(i - 1), ", edge ", i, " is ", at(i));
      }
    }
  });
}

void check_arguments(const histogram_arguments& a) {
  check{"tally::histogram"}.enumerator("what", a.what, binning::edges, "kinds of bins");
  const check check = check_of(a.what);
  check_types(check, a);
  check_sizes(check, a);
  if (a.what == binning::even) check_bounds(check, a);
  if (a.what == binning::edges) check_edges(check, a);
  const auto apart_from_inputs = [&](const char* name, const operand& written) {
    check_apart(check, name_of_x(a), a.x, name, written);
    if (a.weighted) check_apart(check, "weights", a.weights, name, written);
    if (a.what == binning::edges) check_apart(check, "edges", a.edges, name, written);
  };
  apart_from_inputs(name_of_counts(a), written_by(a));
  if (a.options.outside == nullptr) return;
  const operand outside = of_outside(a);
  check.pointer("outside", outside.data, type::int64, a.options.channels);
  check_apart(check, name_of_counts(a), written_by(a), "outside", outside);
  apart_from_inputs("outside", outside);
}

// --- To the backend ------------------------------------------------------------------------------

/// Pre: valid arguments, memory unchecked.
void run(const executor& where, const histogram_arguments& a) {
  const check check = check_of(a.what);
  if (check::is_needed(where)) {
    check.reach(where, name_of_x(a), a.x);
    if (a.weighted) check.reach(where, "weights", a.weights);
    check.reach(where, name_of_counts(a), written_by(a));
    if (a.options.outside != nullptr) check.reach(where, "outside", a.options.outside);
  }
  const backends::out_of_range_key stray = backends::histogram(where, a);
  if (stray.index < 0) return;
  const std::size_t bins = a.counts.size / a.options.channels;
  const auto fail = [&](auto key) {
    check.fail(errc::key_out_of_range, "key ", stray.index, " is ", key,
               bins == 1 ? "; there is " : "; there are ", bins, bins == 1 ? " bin" : " bins");
  };
  if (!a.unsigned_keys) fail(stray.key);
  const auto bits = static_cast<std::size_t>(stray.key);
  fail(a.x.element == type::int32 ? static_cast<std::uint32_t>(bits) : bits);
}

void run_anywhere(const executor& where, const histogram_arguments& a) {
  if (where.backend() != nullptr) return run(where, a);
  const operand written = written_by(a);
  if (const executor* on_host = choose_on_host(a.x, written)) return run(*on_host, a);
  run(choose(a.x, written), a);
}

/// Returns unsigned 32-bit edges as signed. (64-bit ones are below 2^63.)
std::vector<std::int64_t> widened(const operand& edges) {
  const auto* const data = static_cast<const std::uint32_t*>(edges.data);
  std::vector<std::int64_t> all(edges.size);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = data[static_cast<std::ptrdiff_t>(i) * edges.increment];
  }
  return all;
}

}  // namespace

void histogram(const executor& where, const histogram_arguments& a) {
  const backends::default_environment environment;
  check_arguments(a);
  if (a.what != binning::edges || !a.unsigned_edges || a.edges.element != type::int32) {
    return run_anywhere(where, a);
  }
  const std::vector<std::int64_t> edges = widened(a.edges);
  histogram_arguments with_signed = a;
  with_signed.edges = as_operand(edges);
  run_anywhere(where, with_signed);
}

void histogram_to_host(const executor& anywhere, const histogram_arguments& a) {
  const backends::default_environment environment;
  check_arguments(a);
  const operand words = written_by(a);
  check_of(a.what).read_on_host(name_of_counts(a), words);
  const executor where = anywhere.backend() != nullptr ? anywhere : choose(a.x);
  if (where.backend()->reaches(where, {})) return histogram(where, a);
  const buffer kernels(where, words.size * size_of(words.element));
  copy_bytes(where, words.data, kernels.get(), kernels.bytes());
  histogram_arguments there = a;
  there.counts.data = kernels.get();
  histogram(where, there);
  copy_bytes(where, kernels.get(), a.counts.data, kernels.bytes());
}

}  // namespace tally
