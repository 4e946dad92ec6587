// Clients of older versions beside those of this one, on the same real servers.

#include <redlock/client.hpp>
#include <redlock/initialize.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "support/client_runner.hpp"
#include "support/contains.hpp"
#include "support/eventually.hpp"
#include "support/guarded_nodes.hpp"
#include "support/loop.hpp"
#include "support/needs.hpp"
#include "support/old_scripts.hpp"
#include "support/printing.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

BOOST_AUTO_TEST_SUITE(
    test_versions,
    *boost::unit_test::precondition(redlock::test::needs("redis-server"))
)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* resource = "orders:42";
constexpr acquire_options patient{.ttl = 20s, .wait = 10s};
constexpr const char* ttl = "20000";

using words = std::vector<std::string>;

/// What a question of an old client to a node is about.
struct terms
{
    std::string id;
    std::string token;
    std::string asked_at;  ///< In microseconds.
    std::string name;      ///< Of the client, in queues.
    std::string place;     ///< The same and its arrival, empty if it doesn't wait.
    std::string marker_end{};
    std::string at_least{};  ///< In milliseconds.
};

/// How clients of a commit put a question: the arguments behind the key.
struct commit_c70efbe
{
    static constexpr std::string_view note{};
    static constexpr bool writes_tokens = false;

    static old_scripts scripts(const client_config& config) { return make_old_scripts(config); }
    static words suffixes_of_channels() { return {""}; }
    static words admit() { return {}; }
    static words acquire(const terms& of) { return {of.id, of.token, ttl, of.place}; }
    static words extend(const terms& of) { return {of.id, of.asked_at, ttl, of.token}; }
    static words leave(const terms& of) { return {of.name}; }

    static words release(const terms& of)
    {
        return {of.id, of.token, of.place.empty() ? of.name + ":0" : of.place};
    }
};

struct commit_9f1c7e8
{
    static constexpr std::string_view note = "of an old one";
    static constexpr bool writes_tokens = true;

    static old_scripts scripts(const client_config& config)
    {
        return make_scripts_of_9f1c7e8(config);
    }

    static words suffixes_of_channels() { return {"", ":next", ":revoked"}; }

    /// It has not met this server before, and marks it.
    static words admit() { return {"0", "1"}; }

    static words acquire(const terms& of)
    {
        const bool is_new = of.place == of.name + ":" + of.token;
        const std::string said(note);
        return {of.marker_end, ttl, is_new ? of.name : of.place, of.name, said, of.id, of.token};
    }

    static words extend(const terms& of)
    {
        return {of.marker_end, ttl, "0", "", of.id, of.asked_at, of.token};
    }

    static words release(const terms& of) { return {place(of), of.id, of.token}; }
    static words keep(const terms& of) { return {place(of), of.at_least, of.id, of.token}; }
    static words revoke(const terms& of) { return {of.marker_end, of.asked_at, of.token}; }
    static words leave(const terms& of) { return {of.name}; }

private:
    static std::string place(const terms& of) { return of.place.empty() ? of.name : of.place; }
};

/** What a client of a commit puts on the wire, with one task that wants one resource.

    Nothing of the library is in it, so no change of that changes an old client.
*/
template <class Commit>
class old_client
{
public:
    old_client(redis_servers& servers, const client_config& config, std::string name)
        : scripts_(Commit::scripts(config)), name_(std::move(name))
    {
        for (redis_server& each : servers)
        {
            ears_.emplace_back(each.port());
            for (const std::string& suffix : Commit::suffixes_of_channels())
                static_cast<void>(ears_.back().command({"SUBSCRIBE", channel(suffix)}));
            nodes_.push_back({resp_client(each.port())});
            admit(nodes_.back(), make_old_marker(config));
        }
    }

    /// Asks each node once. Who is denied waits in the queues from then on.
    bool acquire()
    {
        token_ = std::max(token_ + 1, now());
        if (place_.empty())
            place_ = name_ + ":" + std::to_string(token_);
        const terms of = about();
        const words replies = ask(scripts_.acquire, Commit::acquire, of);
        const bool wins = count(replies, "(integer) " + of.token) >= quorum;
        if (wins)
            place_.clear();
        else
            give_back();
        return wins;
    }

    bool extend()
    {
        const terms of = about();
        extended_ = ask(scripts_.extend, Commit::extend, of);
        return count(extended_, "(integer) " + of.asked_at) >= quorum;
    }

    /// Nodes that refused the last extension because the hold is revoked.
    [[nodiscard]] std::size_t refused_as_revoked() const
    {
        return begin_with(extended_, "(integer) -5\n");
    }

    /// @return By how many nodes.
    std::size_t release()
    {
        place_.clear();
        return give_back();
    }

    /// Releases, and keeps the resource from the acquisition on. @return By how many nodes.
    std::size_t keep(milliseconds at_least)
    {
        terms of = about();
        of.at_least = std::to_string(at_least.count());
        return count(ask(scripts_.keep, Commit::keep, of), "(integer) 1");
    }

    /// Revokes a hold of somebody else. @return How many nodes have marked it.
    std::size_t revoke(fencing_token hold)
    {
        terms of = about();
        of.token = std::to_string(hold.value());
        return begin_with(ask(scripts_.revoke, Commit::revoke, of), "(integer) 1\n");
    }

    /// Waits no longer.
    void leave()
    {
        place_.clear();
        ask(scripts_.leave, Commit::leave, about());
    }

    /// Whether a quorum of nodes has said by now that the resource is free.
    bool is_woken()
    {
        listen();
        return wakes_ >= quorum;
    }

    /// The same, that its hold is revoked.
    bool is_told_to_stop()
    {
        listen();
        return told_to_stop_ >= quorum;
    }

    [[nodiscard]] std::uint64_t token() const noexcept { return token_; }

    /// Replies that were errors.
    [[nodiscard]] const std::string& errors() const noexcept { return errors_; }

private:
    struct node
    {
        resp_client wire;
        std::string marker_end{};
    };

    static constexpr std::size_t quorum = 2;

    /// Its clock is ahead of everybody else's, so that tokens increase because of the nodes.
    static constexpr milliseconds ahead = 200ms;

    static std::uint64_t now()
    {
        const auto since = std::chrono::system_clock::now().time_since_epoch() + ahead;
        return static_cast<std::uint64_t>(std::chrono::microseconds(since / 1us).count());
    }

    static std::size_t count(const words& replies, const std::string& which)
    {
        return static_cast<std::size_t>(std::ranges::count(replies, which));
    }

    static std::size_t begin_with(const words& replies, std::string_view what)
    {
        return static_cast<std::size_t>(std::ranges::count_if(replies, [&](const auto& each) {
            return each.starts_with(what);
        }));
    }

    [[nodiscard]] std::string channel(const std::string& suffix) const
    {
        return "redlock:" + name_ + suffix;
    }

    [[nodiscard]] terms about() const
    {
        const std::string token = std::to_string(token_);
        return {name_ + token, token, std::to_string(now()), name_, place_};
    }

    void admit(node& met, const old_marker& marker)
    {
        std::string run_id = met.wire.command({"INFO", "server"});
        run_id = run_id.substr(run_id.find("run_id:") + 7, 40);
        met.marker_end = marker.fingerprint.substr(marker.begin.size()) + run_id;
        words command{
            "EVAL",
            scripts_.admit,
            "2",
            marker_key,
            "redlock:quarantine",
            marker.fingerprint,
            run_id,
            "1000",
            "0"
        };
        std::ranges::copy(Commit::admit(), std::back_inserter(command));
        BOOST_TEST_REQUIRE(met.wire.command(command) == "(integer) 0");
    }

    /// @return What each node replied.
    words ask(const std::string& script, words (*phrase)(const terms&), terms of)
    {
        words replies;
        for (node& each : nodes_)
        {
            of.marker_end = each.marker_end;
            words command{"EVAL", script, "1", resource};
            std::ranges::copy(phrase(of), std::back_inserter(command));
            replies.push_back(each.wire.command(command));
            if (replies.back().starts_with('-'))
                errors_ += replies.back() + '\n';
        }
        return replies;
    }

    std::size_t give_back()
    {
        return count(ask(scripts_.release, Commit::release, about()), "(integer) 1");
    }

    /// Takes a message of each node, if there is one.
    void listen()
    {
        const std::string wake = channel("") + '\n' + resource;
        const std::string stop =
            channel(":revoked") + '\n' + std::to_string(token_) + ' ' + resource;
        for (resp_client& each : ears_)
        {
            const std::string heard = each.command({"PING"});
            wakes_ += contains(heard, wake);
            told_to_stop_ += contains(heard, stop);
        }
    }

    old_scripts scripts_;
    std::string name_;
    std::deque<node> nodes_;
    std::deque<resp_client> ears_;
    std::uint64_t token_ = 0;
    std::string place_;
    words extended_;
    std::size_t wakes_ = 0;
    std::size_t told_to_stop_ = 0;
    std::string errors_;
};

/// Servers, and clients of both versions that ask again by themselves only after a long time.
template <class Commit>
struct mixed_fixture
{
    mixed_fixture() : servers(3), config(config_for(servers))
    {
        config.mode = mode::guarded;
        config.node_timeout = 2s;
        config.waiting.poll = 10s;
        run(context, async_initialize_nodes(context, config));
        old.emplace(servers, config, "0123456789abcdef");
        recent.emplace(context, config);
        recent->wait_for_all_nodes();
    }

    /// A lease of the new client that every node knows.
    lease acquire_everywhere()
    {
        lease held = run(context, (*recent)->async_acquire(resource, patient));
        BOOST_TEST_REQUIRE(run_until(context, [&] { return std::ranges::all_of(servers, has_key); })
        );
        return held;
    }

    /// The new client tries once. @return Whether it was granted.
    bool is_granted_to_the_new_one()
    {
        return bool(run(context, (*recent)->async_try_acquire(resource, patient)));
    }

    static bool has_key(redis_server& node)
    {
        return node.command({"EXISTS", resource}) == "(integer) 1";
    }

    std::string value(std::size_t node) { return servers[node].command({"GET", resource}); }
    void forget(std::size_t node) { servers[node].command({"DEL", resource}); }

    redis_servers servers;
    loop context;
    client_config config;
    std::optional<old_client<Commit>> old;
    std::optional<client_runner> recent;
};

using commits = std::tuple<commit_c70efbe, commit_9f1c7e8>;

}  // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(
    old_and_new_clients_exclude_each_other_and_their_tokens_increase,
    Commit,
    commits
)
{
    mixed_fixture<Commit> on;
    old_client<Commit>& old = *on.old;
    std::uint64_t last = 0;
    for (int round = 0; round < 3; ++round)
    {
        BOOST_TEST_REQUIRE(old.acquire());
        BOOST_TEST(old.token() > last);
        BOOST_TEST(!on.is_granted_to_the_new_one());
        const holding seen = run(on.context, (*on.recent)->async_inspect(resource));
        BOOST_TEST(seen.state == holding_state::held);
        BOOST_TEST(seen.agree >= 2u);  // A release of the new client ends with a quorum.
        BOOST_TEST(seen.note.text() == Commit::note);
        BOOST_TEST(seen.token.value() == (Commit::writes_tokens ? old.token() : 0u));
        BOOST_TEST(old.extend());
        BOOST_TEST(!on.is_granted_to_the_new_one());
        BOOST_TEST(old.release() >= 2u);

        lease held = run(on.context, (*on.recent)->async_acquire(resource, patient));
        BOOST_TEST(held.fence().value() > old.token());
        last = held.fence().value();
        run(on.context, held.async_extend(20s));
        run(on.context, held.async_announce("of the new one"));
        BOOST_TEST(!old.acquire());
        BOOST_TEST(old.release() == 0u);
        run(on.context, held.async_release());
    }
    BOOST_TEST(old.errors() == "");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(
    a_hold_that_is_taken_again_on_emptied_nodes_excludes_an_old_client_there,
    Commit,
    commits
)
{
    mixed_fixture<Commit> on;
    lease held = on.acquire_everywhere();
    on.forget(0);
    run(on.context, held.async_extend(20s));
    BOOST_TEST_REQUIRE(run_until(on.context, [&] { return on.value(0) == on.value(2); }));

    on.forget(1);  // With the first node, an old client would have a quorum.
    BOOST_TEST(!on.old->acquire());
    BOOST_TEST(on.old->release() == 0u);
    on.old->leave();
    BOOST_TEST(on.value(0) == on.value(2));

    // A lost round has left a higher token on the second.
    run(on.context, held.async_extend(20s));
    BOOST_TEST(run_until(on.context, [&] { return on.value(1) == on.value(2); }));
    BOOST_TEST(run(on.context, held.async_release()) == release_outcome::released);
    BOOST_TEST(on.old->acquire());
    BOOST_TEST(on.old->token() > held.fence().value());
    BOOST_TEST(on.old->errors() == "");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(
    an_old_hold_that_a_node_has_forgotten_is_not_disturbed_by_a_new_client,
    Commit,
    commits
)
{
    mixed_fixture<Commit> on;
    BOOST_TEST_REQUIRE(on.old->acquire());
    on.forget(0);

    BOOST_TEST(!on.is_granted_to_the_new_one());

    BOOST_TEST(run_until(on.context, [&] { return !on.has_key(on.servers[0]); }));
    BOOST_TEST(on.old->extend());
    BOOST_TEST(!on.has_key(on.servers[0]));
    BOOST_TEST(!on.is_granted_to_the_new_one());
    BOOST_TEST(on.old->extend());
    BOOST_TEST(on.old->release() == 2u);
    BOOST_TEST(on.is_granted_to_the_new_one());
    BOOST_TEST(on.old->errors() == "");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_old_client_respects_a_grace_and_what_is_kept, Commit, commits)
{
    mixed_fixture<Commit> on;
    acquire_options options{.ttl = 10s, .wait = 10s, .grace = 10s, .at_least = 1s};
    lease held = run(on.context, (*on.recent)->async_acquire(resource, options));
    const auto acquired = std::chrono::steady_clock::now();
    BOOST_TEST(on.servers[0].command({"PTTL", resource}) > "(integer) 19");
    run(on.context, held.async_extend(10s));
    BOOST_TEST(run(on.context, held.async_release()) == release_outcome::released);
    BOOST_TEST(!on.old->acquire());
    BOOST_TEST(on.old->release() == 0u);  // Of a lost round.
    BOOST_TEST(eventually([&] { return on.old->acquire(); }));
    BOOST_TEST((std::chrono::steady_clock::now() - acquired > 900ms));
    BOOST_TEST(on.old->token() > held.fence().value());
    BOOST_TEST(on.old->extend());
    BOOST_TEST(!on.is_granted_to_the_new_one());
    BOOST_TEST(on.old->release() >= 2u);
    BOOST_TEST(on.old->errors() == "");
}

BOOST_AUTO_TEST_CASE(what_an_old_client_keeps_stays_kept_for_a_new_one)
{
    mixed_fixture<commit_9f1c7e8> on;
    const auto before = std::chrono::steady_clock::now();
    BOOST_TEST_REQUIRE(on.old->acquire());
    BOOST_TEST(on.old->keep(2s) == 3u);

    BOOST_TEST(!on.is_granted_to_the_new_one());
    const holding seen = run(on.context, (*on.recent)->async_inspect(resource));
    BOOST_TEST(seen.state == holding_state::kept);
    BOOST_TEST(seen.token.value() == on.old->token());

    lease held = run(on.context, (*on.recent)->async_acquire(resource, patient));
    BOOST_TEST((std::chrono::steady_clock::now() - before > 1900ms));
    BOOST_TEST(held.fence().value() > on.old->token());
    BOOST_TEST(on.old->errors() == "");
}

BOOST_AUTO_TEST_CASE(a_new_client_frees_what_an_old_one_keeps)
{
    mixed_fixture<commit_9f1c7e8> on;
    BOOST_TEST_REQUIRE(on.old->acquire());
    BOOST_TEST(on.old->keep(60s) == 3u);

    BOOST_TEST(run(on.context, (*on.recent)->async_free(resource)) == release_outcome::released);

    BOOST_TEST(on.old->acquire());
    BOOST_TEST(on.old->errors() == "");
}

BOOST_AUTO_TEST_CASE(a_new_client_revokes_the_hold_of_an_old_one)
{
    mixed_fixture<commit_9f1c7e8> on;
    BOOST_TEST_REQUIRE(on.old->acquire());
    BOOST_TEST(on.old->extend());

    const auto hold = fencing_token::from_value(on.old->token());
    BOOST_TEST(run(on.context, (*on.recent)->async_revoke(resource, hold)).marked >= 2u);

    BOOST_TEST(!on.old->extend());
    BOOST_TEST(on.old->refused_as_revoked() >= 2u);
    BOOST_TEST(eventually([&] { return on.old->is_told_to_stop(); }));
    BOOST_TEST(!on.is_granted_to_the_new_one());  // It is held as long as it was.
    BOOST_TEST(on.old->release() >= 2u);
    BOOST_TEST(on.is_granted_to_the_new_one());
    BOOST_TEST(on.old->errors() == "");
}

BOOST_AUTO_TEST_CASE(an_old_client_revokes_the_hold_of_a_new_one)
{
    mixed_fixture<commit_9f1c7e8> on;
    on.config.waiting.queue = false;  // It learns of it from its extension only.
    on.recent.emplace(on.context, on.config);
    on.recent->wait_for_all_nodes();
    lease held = on.acquire_everywhere();
    on.forget(0);
    run(on.context, held.async_extend(20s));
    BOOST_TEST_REQUIRE(run_until(on.context, [&] { return on.value(0) == on.value(2); }));

    BOOST_TEST(on.old->revoke(held.fence()) == 3u);

    const auto [ec] = outcome_of(on.context, held.async_extend(20s));
    BOOST_TEST(ec == error::revoked);
    BOOST_TEST(!on.old->acquire());
    BOOST_TEST(run(on.context, held.async_release()) == release_outcome::released);
    BOOST_TEST(on.old->errors() == "");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_release_of_an_old_client_wakes_a_new_one, Commit, commits)
{
    mixed_fixture<Commit> on;
    BOOST_TEST_REQUIRE(on.old->acquire());
    std::optional<error_code> outcome;
    lease held;
    const std::uint64_t before = (*on.recent)->metrics().rounds;
    (*on.recent)
        ->async_acquire(
            resource,
            patient,
            boost::asio::bind_executor(
                on.context.get_executor(),
                [&](error_code ec, lease granted) {
                    held = std::move(granted);
                    outcome = ec;
                }
            )
        );
    BOOST_TEST_REQUIRE(run_until(on.context, [&] {
        return (*on.recent)->metrics().rounds > before;
    }));

    BOOST_TEST(on.old->release() >= 2u);

    BOOST_TEST(run_until(on.context, [&] { return outcome.has_value(); }));
    BOOST_TEST(*outcome == error_code());
    BOOST_TEST(held.fence().value() > on.old->token());
    BOOST_TEST((*on.recent)->metrics().woken == 1u);
    BOOST_TEST(on.old->errors() == "");
    run(on.context, held.async_release());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_release_of_a_new_client_wakes_an_old_one, Commit, commits)
{
    mixed_fixture<Commit> on;
    lease held = run(on.context, (*on.recent)->async_acquire(resource, patient));
    BOOST_TEST(!on.old->acquire());
    BOOST_TEST(!on.old->is_woken());

    run(on.context, held.async_release());

    BOOST_TEST(eventually([&] { return on.old->is_woken(); }));
    // The resource is kept for the old client: it is granted without a second try.
    BOOST_TEST(on.old->acquire());
    BOOST_TEST(on.old->token() > held.fence().value());
    BOOST_TEST(on.old->release() >= 2u);
    BOOST_TEST(on.old->errors() == "");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(
    nothing_is_reserved_for_an_old_client_that_has_left_the_queue,
    Commit,
    commits
)
{
    mixed_fixture<Commit> on;
    lease held = on.acquire_everywhere();
    BOOST_TEST(!on.old->acquire());
    on.old->leave();

    run(on.context, held.async_release());

    BOOST_TEST(on.is_granted_to_the_new_one());
    BOOST_TEST(!on.old->is_woken());
    BOOST_TEST(on.old->errors() == "");
}

BOOST_AUTO_TEST_SUITE_END()
