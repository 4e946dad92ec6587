// Boost.JSON, which is compiled here.
#include <boost/json/src.hpp>
