// Clients of an older version beside those of this one, on the same real servers.

#include <redlock/client.hpp>
#include <redlock/initialize.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
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

/** What a client of commit c70efbe puts on the wire, with one task that wants one resource.

    Nothing of the library is in it, so no change of that changes an old client.
*/
class old_client
{
public:
    old_client(redis_servers& servers, const client_config& config, std::string name)
        : scripts_(make_old_scripts(config)), name_(std::move(name))
    {
        for (std::size_t i = 0; i < servers.size(); ++i)
        {
            nodes_.emplace_back(servers[i].port());
            ears_.emplace_back(servers[i].port());
            static_cast<void>(ears_.back().command({"SUBSCRIBE", "redlock:" + name_}));
            admit(nodes_.back(), detail::make_guard(config)->fingerprint);
        }
    }

    /// Asks each node once. Who is denied waits in the queues from then on.
    bool acquire()
    {
        token_ = std::max(token_ + 1, now());
        id_ = name_ + std::to_string(token_);
        if (!arrival_)
            arrival_ = token_;
        std::size_t granted = 0;
        const std::string granted_by = "(integer) " + std::to_string(token_);
        for (resp_client& each : nodes_)
            granted += eval(each, scripts_.acquire, {stamp(), ttl, place()}) == granted_by;
        if (granted < quorum)
            give_back(place());
        else
            arrival_.reset();
        return granted >= quorum;
    }

    bool extend()
    {
        const std::string asked_at = std::to_string(now());
        std::size_t extended = 0;
        for (resp_client& each : nodes_)
            extended +=
                eval(each, scripts_.extend, {asked_at, ttl, stamp()}) == "(integer) " + asked_at;
        return extended >= quorum;
    }

    /// @return By how many nodes.
    std::size_t release() { return give_back(name_ + ":0"); }

    /// Whether a quorum of nodes has said by now that the resource is free.
    bool is_woken()
    {
        for (resp_client& each : ears_)
            wakes_ += contains(each.command({"PING"}), resource);
        return wakes_ >= quorum;
    }

    [[nodiscard]] std::uint64_t token() const noexcept { return token_; }

    /// Replies that were errors.
    [[nodiscard]] const std::string& errors() const noexcept { return errors_; }

private:
    static constexpr std::size_t quorum = 2;

    static std::uint64_t now()
    {
        const auto since = std::chrono::system_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(std::chrono::microseconds(since / 1us).count());
    }

    [[nodiscard]] std::string stamp() const { return std::to_string(token_); }
    [[nodiscard]] std::string place() const { return name_ + ":" + std::to_string(*arrival_); }

    void admit(resp_client& node, const std::string& fingerprint)
    {
        std::string run_id = node.command({"INFO", "server"});
        run_id = run_id.substr(run_id.find("run_id:") + 7, 40);
        const std::string left = node.command(
            {"EVAL",
             scripts_.admit,
             "2",
             marker_key,
             "redlock:quarantine",
             fingerprint,
             run_id,
             "1000",
             "0"}
        );
        BOOST_TEST_REQUIRE(left == "(integer) 0");
    }

    std::string eval(
        resp_client& node,
        const std::string& script,
        const std::vector<std::string>& values
    )
    {
        std::vector<std::string> command{"EVAL", script, "1", resource, id_};
        command.insert(command.end(), values.begin(), values.end());
        std::string reply = node.command(command);
        if (reply.starts_with('-'))
            errors_ += reply + '\n';
        return reply;
    }

    std::size_t give_back(const std::string& place)
    {
        std::size_t released = 0;
        for (resp_client& each : nodes_)
            released += eval(each, scripts_.release, {stamp(), place}) == "(integer) 1";
        return released;
    }

    old_scripts scripts_;
    std::string name_;
    std::deque<resp_client> nodes_;
    std::deque<resp_client> ears_;
    std::string id_;
    std::uint64_t token_ = 0;
    std::optional<std::uint64_t> arrival_;
    std::size_t wakes_ = 0;
    std::string errors_;
};

/// Servers, and clients of both versions that ask again by themselves only after a long time.
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

    redis_servers servers;
    loop context;
    client_config config;
    std::optional<old_client> old;
    std::optional<client_runner> recent;
};

}  // namespace

BOOST_AUTO_TEST_CASE(old_and_new_clients_exclude_each_other_and_their_tokens_increase)
{
    mixed_fixture on;
    old_client& old = *on.old;
    std::uint64_t last = 0;
    for (int round = 0; round < 3; ++round)
    {
        BOOST_TEST_REQUIRE(old.acquire());
        BOOST_TEST(old.token() > last);
        BOOST_TEST(!run(on.context, (*on.recent)->async_try_acquire(resource, patient)));
        const holding seen = run(on.context, (*on.recent)->async_inspect(resource));
        BOOST_TEST(seen.state == holding_state::held);
        BOOST_TEST(seen.agree >= 2u);  // A release of the new client ends with a quorum.
        BOOST_TEST(seen.note.empty());
        BOOST_TEST(!seen.token);
        BOOST_TEST(old.extend());
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

BOOST_AUTO_TEST_CASE(an_old_client_respects_a_grace_and_what_is_kept)
{
    mixed_fixture on;
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
    BOOST_TEST(!run(on.context, (*on.recent)->async_try_acquire(resource, patient)));
    BOOST_TEST(on.old->release() >= 2u);
    BOOST_TEST(on.old->errors() == "");
}

BOOST_AUTO_TEST_CASE(the_release_of_an_old_client_wakes_a_new_one)
{
    mixed_fixture on;
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

BOOST_AUTO_TEST_CASE(the_release_of_a_new_client_wakes_an_old_one)
{
    mixed_fixture on;
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

BOOST_AUTO_TEST_SUITE_END()
