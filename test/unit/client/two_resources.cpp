// What docs/two-resources.md says of a lock that is taken under another one.

#include <redlock/with_lock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>

#include "support/fixture.hpp"
#include "support/spawned.hpp"

BOOST_AUTO_TEST_SUITE(test_two_resources)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

/// A transfer under the locks of two accounts. It works until it is told that it may end.
struct transfer_world : running_client
{
    lease told = acquire("told", {.ttl = 1h});  ///< The work waits for its loss.
    bool worked = false;

    std::shared_ptr<spawned> start(const acquire_options& second)
    {
        auto started = start_coroutine(*this, transfer(second));
        run_until_idle();
        return started;
    }

    asio::awaitable<void> transfer(acquire_options second)
    {
        const auto work = [this](lease&) -> asio::awaitable<void> {
            worked = true;
            co_await told.async_wait_lost(asio::deferred);
        };
        const auto inner = [this, &work, second](lease&) -> asio::awaitable<void> {
            co_await with_lock(locks(), "account:2", second, work);
        };
        co_await with_lock(locks(), "account:1", {.ttl = 3s}, inner);
    }

    /// Deletes a key, which the next extension notices.
    void lose(const std::string& resource)
    {
        each_node([&resource](fake_node& node) { node.store().lose(resource); });
        advance(1s);
    }

    /// Keys of the accounts on all nodes.
    [[nodiscard]] std::size_t locked() const { return keys_left() - node_count(); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(both_are_released_when_the_work_ends)
{
    transfer_world fixture;
    const auto user = fixture.start({.ttl = 3s});
    BOOST_TEST(fixture.worked);
    BOOST_TEST(fixture.locked() == 10u);
    fixture.advance(60s);
    BOOST_TEST(fixture.locked() == 10u);

    fixture.told = {};
    fixture.run_until_idle();

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error_code());
    BOOST_TEST(fixture.keys_left() == 0u);
}

BOOST_AUTO_TEST_CASE(the_first_is_released_when_the_second_cannot_be_had)
{
    transfer_world fixture;
    fixture.hold_elsewhere("account:2", 1h, 0, 5);
    const auto user = fixture.start({.ttl = 3s, .wait = 2s});
    BOOST_TEST(fixture.locked() == 5u);

    fixture.advance(3s);

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::contended);
    BOOST_TEST(!fixture.worked);
    BOOST_TEST(fixture.locked() == 0u);
}

BOOST_AUTO_TEST_CASE(the_first_is_extended_while_the_second_is_waited_for)
{
    transfer_world fixture;
    fixture.hold_elsewhere("account:2", 20s, 0, 5);
    const auto user = fixture.start({.ttl = 3s, .wait = forever});

    fixture.advance(19s);
    BOOST_TEST(fixture.locked() == 5u);
    fixture.advance(2s);

    BOOST_TEST(!user->done());
    BOOST_TEST(fixture.worked);
    BOOST_TEST(fixture.locked() == 10u);
}

BOOST_AUTO_TEST_CASE(a_loss_of_the_first_ends_the_wait_for_the_second)
{
    transfer_world fixture;
    fixture.hold_elsewhere("account:2", 1h, 0, 5);
    const auto user = fixture.start({.ttl = 3s, .wait = forever});

    fixture.lose("account:1");

    BOOST_TEST_REQUIRE(user->done());
    BOOST_TEST(user->code() == error::lease_lost);
    BOOST_TEST(!fixture.worked);
    BOOST_TEST(fixture.locked() == 0u);
}

BOOST_AUTO_TEST_CASE(a_loss_of_either_ends_the_work_and_releases_the_other)
{
    for (const char* lost : {"account:1", "account:2"})
    {
        BOOST_TEST_CONTEXT(lost)
        {
            transfer_world fixture;
            const auto user = fixture.start({.ttl = 3s});
            BOOST_TEST(fixture.worked);

            fixture.lose(lost);

            BOOST_TEST_REQUIRE(user->done());
            BOOST_TEST(user->code() == error::lease_lost);
            BOOST_TEST(fixture.locked() == 0u);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
