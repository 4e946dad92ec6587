#include "chat_room/demo/story.hpp"

#include "demo/narrator.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fstream>
#include <functional>
#include <set>

namespace chat {

using namespace std::chrono_literals;
using demo::fact;
using demo::headline;
using demo::in_ms;
using std::chrono::steady_clock;

namespace {

constexpr auto story_patience = 20s;

/// What the lock promises: the old lease ends, and another server notices.
constexpr auto longest_takeover = story_ttl + 1s;

/// Ends an act: how long it took, what it showed, and what would have happened otherwise.
void lesson(steady_clock::time_point began, const std::string& shown, const std::string& otherwise)
{
    fact(true, "After " + in_ms(steady_clock::now() - began) + ": " + shown);
    fact(true, "Otherwise: " + otherwise);
}

/// Checks a condition again and again until it holds. @return Whether it does.
asio::awaitable<bool> until(std::function<bool()> condition)
{
    asio::steady_timer timer(co_await asio::this_coro::executor);
    const auto give_up = steady_clock::now() + story_patience;
    while (!condition())
    {
        if (steady_clock::now() >= give_up)
            co_return false;
        timer.expires_after(5ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
    co_return true;
}

/// The last to become the coordinator. A status may still show the one before.
asio::awaitable<known_coordinator> find_coordinator(const scripted_member& told)
{
    const std::function<bool()> known = [&told] { return !told.coordinators().empty(); };
    if (!co_await until(known))
        fact(false, "the room has a coordinator");
    co_return told.coordinators().back();
}

asio::awaitable<void> until_all_heard(company& in)
{
    const std::function<bool()> all_heard = [&in] {
        return in.ada.all().size() == in.said && in.bob.all().size() == in.said;
    };
    const bool heard = co_await until(all_heard);
    fact(heard, "both have heard all " + std::to_string(in.said) + " messages");
}

/// The member that hears of a takeover although the coordinator's server is gone.
const scripted_member& witness(company& in, const known_coordinator& first)
{
    return first.server == in.on[0].name() ? in.bob : in.ada;
}

std::string refused_writes(company& in)
{
    return in.on.store.command({"HGET", "chat:{lobby}", "refused"});
}

}  // namespace

company::company(const asio::any_io_executor& executor)
    : on({.servers = 3, .ttl = story_ttl}),
      ada(executor, on.ports(0), "lobby", "Ada"),
      bob(executor, on.ports(1), "lobby", "Bob")
{
}

void company::talk(std::size_t times)
{
    for (std::size_t index = 0; index < times; ++index)
    {
        ada.say("Ada says number " + std::to_string(++said));
        bob.say("Bob says number " + std::to_string(++said));
    }
}

asio::awaitable<void> everybody_joins(company& in)
{
    headline(1, "Ada and Bob meet in a chat room, on two of three servers");

    const auto began = steady_clock::now();
    for (const server_process& each : in.on)
        fact(true, "server " + each.name() + " is at " + each.url());
    in.ada.start();
    in.bob.start();
    const std::function<bool()> joined = [&in] { return in.ada.is_joined() && in.bob.is_joined(); };
    fact(co_await until(joined), "Ada has joined on s1, Bob on s2");
    const known_coordinator first = co_await find_coordinator(in.ada);
    fact(true, first.server + " coordinates it, with token " + std::to_string(first.fence));
    in.talk(25);
    co_await until_all_heard(in);
    lesson(
        began,
        "one of three servers numbers the messages, so all see the same order",
        "each server would have its own order"
    );
}

asio::awaitable<void> coordinator_killed(company& in)
{
    headline(2, "The coordinator is killed with SIGKILL while they talk");

    const known_coordinator first = co_await find_coordinator(in.ada);
    const scripted_member& told = witness(in, first);
    const std::size_t before = told.coordinators().size();
    const auto killed_at = steady_clock::now();
    in.on.find(first.server).kill();
    in.talk(25);
    const std::function<bool()> replaced = [&] { return told.coordinators().size() > before; };
    fact(co_await until(replaced), first.server + " is gone");
    const known_coordinator next = told.coordinators()[before];
    const auto taken = next.at - killed_at;
    fact(
        taken <= longest_takeover && next.fence > first.fence,
        next.server + " takes over " + in_ms(taken) + " later, with the higher token " +
            std::to_string(next.fence)
    );
    co_await until_all_heard(in);
    in.on.start(in.on.find(first.server));
    fact(becomes_healthy(in.on.find(first.server)), first.server + " is started again");
    lesson(
        killed_at,
        "a lease ends by itself, and messages wait in the inbox until then",
        "a lock that never expires would have stopped the room for good"
    );
}

asio::awaitable<void> coordinator_stopped_before_append(company& in)
{
    headline(3, "A coordinator is paused between its check of the lease and its append");

    const known_coordinator first = co_await find_coordinator(in.ada);
    server_process& stalls = in.on.find(first.server);
    const scripted_member& told = witness(in, first);
    const std::size_t before = told.coordinators().size();
    std::ofstream(stalls.stall_file()) << "stall";
    in.talk(5);
    const std::function<bool()> stopped = [&stalls] { return stalls.is_stopped(); };
    fact(co_await until(stopped), first.server + " has checked its lease, and is paused");
    const auto stopped_at = steady_clock::now();
    const std::function<bool()> replaced = [&] { return told.coordinators().size() > before; };
    fact(co_await until(replaced), "its lease ends");
    const known_coordinator next = told.coordinators()[before];
    const auto taken = next.at - stopped_at;
    fact(taken <= longest_takeover, next.server + " takes over " + in_ms(taken) + " later");
    const std::function<bool()> long_enough = [&] {
        return steady_clock::now() >= stopped_at + 3 * story_ttl;
    };
    co_await until(long_enough);

    stalls.resume();
    const std::function<bool()> refused = [&in] { return refused_writes(in) == "1"; };
    const bool once = co_await until(refused);
    fact(once, first.server + " resumes and appends: refused, because its token is too low");
    co_await until_all_heard(in);
    lesson(
        stopped_at,
        "the store refuses a late write, whatever its server believes",
        "messages would appear twice; see the room without the fence in --serve"
    );
}

asio::awaitable<void> nodes_lost(company& in)
{
    headline(4, "Two of the five lock nodes are lost");

    const known_coordinator before = co_await find_coordinator(in.ada);
    in.on.nodes[0].kill();
    in.on.nodes[1].kill();
    const auto lost_at = steady_clock::now();
    const std::function<bool()> long_enough = [&] {
        return steady_clock::now() >= lost_at + 2 * story_ttl;
    };
    co_await until(long_enough);  // Leases that could not be extended would be over.
    in.talk(5);
    co_await until_all_heard(in);
    const known_coordinator after = co_await find_coordinator(in.ada);
    fact(after.fence == before.fence, after.server + " is still the coordinator: three are enough");
    in.on.nodes[0].start();
    in.on.nodes[1].start();
    fact(true, "the two are started again, and sit out the longest time that a lock may live");
    lesson(
        lost_at,
        "a quorum is enough, and a node that may have lost leases doesn't vote",
        "with a single node the room would have stopped with it"
    );
}

asio::awaitable<void> all_is_there(company& in)
{
    headline(5, "What Ada and Bob have on their screens");

    const auto began = steady_clock::now();
    std::set<std::string> ids;
    bool equal = in.ada.all().size() == in.said && in.bob.all().size() == in.said;
    for (std::size_t index = 0; equal && index < in.said; ++index)
    {
        const heard& here = in.ada.all()[index];
        equal = here.seq == index + 1 && here.id == in.bob.all()[index].id;
        ids.insert(here.id);
    }
    const std::string count = std::to_string(in.said);
    fact(equal && ids.size() == in.said, "both: all " + count + " messages, each once");
    fact(equal, "in the same order, with the numbers 1 to " + count);
    fact(refused_writes(in) == "1", "one stale write was tried, and refused");
    lesson(
        began,
        "the lock chose who acts, and the fence kept late writes out",
        "the lock alone would have let the stale write through"
    );
    co_return;
}

asio::awaitable<void> everybody_leaves(company& in)
{
    in.ada.stop();
    in.bob.stop();
    const std::function<bool()> gone = [&in] { return in.ada.is_done() && in.bob.is_done(); };
    co_await until(gone);
}

}  // namespace chat
