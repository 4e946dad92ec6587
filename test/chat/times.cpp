// What members are told of time: silence, nobody in charge, nobody there, and messages that wait.

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "chat/fixture.hpp"
#include "chat/visitor.hpp"
#include "support/eventually.hpp"
#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_times,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

constexpr std::chrono::milliseconds ttl = 2s;

/// Coordinators say so more often than that.
constexpr std::int64_t longest_pulse = 900;

/// Two visitors on two servers, in a room with a coordinator.
struct two_visitors
{
    two_visitors()
    {
        ada.join();
        bob.join();
        ada.say("before");
        (void)ada.next("accepted");
        (void)ada.next("message");
        (void)bob.next("message");
        const std::string name(bob.next("status").at("coordinator").at("server").as_string());
        in_charge = &f.on.find(name);
    }

    /// Whose server is not that of the coordinator.
    [[nodiscard]] visitor& witness() { return in_charge == &f.on[0] ? bob : ada; }

    chat_fixture f{{.servers = 2, .ttl = ttl}};
    visitor ada{f, 0};
    visitor bob{f, 1};
    chat::server_process* in_charge = nullptr;
};

/// Whether a coordinator is that server. Null: nobody is.
bool is_told(const json::value& coordinator, const chat::server_process& server)
{
    return coordinator.is_object() && coordinator.at("server").as_string() == server.name();
}

std::int64_t number(const json::value& from, const char* member)
{
    return from.at(member).to_number<std::int64_t>();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_coordinator_that_is_silent_is_told_apart_from_one_that_works_and_from_none)
{
    two_visitors all;
    visitor& who = all.witness();
    BOOST_TEST(number(who.next("status").at("lease"), "silent") < longest_pulse);

    all.in_charge->pause();
    std::int64_t silent = 0;
    for (json::object told = who.next("status"); is_told(told.at("coordinator"), *all.in_charge);
         told = who.next("status"))
    {
        silent = std::max(silent, number(told.at("lease"), "silent"));
    }

    BOOST_TEST(silent > longest_pulse);
    BOOST_TEST(silent < (ttl + 1s) / 1ms);
}

BOOST_AUTO_TEST_CASE(a_takeover_is_measured_from_the_last_sign_of_life)
{
    two_visitors all;

    all.in_charge->kill();
    json::object told = all.witness().next("coordinator");
    while (is_told(told, *all.in_charge))
        told = all.witness().next("coordinator");

    const json::value& previous = told.at("previous");
    const std::int64_t silent = number(previous, "until") - number(previous, "heard");
    const std::int64_t without = number(told, "since") - number(previous, "heard");
    BOOST_TEST(silent > (ttl / 2 - 200ms) / 1ms);
    BOOST_TEST(without >= silent);
    BOOST_TEST(without < (ttl + 1s) / 1ms);
    BOOST_TEST(told.at("empty").is_null());
}

BOOST_AUTO_TEST_CASE(a_message_tells_how_long_it_waited_for_a_coordinator)
{
    two_visitors all;
    visitor& who = all.witness();

    all.in_charge->kill();
    who.say("waits");
    (void)who.next("accepted");
    const json::object meanwhile = who.next("status");
    const std::int64_t waited = number(who.next("message"), "waited");

    BOOST_TEST(number(meanwhile.at("waiting"), "messages") == 1);
    BOOST_TEST(waited > (ttl / 2 - 200ms) / 1ms);
    BOOST_TEST(waited < (ttl + 1s) / 1ms);
    who.say("does not");
    (void)who.next("accepted");
    BOOST_TEST(number(who.next("message"), "waited") < 500);
}

BOOST_AUTO_TEST_CASE(the_time_in_which_nobody_was_in_a_room_is_told_apart_from_an_outage)
{
    chat_fixture f({.servers = 1, .ttl = ttl});
    {
        visitor first(f, 0);
        first.join();
        (void)first.next("coordinator");
    }
    const auto is_closed = [&f] { return f.on[0].measure("chat_coordinated_rooms") == 0; };
    BOOST_TEST(eventually(is_closed, 10s));

    visitor second(f, 0);
    const json::object welcome = second.join();
    BOOST_TEST(welcome.at("coordinators").as_array().size() == 1u);
    const json::object told = second.next("coordinator");

    const json::value& previous = told.at("previous");
    const std::int64_t without = number(told, "since") - number(previous, "heard");
    const json::value& empty = told.at("empty");
    BOOST_TEST(number(empty, "from") >= number(previous, "heard"));
    BOOST_TEST(number(empty, "to") - number(empty, "from") > 0);
    BOOST_TEST(without - (number(empty, "to") - number(empty, "from")) < 500);
}

BOOST_AUTO_TEST_SUITE_END()
