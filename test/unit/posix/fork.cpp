// Copies of a client and its leases in a child process, whose context nothing tells of the fork.

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <tuple>

#include <sys/wait.h>
#include <unistd.h>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_fork)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

/// Whether `what` is true in a child process.
bool in_child(const std::function<bool()>& what)
{
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(what() ? 0 : 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(in_a_child_process_every_operation_fails_and_nothing_is_sent)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");
    fixture.log().clear();

    const bool useless = in_child([&] {
        const auto acquired = fixture.complete(fixture.locks().async_try_acquire("another", 10s));
        const auto extended = fixture.complete(held.async_extend());
        return std::get<0>(acquired) == error::not_running &&
               std::get<0>(extended) == error::not_running && fixture.log().empty();
    });

    BOOST_TEST(useless);
    BOOST_TEST(std::get<0>(fixture.complete(held.async_extend())) == error_code());
}

BOOST_AUTO_TEST_CASE(the_end_of_a_copied_lease_releases_nothing)
{
    running_client fixture;
    lease held = fixture.acquire("orders:42");

    const bool silent = in_child([&] {
        held = lease();
        fixture.run_until_idle();
        return fixture.log(verb::release).empty();
    });

    BOOST_TEST(silent);
}

BOOST_AUTO_TEST_SUITE_END()
