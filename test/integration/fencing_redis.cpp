// The recipe for a data store on Redis, docs/fencing.md.

#include <redlock/fencing.hpp>

#include "fenced_lua.hpp"
#include "fencing/redis_stock.hpp"
#include "fencing/stale_token.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/client_runner.hpp"
#include "support/needs.hpp"
#include "support/redis_server.hpp"

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using recipes::redis_stock;
using recipes::stale_token;
namespace asio = boost::asio;

namespace {

constexpr const char* key = "stock:7";
constexpr fencing_token none;
constexpr fencing_token first = fencing_token::from_value(1'790'000'000'000'000);
constexpr fencing_token second = fencing_token::from_value(1'790'000'000'000'001);

/// A store, and two holders with a connection each.
struct fixture
{
    ~fixture()
    {
        a.reset();
        b.reset();
        context.run_for(10s);  // Until they have disconnected.
    }

    std::int64_t read(redis_stock& holder, fencing_token token)
    {
        return run(context, asio::co_spawn(context, holder.read(token), asio::deferred));
    }

    void write(redis_stock& holder, fencing_token token, std::int64_t amount)
    {
        run(context, asio::co_spawn(context, holder.write(token, amount), asio::deferred));
    }

    /// Runs the script with a token as another client might send it.
    std::string access_with(const std::string& token)
    {
        return store.command({"EVAL", fenced_lua, "1", key, token, "666"});
    }

    std::string field(const char* name) { return store.command({"HGET", key, name}); }

    redis_server store;
    asio::io_context context;
    std::optional<redis_stock> a{std::in_place, context.get_executor(), store.port(), key};
    std::optional<redis_stock> b{std::in_place, context.get_executor(), store.port(), key};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(test_fencing_redis, *boost::unit_test::precondition(needs("redis-server")))

BOOST_AUTO_TEST_CASE(what_is_written_is_read_with_the_same_token_any_number_of_times)
{
    fixture f;

    BOOST_TEST(f.read(*f.a, first) == 0);
    for (const std::int64_t amount : {10, 20})
    {
        f.write(*f.a, first, amount);
        BOOST_TEST(f.read(*f.a, first) == amount);
        BOOST_TEST(f.read(*f.a, first) == amount);
    }
    BOOST_TEST(f.field("fence") == to_string(first));
}

BOOST_AUTO_TEST_CASE(a_stale_holders_write_is_refused_after_its_successors_first_read)
{
    fixture f;
    f.write(*f.a, first, 10);

    BOOST_TEST(f.read(*f.b, second) == 10);

    BOOST_CHECK_EXCEPTION(f.write(*f.a, first, 11), stale_token, [](const stale_token& refusal) {
        return refusal.highest() == second;
    });
    BOOST_CHECK_THROW(f.read(*f.a, first), stale_token);
    BOOST_TEST(f.read(*f.b, second) == 10);
}

// Why reads are checked too. The first holder reads and stalls, the second one takes over.
BOOST_AUTO_TEST_CASE(an_update_is_lost_where_only_writes_are_checked)
{
    fixture f;
    f.write(*f.a, fencing_token::from_value(1), 0);
    const std::int64_t seen_by_first = std::stoll(f.field("value"));
    const std::int64_t seen_by_second = std::stoll(f.field("value"));

    f.write(*f.a, first, seen_by_first + 1);  // Late, and accepted: nothing has told the store.
    f.write(*f.b, second, seen_by_second + 1);

    BOOST_TEST(f.field("value") == "1");  // Two were told that they had added one.
}

BOOST_AUTO_TEST_CASE(no_update_is_lost_where_the_first_access_is_checked)
{
    fixture f;
    const std::int64_t seen_by_first = f.read(*f.a, first);
    const std::int64_t seen_by_second = f.read(*f.b, second);

    BOOST_CHECK_THROW(f.write(*f.a, first, seen_by_first + 1), stale_token);
    f.write(*f.b, second, seen_by_second + 1);

    BOOST_TEST(f.field("value") == "1");  // One was told so.
}

BOOST_AUTO_TEST_CASE(an_empty_token_is_always_refused)
{
    fixture f;

    BOOST_CHECK_THROW(f.read(*f.a, none), stale_token);
    BOOST_CHECK_THROW(f.write(*f.a, none, 1), stale_token);
    BOOST_TEST(f.store.command({"EXISTS", key}) == "(integer) 0");

    f.write(*f.a, first, 10);
    BOOST_CHECK_THROW(f.read(*f.a, none), stale_token);
    BOOST_CHECK_THROW(f.write(*f.a, none, 1), stale_token);
    BOOST_TEST(f.read(*f.a, first) == 10);
}

BOOST_AUTO_TEST_CASE(what_is_no_token_is_refused_and_leaves_no_trace)
{
    fixture f;
    f.write(*f.a, first, 10);

    const std::vector<std::string> no_tokens{
        "",
        "0",
        "-1",
        "nan",
        "inf",
        "1e300",
        "0x7fffffffffffff",
        " 1790000000000002",
        "1790000000000002 ",
        "01790000000000002",
        "1790000000000002.5",
        "9007199254740992",
        "9007199254740993",
        "99999999999999999999",
    };

    for (const std::string& token : no_tokens)
    {
        BOOST_TEST_CONTEXT("token '" << token << "'")
        {
            BOOST_TEST(f.access_with(token) == "-FENCED " + to_string(first));
        }
    }
    BOOST_TEST(f.access_with("9007199254740991") == "OK");
    BOOST_TEST(f.field("fence") == "9007199254740991");
}

BOOST_AUTO_TEST_CASE(tokens_that_differ_by_one_are_told_apart_up_to_the_highest)
{
    fixture f;

    BOOST_TEST(f.access_with("9007199254740990") == "OK");
    BOOST_TEST(f.access_with("9007199254740989") == "-FENCED 9007199254740990");
    BOOST_TEST(f.access_with("9007199254740991") == "OK");
    BOOST_TEST(f.access_with("9007199254740990") == "-FENCED 9007199254740991");
}

BOOST_AUTO_TEST_SUITE_END()
