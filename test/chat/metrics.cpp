// What /metrics tells of the times of a room, examples/chat_room/README.md.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <utility>

#include "chat/fixture.hpp"
#include "support/client_runner.hpp"
#include "support/http_client.hpp"
#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_metrics,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

BOOST_AUTO_TEST_CASE(a_take_over_an_acquisition_and_a_delivery_are_measured)
{
    chat_fixture f({.servers = 2, .ttl = 2s});
    auto& ada = f.add("Ada", 0);
    auto& bob = f.add("Bob", 1);
    auto& first = f.coordinator_of(ada);
    const bool ada_stays = &first == &f.on[1];
    auto& stays = ada_stays ? ada : bob;
    const auto& next = f.on[ada_stays ? 0 : 1];
    const auto count_of = [&](const std::string& name) {
        auto asked = exchange_http(next.port(), http_text("GET", "/metrics"));
        const std::string text =
            run(f.context, asio::co_spawn(f.context, std::move(asked), asio::deferred)).body;
        const std::string line = "\n" + name + "_count ";
        const auto found = text.find(line);
        return found == std::string::npos ? -1 : std::stoi(text.substr(found + line.size()));
    };
    BOOST_TEST(count_of("chat_take_over_seconds") == 0);
    BOOST_TEST(count_of("chat_acquisition_seconds") == 0);

    stays.say("hello");
    BOOST_TEST(f.all_heard());
    const std::size_t before = stays.coordinators().size();
    first.kill();
    BOOST_TEST(f.takeover(stays, before).has_value());

    BOOST_TEST(count_of("chat_take_over_seconds") >= 1);  // On a busy machine there may be more.
    BOOST_TEST(count_of("chat_acquisition_seconds") >= 1);
    BOOST_TEST(count_of("chat_delivery_seconds") == 1);
}

BOOST_AUTO_TEST_SUITE_END()
