// The HTTP service, examples/stock_service/README.md: real processes, a real database and real
// nodes.

#include <redlock/config.hpp>
#include <redlock/fencing.hpp>
#include <redlock/initialize.hpp>

#include "fencing/mariadb_stock.hpp"
#include "fencing/stale_token.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include "support/child_process.hpp"
#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/eventually.hpp"
#include "support/http_client.hpp"
#include "support/mariadb_server.hpp"
#include "support/needs.hpp"
#include "support/posix.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_stock_service,
    *boost::unit_test::precondition(redlock::test::needs("mariadbd")) *
        boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

constexpr std::int64_t item = 7;
constexpr fencing_token seed = fencing_token::from_value(1);
const std::string sell_one = http_text("POST", "/items/7/sell", R"({"quantity": 1})");

/// One instance of the service.
class instance
{
public:
    explicit instance(std::vector<std::string> arguments)
    {
        arguments.insert(arguments.begin(), "redlock_stock_service");
        process = child_process({REDLOCK_STOCK_SERVICE, std::move(arguments), {}, output()});
        if (!eventually([this] { return find_port() || process.has_ended(); }, 30s) || !find_port())
            throw std::runtime_error("the service does not start: " + read_file(output()));
        port = *find_port();
    }

    child_process process;
    std::uint16_t port = 0;

private:
    [[nodiscard]] std::filesystem::path output() const { return folder_.path() / "output"; }

    [[nodiscard]] std::optional<std::uint16_t> find_port() const
    {
        const std::string said = read_file(output());
        const std::string_view before = "listening on http://127.0.0.1:";
        const std::size_t at = said.find(before);
        if (at == said.npos || said.find('\n', at) == said.npos)
            return std::nullopt;
        return static_cast<std::uint16_t>(std::stoi(said.substr(at + before.size())));
    }

    temp_folder folder_;
};

/// Three nodes, a database, and an item in it.
struct shop
{
    explicit shop(std::int64_t amount)
    {
        client_config config = config_for(nodes);
        config.mode = mode::guarded;
        run(context, async_initialize_nodes(context, config));
        complete(stock->create());
        complete(stock->add(item, amount));
    }

    ~shop()
    {
        stock.reset();
        context.run_for(10s);  // Until it has disconnected.
    }

    [[nodiscard]] instance open(std::vector<std::string> arguments = {}) const
    {
        std::string urls;
        for (const std::string& url : nodes.urls())
            urls += (urls.empty() ? "" : ",") + url;
        arguments.push_back("--nodes=" + urls);
        arguments.push_back("--database-socket=" + database.socket());
        return instance(std::move(arguments));
    }

    template <class T>
    T complete(asio::awaitable<T> operation)
    {
        return run(context, asio::co_spawn(context, std::move(operation), asio::deferred), 60s);
    }

    http_reply send(const instance& to, const std::string& bytes)
    {
        return complete(exchange_http(to.port, bytes));
    }

    /// Sends a request. @return The reply, once the context has run until it is there.
    std::future<http_reply> start(const instance& to, const std::string& bytes)
    {
        return asio::co_spawn(context, exchange_http(to.port, bytes), asio::use_future);
    }

    http_reply finish(std::future<http_reply>& reply)
    {
        const auto is_there = [&reply] { return reply.wait_for(0s) == std::future_status::ready; };
        BOOST_TEST_REQUIRE(run_until(context, is_there, 30s));
        return reply.get();
    }

    /// Waits until a sale has read the row. It has left its token there then.
    void wait_for_a_reader()
    {
        const auto has_read = [this] {
            try
            {
                complete(stock->read(item, seed));
                return false;
            }
            catch (const recipes::stale_token&)
            {
                return true;
            }
        };
        BOOST_TEST_REQUIRE(run_until(context, has_read, 20s));
    }

    std::int64_t left() { return complete(stock->peek(item)); }

    redis_servers nodes{3};
    mariadb_server database;
    asio::io_context context;
    std::optional<recipes::mariadb_stock> stock{
        std::in_place,
        context.get_executor(),
        recipes::mariadb_address{.socket = database.socket()}
    };
};

/// Buys one after the other, until there is nothing left. @return How many.
asio::awaitable<int> buy_all(std::uint16_t port)
{
    for (int bought = 0;;)
    {
        const http_reply reply = co_await exchange_http(port, sell_one);
        if (contains(reply.body, "sold_out"))
            co_return bought;
        if (reply.status != 200 && !contains(reply.body, "not_locked"))
            throw std::runtime_error("unexpected: " + reply.body);
        bought += reply.status == 200;
    }
}

struct bad_request
{
    std::string bytes;
    unsigned status;
    std::string_view message;  ///< A part of it.
};

std::string sell(const std::string& body)
{
    return http_text("POST", "/items/7/sell", body);
}

std::vector<bad_request> bad_requests()
{
    const std::string one = R"({"quantity": 1})";
    const std::string head = "POST /items/7/sell HTTP/1.1\r\nHost: localhost\r\n";
    return {
        {sell(""), 400, "isn't JSON"},
        {sell("quantity=1"), 400, "isn't JSON"},
        {sell(one + one), 400, "isn't JSON"},
        {sell(std::string(4000, '[')), 400, "isn't JSON"},
        {sell("[1]"), 400, "isn't a JSON object"},
        {sell("{}"), 400, "no quantity"},
        {sell(R"({"quantity": 1, "price": 0})"), 400, "unknown member 'price'"},
        {sell(R"({"quantity": 0})"), 400, "from 1 to 1000, not '0'"},
        {sell(R"({"quantity": -1})"), 400, "not '-1'"},
        {sell(R"({"quantity": 1001})"), 400, "not '1001'"},
        {sell(R"({"quantity": 1.5})"), 400, "from 1 to 1000"},
        {sell(R"({"quantity": 18446744073709551615})"), 400, "not '18446744073709551615'"},
        {sell(R"({"quantity": "1"})"), 400, "from 1 to 1000"},
        {sell(R"({"quantity": null})"), 400, "not 'null'"},
        {http_text("POST", "/items/abc/sell", one), 400, "not 'abc'"},
        {http_text("POST", "/items/0/sell", one), 400, "not '0'"},
        {http_text("POST", "/items/-7/sell", one), 400, "not '-7'"},
        {http_text("POST", "/items/007/sell", one), 400, "not '007'"},
        {http_text("GET", "/items/1234567890123456789"), 400, "at most 18 digits"},
        {http_text("GET", "/items/7\xff"), 400, "not '7?'"},
        {http_text("POST", "/items/8/sell", one), 404, "no such item"},
        {http_text("GET", "/items/8"), 404, "no such item"},
        {http_text("GET", "/items/"), 404, "nothing at '/items/'"},
        {http_text("GET", "/"), 404, "nothing at '/'"},
        {http_text("GET", "/items/7/sell/x"), 404, "nothing at"},
        {http_text("GET", "/items/7/sell"), 405, "'GET' isn't allowed here, use POST"},
        {http_text("DELETE", "/items/7"), 405, "'DELETE' isn't allowed here, use GET"},
        {http_text("PURGE", "/healthz"), 405, "'PURGE' isn't allowed here, use GET"},
        {sell(std::string(5000, ' ')), 413, "body limit"},
        {head + "Transfer-Encoding: chunked\r\n\r\n2000\r\n" + std::string(8192, ' '), 413, "body"},
        {head + "X: " + std::string(9000, 'x') + "\r\n\r\n", 431, "header limit"},
        {head + "Content-Length: -1\r\n\r\n", 400, "Content-Length"},
        {"GET /healthz HTTP/9\r\n\r\n", 400, "version"},
        {"\x16\x03\x01\x02 hello\r\n\r\n", 400, "bad"},
    };
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_sale_deducts_what_was_asked_for_and_tells_what_is_left)
{
    shop s(10);
    const instance service = s.open();

    const http_reply sold = s.send(service, sell(R"({"quantity": 3})"));
    const http_reply too_many = s.send(service, sell(R"({"quantity": 8})"));

    BOOST_TEST(sold.status == 200u);
    BOOST_TEST(sold.body == "{\"left\":7}\n");
    BOOST_TEST(too_many.status == 409u);
    BOOST_TEST(too_many.body == "{\"error\":\"sold_out\",\"left\":7}\n");
    BOOST_TEST(s.send(service, http_text("GET", "/items/7")).body == "{\"left\":7}\n");
    BOOST_TEST(s.left() == 7);
}

BOOST_AUTO_TEST_CASE(bad_input_is_refused_with_the_reason_and_the_service_lives)
{
    shop s(10);
    const instance service = s.open();

    for (const bad_request& bad : bad_requests())
    {
        BOOST_TEST_CONTEXT(bad.bytes.substr(0, 80))
        {
            const http_reply reply = s.send(service, bad.bytes);

            BOOST_TEST(reply.status == bad.status);
            BOOST_TEST(contains(reply.body, bad.message), reply.body);
            BOOST_TEST(reply.allow.empty() == (bad.status != 405));
        }
    }

    BOOST_TEST(s.send(service, http_text("GET", "/healthz")).status == 200u);
    BOOST_TEST(s.left() == 10);
}

BOOST_AUTO_TEST_CASE(two_instances_at_once_sell_exactly_what_there_is)
{
    shop s(30);
    const instance a = s.open();
    const instance b = s.open();

    std::vector<std::future<int>> buyers;
    for (int buyer = 0; buyer < 6; ++buyer)
        for (const instance* from : {&a, &b})
            buyers.push_back(asio::co_spawn(s.context, buy_all(from->port), asio::use_future));
    int sold = 0;
    for (auto& buyer : buyers)
    {
        const auto ended = [&buyer] { return buyer.wait_for(0s) == std::future_status::ready; };
        BOOST_TEST_REQUIRE(run_until(s.context, ended, 60s));
        sold += buyer.get();
    }

    BOOST_TEST(sold == 30);
    BOOST_TEST(s.left() == 0);
}

// The same two requests at the same time, with the lock and without. Each computes for a second.
BOOST_AUTO_TEST_CASE(the_last_one_is_sold_once_with_the_lock_and_twice_without)
{
    for (const auto& [lock, expected] : {std::pair("on", 1), std::pair("off", 2)})
    {
        BOOST_TEST_CONTEXT("--lock " << lock)
        {
            shop s(1);
            const std::vector<std::string> how{std::string("--lock=") + lock, "--compute=1000"};
            const instance a = s.open(how);
            const instance b = s.open(how);

            auto one = s.start(a, sell_one);
            auto other = s.start(b, sell_one);
            const int sold = (s.finish(one).status == 200u) + (s.finish(other).status == 200u);

            BOOST_TEST(sold == expected);
            BOOST_TEST(s.left() == 0);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_sale_that_was_paused_past_its_ttl_is_refused_by_the_fence)
{
    shop s(10);
    instance late = s.open({"--lock-ttl=1000", "--compute=2000"});
    const instance next = s.open({"--lock-wait=20000"});
    auto reply = s.start(late, sell_one);
    s.wait_for_a_reader();

    late.process.pause();
    const http_reply sold = s.send(next, sell_one);
    late.process.resume();

    BOOST_TEST(sold.body == "{\"left\":9}\n");
    const http_reply refused = s.finish(reply);
    BOOST_TEST(refused.status == 409u);
    BOOST_TEST(contains(refused.body, "\"stale\""), refused.body);
    const http_reply health = s.send(late, http_text("GET", "/healthz"));
    BOOST_TEST(contains(health.body, "\"refused_stale\":1"), health.body);
    BOOST_TEST(s.left() == 9);
}

BOOST_AUTO_TEST_CASE(without_a_quorum_it_sells_nothing_and_says_what_each_node_said)
{
    shop s(10);
    const instance service = s.open({"--lock-wait=300"});
    BOOST_TEST_REQUIRE(s.send(service, sell_one).status == 200u);
    s.nodes[0].kill();
    s.nodes[1].kill();

    const http_reply reply = s.send(service, sell_one);

    BOOST_TEST(reply.status == 503u);
    BOOST_TEST(reply.retry_after == "1");
    BOOST_TEST(contains(reply.body, "too few nodes answered for a quorum"), reply.body);
    BOOST_TEST(contains(reply.body, "need 2 of 3: 127.0.0.1:"), reply.body);
    BOOST_TEST(s.send(service, http_text("GET", "/healthz")).status == 503u);
    BOOST_TEST(s.left() == 9);
}

BOOST_AUTO_TEST_CASE(a_database_that_hangs_costs_a_503_and_is_used_again_when_it_answers)
{
    shop s(10);
    const instance service = s.open({"--database-limit=500"});

    s.database.pause();
    const http_reply reply = s.send(service, sell_one);
    s.database.resume();

    BOOST_TEST(reply.status == 503u);
    BOOST_TEST(reply.retry_after == "1");
    BOOST_TEST(contains(reply.body, "\"unavailable\""), reply.body);
    const auto sells = [&] { return s.send(service, sell_one).status == 200u; };
    BOOST_TEST(run_until(s.context, sells, 30s));
}

BOOST_AUTO_TEST_CASE(a_deduction_without_an_answer_is_reported_as_unconfirmed)
{
    shop s(10);
    const instance service = s.open({"--database-limit=500", "--compute=2000"});
    auto reply = s.start(service, sell_one);
    s.wait_for_a_reader();
    s.context.run_for(300ms);  // Until the service has the answer to its reading.

    s.database.pause();
    const http_reply unknown = s.finish(reply);
    s.database.resume();

    BOOST_TEST(unknown.status == 500u);
    BOOST_TEST(contains(unknown.body, "\"unconfirmed\""), unknown.body);
}

BOOST_AUTO_TEST_CASE(an_instance_that_is_told_to_stop_answers_first_what_it_was_asked)
{
    shop s(10);
    instance service = s.open({"--compute=500"});
    auto reply = s.start(service, sell_one);
    s.wait_for_a_reader();

    ::kill(service.process.pid(), SIGTERM);

    BOOST_TEST(s.finish(reply).body == "{\"left\":9}\n");
    BOOST_TEST_REQUIRE(eventually([&] { return service.process.has_ended(); }, 10s));
    BOOST_TEST((service.process.exit_status() == 0));
}

BOOST_AUTO_TEST_SUITE_END()
