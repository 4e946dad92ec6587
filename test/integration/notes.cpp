// What the nodes say of a holder, to clients that inspect and watch.

#include <redlock/client.hpp>
#include <redlock/initialize.hpp>
#include <redlock/watcher.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/guarded_nodes.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"

BOOST_AUTO_TEST_SUITE(
    test_notes,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* resource = "orders:42";

/// Two clients that ask again by themselves only after a long time.
struct two_clients
{
    explicit two_clients(std::string name = {}) : servers(3), config(config_for(servers))
    {
        config.mode = mode::guarded;
        config.node_timeout = 2s;
        config.waiting.poll = 10s;
        run(context, async_initialize_nodes(context, config));
        other = start();
        config.name = std::move(name);
        holder = start();
    }

    std::unique_ptr<client_runner> start()
    {
        auto made = std::make_unique<client_runner>(context, config);
        made->wait_for_all_nodes();
        return made;
    }

    lease acquire(const note& says = {}, milliseconds ttl = 20s)
    {
        return run(context, (*holder)->async_acquire(resource, {.ttl = ttl, .note = says}));
    }

    /// What the other client sees.
    holding inspect() { return run(context, (*other)->async_inspect(resource)); }

    redis_servers servers;
    loop context;
    client_config config;
    std::unique_ptr<client_runner> other;
    std::unique_ptr<client_runner> holder;
};

/// Bytes of all values, 120 at a time.
std::vector<std::string> odd_texts()
{
    std::vector<std::string> made{
        std::string(120, ' '), std::string(120, '\0'), " ", "0", "a 1 - 0 2 b"
    };
    for (int begin = 0; begin < 256; begin += 120)
    {
        std::string& text = made.emplace_back();
        for (int i = 0; i < 120; ++i)
            text += static_cast<char>(begin + i);
    }
    return made;
}

/// A watcher of the other client, and what it has told.
struct follower
{
    explicit follower(two_clients& of) : on(of), watched((*of.other)->watch(resource)) { wait(); }

    void wait()
    {
        told.reset();
        watched.async_next(boost::asio::bind_executor(
            on.context.get_executor(),
            [this](error_code ec, holding now) {
                if (!ec)  // Else the test has ended.
                    told = now;
            }
        ));
    }

    /// The next view, which must come soon: the watcher polls after 10 s.
    holding next(std::chrono::milliseconds within = 1s)
    {
        const bool came = run_until(on.context, [this] { return told.has_value(); }, within);
        BOOST_TEST_REQUIRE(came);
        const holding seen = *told;
        wait();
        return seen;
    }

    two_clients& on;
    watcher watched;
    std::optional<holding> told;
};

}  // namespace

BOOST_AUTO_TEST_CASE(notes_of_any_bytes_come_back_unchanged)
{
    two_clients on;
    for (const std::string& text : odd_texts())
    {
        lease held = on.acquire(text);
        BOOST_TEST((on.inspect().note.text() == text));
        BOOST_TEST(on.inspect().state == holding_state::held);
        BOOST_TEST(on.inspect().token == held.fence());
        BOOST_TEST(on.inspect().agree == 3u);
        // It is still the holder's: the scripts take the id for the key's.
        run(on.context, held.async_extend());
        BOOST_TEST(run(on.context, held.async_release()) == release_outcome::released);
    }
}

BOOST_AUTO_TEST_CASE(announced_notes_of_any_bytes_come_back_unchanged)
{
    two_clients on;
    const lease held = on.acquire("begins");
    for (const std::string& text : odd_texts())
    {
        run(on.context, held.async_announce(text));
        BOOST_TEST((on.inspect().note.text() == text));
        BOOST_TEST(on.inspect().token == held.fence());
    }
}

BOOST_AUTO_TEST_CASE(an_announcement_keeps_the_time_that_a_key_has_left)
{
    two_clients on;
    const lease held = on.acquire("begins", 5s);
    for (std::size_t each = 0; each < 3; ++each)
        on.servers[each].command({"PEXPIRE", resource, "25000"});
    run(on.context, held.async_announce("goes on"));
    BOOST_TEST(on.inspect().note.text() == "goes on");
    BOOST_TEST(on.inspect().remaining > 20s);
}

BOOST_AUTO_TEST_CASE(a_holder_without_a_note_shows_its_process)
{
    two_clients on;
    const lease held = on.acquire();
    const std::string shown(on.inspect().note.text());
    BOOST_TEST(shown.ends_with(':' + std::to_string(::getpid())));
    BOOST_TEST(!shown.starts_with(':'));
}

BOOST_AUTO_TEST_CASE(the_name_of_a_client_is_its_note_and_stands_in_the_list_of_clients)
{
    two_clients on("shop \xc3\xa5 1");
    const lease held = on.acquire();
    BOOST_TEST((on.inspect().note.text() == "shop \xc3\xa5 1"));
    for (std::size_t each = 0; each < 3; ++each)
        BOOST_TEST(contains(on.servers[each].command({"CLIENT", "LIST"}), " name=shop____1 "));
}

BOOST_AUTO_TEST_CASE(values_of_others_show_a_holder_without_a_note)
{
    two_clients on;
    for (const std::vector<std::string>& foreign : std::vector<std::vector<std::string>>{
             {"SET", resource, "0123456789abcdef0123456789abcdef01234567", "PX", "20000"},
             {"SET", resource, "another library, 7"},
             {"SET", resource, std::string(100'000, 'x')},
             {"SET", resource, ""},
             {"RPUSH", resource, "a list"},
         })
    {
        for (std::size_t each = 0; each < 3; ++each)
        {
            on.servers[each].command({"DEL", resource});
            on.servers[each].command(foreign);
        }
        const holding seen = on.inspect();
        BOOST_TEST(seen.state == holding_state::held);
        BOOST_TEST(seen.agree == 3u);
        BOOST_TEST(seen.note.empty());
        BOOST_TEST(!seen.token);
        BOOST_TEST((seen.remaining == forever || seen.remaining <= 20s));
    }
}

BOOST_AUTO_TEST_CASE(clients_that_wait_are_counted)
{
    two_clients on;
    lease held = on.acquire();
    std::optional<error_code> outcome;
    lease next;
    (*on.other)->async_acquire(
        resource,
        {.ttl = 20s, .wait = 10s},
        boost::asio::bind_executor(
            on.context.get_executor(),
            [&](error_code ec, lease granted) {
                next = std::move(granted);
                outcome = ec;
            }
        )
    );
    BOOST_TEST(run_until(on.context, [&] { return on.inspect().waiting == 1; }));
    run(on.context, held.async_release());
    BOOST_TEST(run_until(on.context, [&] { return outcome.has_value(); }));
    BOOST_TEST(on.inspect().waiting == 0u);
}

BOOST_AUTO_TEST_CASE(nodes_that_must_not_vote_do_not_count_as_free)
{
    two_clients on;
    for (std::size_t each = 0; each < 2; ++each)
        on.servers[each].command({"SET", "redlock:quarantine", "1", "PX", "2000"});
    const holding seen = on.inspect();
    BOOST_TEST(seen.state == holding_state::undecided);
    BOOST_TEST(seen.answered == 1u);
    BOOST_TEST(seen.agree == 1u);
}

BOOST_AUTO_TEST_CASE(a_plain_client_inspects_as_well)
{
    redis_servers servers(3);
    loop context;
    client_runner locks(context, config_for(servers));
    locks.wait_for_all_nodes();
    const lease held = run(context, locks->async_acquire(resource, 20s));
    const holding seen = run(context, locks->async_inspect(resource));
    BOOST_TEST(seen.state == holding_state::held);
    BOOST_TEST(seen.agree == 3u);
    BOOST_TEST(seen.note.empty());
    BOOST_TEST(run(context, locks->async_inspect("free")).state == holding_state::free);
}

BOOST_AUTO_TEST_CASE(a_watcher_is_told_of_each_change_by_push)
{
    two_clients on;
    follower follows(on);
    BOOST_TEST(follows.next().state == holding_state::free);
    for (int round = 0; round < 20; ++round)
    {
        lease held = on.acquire("round " + std::to_string(round));
        holding seen = follows.next();
        BOOST_TEST(seen.state == holding_state::held);
        BOOST_TEST(seen.token == held.fence());
        BOOST_TEST(seen.note.text() == "round " + std::to_string(round));
        run(on.context, held.async_announce("still round " + std::to_string(round)));
        seen = follows.next();
        BOOST_TEST(seen.note.text() == "still round " + std::to_string(round));
        run(on.context, held.async_release());
        BOOST_TEST(follows.next().state == holding_state::free);
    }
}

BOOST_AUTO_TEST_CASE(a_watcher_sees_a_key_expire_and_an_operator_delete_it)
{
    two_clients on;
    follower follows(on);
    follows.next();
    lease held = on.acquire({}, 2500ms);
    BOOST_TEST(follows.next().state == holding_state::held);
    BOOST_TEST(follows.next(4s).state == holding_state::free);

    held = on.acquire();
    BOOST_TEST(follows.next().state == holding_state::held);
    for (std::size_t each = 0; each < 3; ++each)
        on.servers[each].command({"DEL", resource});
    BOOST_TEST(follows.next().state == holding_state::free);
}

BOOST_AUTO_TEST_CASE(a_watcher_says_when_too_few_nodes_answer_and_goes_on_afterwards)
{
    two_clients on;
    const lease held = on.acquire();
    follower follows(on);
    BOOST_TEST(follows.next().state == holding_state::held);
    on.servers[0].kill();
    on.servers[1].kill();
    const holding seen = follows.next(5s);
    BOOST_TEST(seen.state == holding_state::undecided);
    BOOST_TEST(seen.answered == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
