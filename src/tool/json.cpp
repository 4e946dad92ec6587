// Compiles Boost.JSON.
#include <boost/json/src.hpp>
