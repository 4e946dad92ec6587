#ifndef REDLOCK_TEST_SUPPORT_NEEDS_HPP
#define REDLOCK_TEST_SUPPORT_NEEDS_HPP

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

#include "support/needed.hpp"
#include "support/redis_server.hpp"

namespace redlock::test {

/** Skips a suite or a case, loudly, where a program is missing.

    For `boost::unit_test::precondition(needs("redis-server"))`.
*/
inline auto needs(std::string program)
{
    return [program = std::move(program)](boost::unit_test::test_unit_id id) {
        return needed(id, available(program), program);
    };
}

}  // namespace redlock::test

#endif
