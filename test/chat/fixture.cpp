#include "chat/fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>
#include <utility>

#include "support/client_runner.hpp"

namespace redlock::test {

using namespace std::chrono_literals;

chat_fixture::chat_fixture(chat::stage_options how) : on(std::move(how)) {}

chat_fixture::~chat_fixture()
{
    for (chat::scripted_member& each : members)
        each.stop();
    const auto done = [this] {
        return std::ranges::all_of(members, &chat::scripted_member::is_done);
    };
    BOOST_CHECK(run_until(context, done));
}

chat::scripted_member& chat_fixture::add(
    const std::string& name,
    std::size_t server,
    const std::string& room
)
{
    auto& added = members.emplace_back(context.get_executor(), on.ports(server), room, name);
    added.start();
    BOOST_REQUIRE(run_until(context, [&added] { return added.is_joined(); }));
    return added;
}

bool chat_fixture::all_heard(std::chrono::milliseconds limit)
{
    const auto done = [this] {
        std::size_t most = 0;
        for (const auto& each : members)
            most = std::max(most, each.all().size());
        return std::ranges::all_of(members, [most](const chat::scripted_member& each) {
            return each.unheard() == 0 && each.all().size() == most;
        });
    };
    return run_until(context, done, limit);
}

chat::server_process& chat_fixture::coordinator_of(const chat::scripted_member& who)
{
    if (!run_until(context, [&who] { return !who.coordinators().empty(); }))
        throw std::runtime_error("the room has no coordinator");
    return on.find(who.coordinators().back().server);
}

std::optional<std::chrono::milliseconds> chat_fixture::takeover(
    const chat::scripted_member& by,
    std::size_t coordinators_before
)
{
    const auto start = std::chrono::steady_clock::now();
    const auto changed = [&] { return by.coordinators().size() > coordinators_before; };
    if (!run_until(context, changed, 20s))
        return std::nullopt;
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        by.coordinators()[coordinators_before].at - start
    );
}

long chat_fixture::refused(const std::string& room)
{
    const std::string count = on.store.command({"HGET", "chat:{" + room + "}", "refused"});
    long result = 0;
    std::from_chars(count.data(), count.data() + count.size(), result);
    return result;
}

void check_histories(const std::deque<chat::scripted_member>& members, std::size_t said)
{
    for (const chat::scripted_member& each : members)
    {
        std::set<std::string> ids;
        BOOST_TEST(each.all().size() == said);
        for (std::size_t index = 0; index < each.all().size(); ++index)
        {
            const chat::heard& here = each.all()[index];
            BOOST_TEST_REQUIRE(here.seq == index + 1);
            BOOST_TEST_REQUIRE(here.id == members.front().all().at(index).id);
            BOOST_TEST_REQUIRE(here.text == members.front().all().at(index).text);
            ids.insert(here.id);
        }
        BOOST_TEST(ids.size() == each.all().size());
    }
}

}  // namespace redlock::test
