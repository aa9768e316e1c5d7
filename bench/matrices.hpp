// Matrices for spmv: real ones where their files are, and generated ones.
#pragma once

#include "tests/matrices.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// Stands in row names instead of a size; "n" is an index into the list.
const std::string& matrix_name(std::size_t n);

/// Replaces the list by the patterns of Matrix Market files, named without folder and ending.
/// @throws std::exception if one can't be read, or two have one name; then nothing changes.
void take_matrices(const std::vector<std::string>& paths);

/// Whether take_matrices succeeded.
bool has_own_matrices();

/// Smallest first, or in the order of take_matrices; those without a file are left out.
std::vector<std::size_t> matrices_of(bool on_device, bool full);

/// The ladder's: rows of 4.2 nonzeros.
std::size_t matrix_of_ladder();

/// Takes seconds for large matrices.
matrices::pattern pattern_of(std::size_t n, std::uint64_t seed);

/// Puts the column indices into random order; returns the row of each.
std::vector<std::int32_t> shuffle_entries(matrices::pattern& p, std::uint64_t seed);

}  // namespace bench
