// All of Tally.
#pragma once

#include <tally/version.h>
#include <tally/csr_matrix.hpp>
#include <tally/dot.hpp>
#include <tally/error.hpp>
#include <tally/exact.hpp>
#include <tally/exact_sum.hpp>
#include <tally/exact_words.hpp>
#include <tally/executor.hpp>
#include <tally/extremum.hpp>
#include <tally/functions.hpp>
#include <tally/fused.hpp>
#include <tally/histogram.hpp>
#include <tally/interval_sum.hpp>
#include <tally/matrix_market.hpp>
#include <tally/multi_dot.hpp>
#include <tally/operand.hpp>
#include <tally/order.hpp>
#include <tally/reduce.hpp>
#include <tally/refusal.hpp>
#include <tally/result.hpp>
#include <tally/spmv.hpp>
#include <tally/transform.hpp>
#include <tally/transform_function.hpp>
#include <tally/transform_reduce.hpp>
#include <tally/types.hpp>
