#ifndef REDLOCK_TEST_SUPPORT_PRINTING_HPP
#define REDLOCK_TEST_SUPPORT_PRINTING_HPP

#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/error.hpp>
#include <redlock/lease.hpp>
#include <redlock/vote.hpp>

#include "node/verbs.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <ostream>

/// How Boost.Test prints the values of the library.
namespace redlock {

namespace detail {

inline std::ostream& boost_test_print_type(std::ostream& out, verb value)
{
    return out << rules_of(value).name;
}

}  // namespace detail

}  // namespace redlock

/// Standard libraries older than GCC 13's cannot print a duration.
namespace boost::test_tools::tt_detail {

template <class Rep, class Period>
struct print_log_value<std::chrono::duration<Rep, Period>>
{
    void operator()(std::ostream& out, const std::chrono::duration<Rep, Period>& value) const
    {
        out << std::chrono::duration<double, std::milli>(value).count() << "ms";
    }
};

template <class Clock, class Duration>
struct print_log_value<std::chrono::time_point<Clock, Duration>>
{
    void operator()(std::ostream& out, const std::chrono::time_point<Clock, Duration>& value) const
    {
        print_log_value<Duration>()(out, value.time_since_epoch());
    }
};

}  // namespace boost::test_tools::tt_detail

#endif
