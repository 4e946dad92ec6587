// Writes that come too late: what members are told of them, and a room that takes them.

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <set>
#include <string>

#include "chat/fixture.hpp"
#include "support/client_runner.hpp"
#include "support/needs.hpp"

BOOST_AUTO_TEST_SUITE(
    test_fence,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock::test;
using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

constexpr std::chrono::milliseconds ttl = 2s;

/// How many messages a member has heard more than once.
std::size_t repeated(const chat::scripted_member& who)
{
    std::set<std::string> ids;
    for (const chat::heard& each : who.all())
        ids.insert(each.id);
    return who.all().size() - ids.size();
}

/// Ada and Bob on two servers, and the coordinator stands still just before it writes what the
/// other one said, until somebody else has written it.
struct late_write
{
    explicit late_write(std::vector<std::string> more = {})
        : f({.servers = 2, .ttl = ttl, .more = std::move(more)})
    {
    }

    void happen()
    {
        auto& first = f.coordinator_of(ada);
        auto& other = &first == &f.on[0] ? bob : ada;
        std::ofstream(first.stall_file()) << "stall";
        other.say("written twice, or not");
        BOOST_TEST(run_until(f.context, [&] { return first.is_stopped(); }));
        BOOST_TEST(run_until(f.context, [&] { return other.unheard() == 0; }));
        first.resume();
        BOOST_TEST(run_until(f.context, [&] { return f.refused() == 1; }));
        late = first.name();
    }

    chat_fixture f;
    chat::scripted_member& ada = f.add("Ada", 0);
    chat::scripted_member& bob = f.add("Bob", 1);
    std::string late;  ///< Whose write it was.
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_refused_write_is_told_to_all_members)
{
    late_write room;
    std::optional<json::object> to_ada;
    std::optional<json::object> to_bob;
    const auto keep = [](std::optional<json::object>& in) {
        return [&in](const json::object& told) {
            if (told.at("type").as_string() == "refusal")
                in = told;
        };
    };
    room.ada.on_event = keep(to_ada);
    room.bob.on_event = keep(to_bob);

    room.happen();

    // Whose server stood still may have connected elsewhere meanwhile: `welcome` tells it then.
    auto& told = room.late == "s1" ? to_bob : to_ada;
    BOOST_TEST_REQUIRE(run_until(room.f.context, [&] { return told.has_value(); }));
    BOOST_TEST(told->at("server").as_string() == room.late);
    const std::int64_t number = told->at("number").to_number<std::int64_t>();
    BOOST_TEST(number >= 1);
    BOOST_TEST(told->at("seen").at("number").to_number<std::int64_t>() == number + 1);
    BOOST_TEST(told->at("slept").to_number<std::int64_t>() >= ttl / 2ms);
    BOOST_TEST(
        told->at("fence").to_number<std::int64_t>() <
        told->at("seen").at("fence").to_number<std::int64_t>()
    );
}

BOOST_AUTO_TEST_CASE(a_late_write_doubles_a_line_only_in_the_room_without_a_fence)
{
    late_write room({"--unfenced", "lobby"});
    auto& copy = room.f.add("Copy", 0, "lobby-without-fence");
    room.ada.say("before");
    BOOST_TEST(run_until(room.f.context, [&] { return copy.all().size() == 1; }));

    room.happen();

    BOOST_TEST(run_until(room.f.context, [&] { return copy.all().size() == 3; }));
    BOOST_TEST(repeated(copy) == 1u);
    room.ada.say("after");
    BOOST_TEST(run_until(room.f.context, [&] { return copy.all().size() == 4; }));
    BOOST_TEST(repeated(room.ada) == 0u);
    BOOST_TEST(repeated(room.bob) == 0u);
}

BOOST_AUTO_TEST_CASE(no_room_has_a_copy_without_a_fence_unless_somebody_asks_for_it)
{
    late_write room;
    auto& copy = room.f.add("Copy", 0, "lobby-without-fence");

    room.ada.say("in the lobby");
    BOOST_TEST(run_until(room.f.context, [&] { return room.bob.all().size() == 1; }));
    copy.say("in a room like all others");

    BOOST_TEST(run_until(room.f.context, [&] { return copy.all().size() == 1; }));
    BOOST_TEST(copy.all().front().text == "in a room like all others");
    BOOST_TEST(room.ada.all().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
