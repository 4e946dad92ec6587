// The recipe for a data store on Redis, docs/fencing.md.

#include <redlock/fencing.hpp>

#include "fenced_lua.hpp"
#include "fencing/redis_stock.hpp"
#include "integration/fencing_claims.hpp"

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

BOOST_AUTO_TEST_SUITE(
    test_fencing_redis,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using namespace redlock::test::fencing;
using recipes::redis_stock;
namespace asio = boost::asio;

namespace {

constexpr const char* key = "stock:7";

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

    std::int64_t peek()
    {
        const std::string value = field("value");
        return value == "(nil)" ? 0 : std::stoll(value);
    }

    redis_server store;
    asio::io_context context;
    std::optional<redis_stock> a{std::in_place, context.get_executor(), store.port(), key};
    std::optional<redis_stock> b{std::in_place, context.get_executor(), store.port(), key};
};

}  // namespace

REDLOCK_TEST_FENCING_CLAIMS(fixture)

BOOST_AUTO_TEST_CASE(the_highest_token_is_recorded_with_the_data)
{
    fixture f;
    BOOST_CHECK_THROW(f.read(*f.a, none), recipes::stale_token);
    BOOST_TEST(f.store.command({"EXISTS", key}) == "(integer) 0");

    f.write(*f.a, first, 10);
    BOOST_TEST(f.field("fence") == to_string(first));
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
