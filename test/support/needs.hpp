#ifndef REDLOCK_TEST_SUPPORT_NEEDS_HPP
#define REDLOCK_TEST_SUPPORT_NEEDS_HPP

#include <boost/test/unit_test.hpp>

#include <iostream>
#include <string>
#include <utility>

#include "support/redis_server.hpp"

namespace redlock::test {

/** Skips a suite or a case, loudly, where a program is missing.

    For `boost::unit_test::precondition(needs("redis-server"))`.
*/
inline auto needs(std::string program)
{
    return [program = std::move(program)](boost::unit_test::test_unit_id id) {
        boost::test_tools::assertion_result result(available(program));
        if (!result)
        {
            const auto& unit = boost::unit_test::framework::get(id, boost::unit_test::TUT_ANY);
            std::cerr << "SKIPPED: " << unit.full_name() << " needs " << program << '\n';
            result.message() << program << " is missing";
        }
        return result;
    };
}

}  // namespace redlock::test

#endif
