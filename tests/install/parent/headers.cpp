// What a project includes, with warnings of its own.
#include <tally/tally.hpp>
