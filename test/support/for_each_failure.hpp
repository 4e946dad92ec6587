#ifndef REDLOCK_TEST_SUPPORT_FOR_EACH_FAILURE_HPP
#define REDLOCK_TEST_SUPPORT_FOR_EACH_FAILURE_HPP

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <memory>

#include "testing/fake_node.hpp"

namespace redlock::test {

using namespace redlock::testing;

/** Replays a scenario while the first, the second, ... operation of a node fails like `failure`.

    Ends with the replay in which the scenario is over before its operation is reached.

    @param scenario Takes a `std::shared_ptr<fail_nth>` and gives it to its fixture.
*/
template <class Scenario>
void for_each_failure(const rule& failure, Scenario scenario)
{
    for (std::size_t n = 1;; ++n)
    {
        BOOST_TEST_CONTEXT("operation " << n << " fails")
        {
            const auto fuse = std::make_shared<fail_nth>(n, failure);
            scenario(fuse);
            if (!fuse->reached())
                return;
        }
        BOOST_TEST_REQUIRE(n < 1000u);
    }
}

}  // namespace redlock::test

#endif
