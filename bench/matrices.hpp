// The matrices of the spmv lanes: real ones where their files are, and generated ones.
#pragma once

#include "tests/matrices.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// What stands in a row's name where other lanes have a size; "n" of these lanes is a matrix's
/// place in a list.
const std::string& matrix_name(std::size_t n);

/// Puts the matrices in Matrix Market files in the place of the lanes' own ones, by the files'
/// names without folder and ending. Of a file only the pattern is taken.
/// @throws std::exception if one can't be read, or two have one name; then nothing changes.
void take_matrices(const std::vector<std::string>& paths);

/// Whether it has done so.
bool has_own_matrices();

/// Those of a lane, the smallest first, or in the order in which they were taken; without those
/// whose files are not here.
std::vector<std::size_t> matrices_of(bool on_device, bool full);

/// Rows of 4.2 nonzeros: the ladder's.
std::size_t matrix_of_ladder();

/// Takes some seconds for the large ones. Of a file only the pattern is taken.
matrices::pattern pattern_of(std::size_t n, std::uint64_t seed);

}  // namespace bench
