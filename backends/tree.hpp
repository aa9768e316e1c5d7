// The order's tree, for the backends.
#pragma once

#include <tally/order_tree.hpp>

namespace tally::backends {

using order::tree;

}  // namespace tally::backends
