#define BOOST_TEST_MODULE redlock
#include <boost/test/included/unit_test.hpp>
