#include <boost/redis/src.hpp>
