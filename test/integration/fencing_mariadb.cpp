// The recipe for a table of MariaDB, docs/fencing.md.

#include <redlock/fencing.hpp>

#include "fencing/mariadb_stock.hpp"
#include "fencing/stale_token.hpp"
#include "integration/fencing_claims.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/client_runner.hpp"
#include "support/mariadb_server.hpp"
#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_fencing_mariadb,
    *boost::unit_test::precondition(redlock::test::needs("mariadbd"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using namespace redlock::test::fencing;
using recipes::mariadb_address;
using recipes::mariadb_stock;
using recipes::no_such_item;
using recipes::stale_token;
namespace asio = boost::asio;

namespace {

constexpr std::int64_t item = 7;

/// Where a transaction stands still until the test lets it go on.
struct gate
{
    bool reached = false;
    bool open = false;
};

asio::awaitable<void> sleep(std::chrono::microseconds time)
{
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait();
}

/// Adds one, after the gate has opened.
mariadb_stock::change add_one_behind(gate& door)
{
    return [&door](std::int64_t amount) -> asio::awaitable<std::int64_t> {
        door.reached = true;
        while (!door.open)
            co_await sleep(1ms);
        co_return amount + 1;
    };
}

/// A table with one row, and two holders with connections of their own.
struct fixture
{
    fixture()
    {
        a.emplace(context.get_executor(), mariadb_address{.socket = server.socket()});
        b.emplace(context.get_executor(), mariadb_address{.socket = server.socket()});
        complete(a->create());
        complete(a->add(item, 0));
    }

    ~fixture()
    {
        a.reset();
        b.reset();
        context.run_for(10s);  // Until they have disconnected.
    }

    template <class T>
    T complete(asio::awaitable<T> operation)
    {
        return run(context, asio::co_spawn(context, std::move(operation), asio::deferred));
    }

    /// Starts an operation. @return What it ends with, once it has ended.
    template <class T>
    std::future<T> start(asio::awaitable<T> operation)
    {
        return asio::co_spawn(context, std::move(operation), asio::use_future);
    }

    std::int64_t read(mariadb_stock& holder, fencing_token token)
    {
        return complete(holder.read(item, token));
    }

    void write(mariadb_stock& holder, fencing_token token, std::int64_t amount)
    {
        complete(holder.write(item, token, amount));
    }

    std::int64_t peek() { return complete(a->peek(item)); }

    [[nodiscard]] bool becomes_true(const bool& flag)
    {
        return run_until(context, [&flag] { return flag; });
    }

    template <class T>
    [[nodiscard]] bool ends(const std::future<T>& operation, std::chrono::milliseconds limit = 10s)
    {
        return run_until(
            context, [&] { return operation.wait_for(0s) == std::future_status::ready; }, limit
        );
    }

    mariadb_server server;
    asio::io_context context;
    std::optional<mariadb_stock> a;
    std::optional<mariadb_stock> b;
};

/// What two holders do who take turns, and do not always act in time.
struct race
{
    /// Adds one with a new token, again and again, until somebody was too late.
    asio::awaitable<void> add_ones(mariadb_stock& stock, unsigned seed)
    {
        std::minstd_rand random(seed);
        for (int turn = 0; turn < 200 || refused == 0; ++turn)
        {
            const auto token = fencing_token::from_value(++tokens);
            co_await sleep(std::chrono::microseconds(random() % 2000));
            try
            {
                co_await stock.update(item, token, add_one_as(token));
            }
            catch (const stale_token& refusal)
            {
                wrongly_refused += refusal.highest() < token;
                ++refused;
            }
        }
    }

    mariadb_stock::change add_one_as(fencing_token token)
    {
        return [this, token](std::int64_t amount) -> asio::awaitable<std::int64_t> {
            accepted.push_back(token);
            co_await sleep(1ms);  // The other holder comes meanwhile.
            co_return amount + 1;
        };
    }

    std::uint64_t tokens = 0;
    std::vector<fencing_token> accepted{};  ///< In the order in which they had the row.
    int refused = 0;
    int wrongly_refused = 0;
};

}  // namespace

REDLOCK_TEST_FENCING_CLAIMS(fixture)

BOOST_AUTO_TEST_CASE(a_row_that_is_not_there_is_no_success)
{
    fixture f;

    BOOST_CHECK_THROW(f.complete(f.a->read(8, first)), no_such_item);
    BOOST_CHECK_THROW(f.complete(f.a->write(8, first, 1)), no_such_item);
    BOOST_CHECK_THROW(f.complete(f.a->peek(8)), no_such_item);
}

BOOST_AUTO_TEST_CASE(a_lower_token_waits_for_the_transaction_of_a_higher_one_and_is_refused)
{
    fixture f;
    gate door;
    auto higher = f.start(f.a->update(item, second, add_one_behind(door)));
    BOOST_TEST_REQUIRE(f.becomes_true(door.reached));

    auto lower = f.start(f.b->read(item, first));
    BOOST_TEST(!f.ends(lower, 200ms));
    door.open = true;

    BOOST_TEST_REQUIRE(f.ends(higher));
    BOOST_TEST_REQUIRE(f.ends(lower));
    higher.get();
    BOOST_CHECK_THROW(lower.get(), stale_token);
    BOOST_TEST(f.peek() == 1);
}

BOOST_AUTO_TEST_CASE(a_higher_token_waits_for_the_transaction_of_a_lower_one_and_reads_its_result)
{
    fixture f;
    gate door;
    auto lower = f.start(f.a->update(item, first, add_one_behind(door)));
    BOOST_TEST_REQUIRE(f.becomes_true(door.reached));

    auto higher = f.start(f.b->read(item, second));
    BOOST_TEST(!f.ends(higher, 200ms));
    door.open = true;

    BOOST_TEST_REQUIRE(f.ends(lower));
    BOOST_TEST_REQUIRE(f.ends(higher));
    lower.get();
    BOOST_TEST(higher.get() == 1);
    BOOST_CHECK_THROW(f.write(*f.a, first, 5), stale_token);
}

BOOST_AUTO_TEST_CASE(a_transaction_that_fails_leaves_no_lock_and_no_token)
{
    fixture f;
    const auto fail = [](std::int64_t) -> asio::awaitable<std::int64_t> {
        throw std::logic_error("cannot");
        co_return 0;
    };

    BOOST_CHECK_THROW(f.complete(f.a->update(item, second, fail)), std::logic_error);

    f.write(*f.b, first, 10);
    BOOST_TEST(f.read(*f.a, first) == 10);
}

BOOST_AUTO_TEST_CASE(two_connections_that_race_lose_no_update_and_never_go_back)
{
    fixture f;
    race updates;

    auto one = f.start(updates.add_ones(*f.a, 1));
    auto other = f.start(updates.add_ones(*f.b, 2));
    BOOST_TEST_REQUIRE(f.ends(one, 60s));
    BOOST_TEST_REQUIRE(f.ends(other, 60s));
    one.get();
    other.get();

    BOOST_TEST(f.peek() == static_cast<std::int64_t>(updates.accepted.size()));
    BOOST_TEST(std::ranges::is_sorted(updates.accepted));
    BOOST_TEST(updates.refused > 0);
    BOOST_TEST(updates.wrongly_refused == 0);
}

BOOST_AUTO_TEST_SUITE_END()
