// Every public operation as a value: inputs, outputs before the call, and the call. Properties of
// all (environment, failing allocations, overlap, small stacks) are tests over this list, which new
// operations join.
#pragma once

#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace operations {

/// Values of floating-point inputs; `saturated` and those from `one_value` on apply to integers,
/// keys and samples too.
enum class values {
  plain,       ///< in [-1, 1)
  tiny,        ///< half of them subnormal, the products of the others too
  subnormal,   ///< all of them
  huge,        ///< products overflow, and infinities of both signs meet
  wide,        ///< exponents over most of the type's range
  mixed,       ///< every other one subnormal, the rest plain
  nan,         ///< plain, one of 64 a NaN
  nans,        ///< NaN alone
  infinite,    ///< plain, one of 64 an infinity of either sign
  infinities,  ///< infinities of either sign alone
  zero,        ///< zeros of either sign
  saturated,   ///< far from zero, where exp and sigmoid are constant; samples outside all bins
  one_value,   ///< all equal
  ascending,
  descending,
};

inline const char* name(values v) {
  constexpr const char* names[] = {"plain", "tiny",      "subnormal", "huge",      "wide",
                                   "mixed", "nan",       "nans",      "infinite",  "infinities",
                                   "zero",  "saturated", "one_value", "ascending", "descending"};
  return names[static_cast<int>(v)];
}

/// Rows of matrices, and bins of histograms.
enum class structure {
  mixed,         ///< rows of 0 to 8 terms, some of 300 and one of more than a chunk; 37 bins
  even,          ///< rows of 32 terms
  short_rows,    ///< rows of one term
  empty_rows,    ///< 63 of 64 rows empty, the others with 8 terms
  one_long_row,  ///< all terms in one row
  many_bins,     ///< rows of 32 terms; as many bins as elements, one sample for 64
};

/// Bytes of true elements of bool.
enum class truth {
  one,       ///< 1
  any_byte,  ///< any but 0
};

/// Factors or bounds, passed by value in a type known to the call.
class factors {
 public:
  factors() = default;
  template <class T>
  factors(const T& a, const T& b) {
    std::memcpy(bytes_[0].data(), &a, sizeof(T));
    std::memcpy(bytes_[1].data(), &b, sizeof(T));
  }
  template <class T>
  T get(std::size_t k) const {
    T value;
    std::memcpy(&value, bytes_[k].data(), sizeof(T));
    return value;
  }

 private:
  std::array<std::array<std::byte, 16>, 2> bytes_{};
};

/// Operands of one call; `returned` receives a returned value.
struct arguments {
  std::vector<std::span<std::byte>> inputs;
  std::vector<std::span<std::byte>> outputs;
  factors constants;
  std::array<std::byte, 64> returned{};

  template <class T>
  std::span<const T> in(std::size_t k) const {
    return {reinterpret_cast<const T*>(inputs.at(k).data()), inputs[k].size() / sizeof(T)};
  }
  template <class T>
  std::span<T> out(std::size_t k = 0) const {
    return {reinterpret_cast<T*>(outputs.at(k).data()), outputs[k].size() / sizeof(T)};
  }
  template <class T>
  T* result(std::size_t k = 0) const {
    return out<T>(k).data();
  }
  template <class T>
  void keep(const T& value) {
    static_assert(sizeof(T) <= sizeof(returned));
    std::memcpy(returned.data(), &value, sizeof(T));
  }
};

/// An input vector.
struct input {
  std::vector<std::byte> bytes;
  bool in_host_memory = false;  ///< on every executor: a histogram's edges
};

using function = void(const tally::executor&, arguments&);

/// One call of one public function, for one combination of types.
struct operation {
  std::string name;
  std::vector<input> inputs;
  std::vector<std::vector<std::byte>> outputs;  ///< contents before the call
  function* call;
  factors constants = {};
  /// Calls functions compiled here, which don't run on a device.
  bool has_host_functions = false;

  friend void PrintTo(const operation& o, std::ostream* out) { *out << o.name; }
};

// --- The operands of a call -----------------------------------------------------------------------

/// Operands in an executor's memory. `run` itself allocates nothing.
class prepared {
 public:
  prepared(const operation& what, const tally::executor& where) : what_(what), where_(where) {
    arguments_.constants = what.constants;
    for (const input& each : what.inputs) {
      if (each.in_host_memory) {
        host_.push_back(std::make_unique<std::vector<std::byte>>(each.bytes));
        arguments_.inputs.push_back(*host_.back());
      } else {
        arguments_.inputs.push_back(place(each.bytes));
      }
    }
    for (const auto& each : what.outputs) {
      arguments_.outputs.push_back(place(each));
      outputs_.push_back(memory_.back().get());
    }
  }

  void reset() {
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      outputs_[k]->write(what_.outputs[k].data(), what_.outputs[k].size());
    }
    arguments_.returned.fill(std::byte{});
  }

  void run() { what_.call(where_, arguments_); }

  /// All outputs and the returned value. Waits for a device.
  std::vector<std::byte> results() const {
    std::vector<std::byte> all(arguments_.returned.begin(), arguments_.returned.end());
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      std::vector<std::byte> bytes(what_.outputs[k].size());
      outputs_[k]->read(bytes.data(), bytes.size());
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  }

  const arguments& operands() const { return arguments_; }
  const data::buffer& output(std::size_t k) const { return *outputs_.at(k); }

 private:
  std::span<std::byte> place(const std::vector<std::byte>& bytes) {
    memory_.push_back(
        std::make_unique<data::buffer>(where_, std::max<std::size_t>(bytes.size(), 1)));
    memory_.back()->write(bytes.data(), bytes.size());
    return {memory_.back()->get(), bytes.size()};
  }

  const operation& what_;
  tally::executor where_;
  std::vector<std::unique_ptr<data::buffer>> memory_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> host_;
  std::vector<data::buffer*> outputs_;
  arguments arguments_;
};

inline bool runs(const operation& what, const tally::executor& where) {
  return !(what.has_host_functions && data::on_device(where));
}

// --- The list -------------------------------------------------------------------------------------

/// The operations on n elements; their calls are compiled once, in operations_list.cpp.
class list {
 public:
  explicit list(std::size_t n, values v = values::plain, truth t = truth::one,
                structure s = structure::mixed);
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  std::size_t size() const { return all_.size(); }

 private:
  std::vector<operation> all_;
};

/// Operations on n elements that an executor supports.
class prepared_list {
 public:
  prepared_list(std::size_t n, const tally::executor& where) : list_(n) {
    for (const operation& each : list_) {
      if (!runs(each, where)) continue;
      names_.push_back(each.name);
      ready_.push_back(std::make_unique<prepared>(each, where));
      ready_.back()->reset();
    }
  }
  std::size_t size() const { return ready_.size(); }
  prepared& operator[](std::size_t i) const { return *ready_[i]; }
  const std::string& name(std::size_t i) const { return names_[i]; }

 private:
  list list_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<prepared>> ready_;
};

}  // namespace operations
