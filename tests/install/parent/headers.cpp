// Headers in a project with warnings of its own.
#include <tally/tally.hpp>
