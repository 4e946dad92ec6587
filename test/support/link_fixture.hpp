#ifndef REDLOCK_TEST_SUPPORT_LINK_FIXTURE_HPP
#define REDLOCK_TEST_SUPPORT_LINK_FIXTURE_HPP

#include "node/pipeline.hpp"
#include "node/redis_link.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/printing.hpp"
#include "support/question_of_test.hpp"
#include "support/scripted_connection.hpp"
#include "testing/loop.hpp"
#include "testing/manual_time.hpp"

namespace redlock::test {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using detail::verb;
using std::chrono::nanoseconds;

/// The reply to HELLO.
inline const std::string greeting = "%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n";

/// What a server says that may vote.
inline const std::string healthy =
    "run_id:a\r\nuptime_in_seconds:100\r\nrole:master\r\nsecond_repl_offset:-1\r\n"
    "cluster_enabled:0\r\nmaxmemory:0\r\n";

inline std::string blob(const std::string& text)
{
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

inline client_config plain_config()
{
    client_config config;
    config.nodes.resize(3);
    config.mode = mode::plain;
    return config;
}

inline client_config guarded_config_of_link(bool queue = false)
{
    client_config config;
    config.nodes.resize(3);
    config.waiting.queue = queue;
    return config;
}

/// One link to the first node of `config`, and what it tells.
class link_fixture : private detail::redis_link::owner
{
public:
    explicit link_fixture(client_config config = plain_config())
        : config_(std::move(config)), group(detail::make_link_group(config_))
    {
    }

    link_fixture(const link_fixture&) = delete;
    link_fixture& operator=(const link_fixture&) = delete;
    ~link_fixture() { wire->end({}); }  // Or its alarm would keep it.

    [[nodiscard]] node_config& node() { return config_.nodes[0]; }

    /// Replies to HELLO, INFO of four sections, and a script that is there.
    [[nodiscard]] std::string introduction(
        const std::string& info,
        const std::string& hello = greeting,
        const std::string& script = "$4\r\nhash\r\n"
    ) const
    {
        return hello + blob(info) + blob("") + blob("") + blob("") + script;
    }

    /// Replies to each SCRIPT LOAD.
    void reply_to_scripts(std::string_view reply)
    {
        send(reply);  // To the one that comes last.
        for (const detail::lua_script& each : group.encoder->scripts())
        {
            if (!each.text.empty())
                send(reply);
        }
    }

    /// Starts the link. It connects until `open`.
    void start()
    {
        wire->closing = false;
        link = detail::make_redis_link(
            ground, group, 0, config_.nodes[0], std::make_unique<scripted_connection>(wire)
        );
        link->start(owner());
    }

    /// The fixture, which outlives the link.
    [[nodiscard]] std::shared_ptr<detail::redis_link::owner> owner()
    {
        return {std::shared_ptr<void>(), this};
    }

    void open()
    {
        start();
        wire->owner->on_open();
        settle();
    }

    /// Opens, and is vetted by a healthy server.
    void make_ready()
    {
        open();
        send(introduction(healthy));
        if (group.guarded)
            send(":0\r\n");
        BOOST_TEST_REQUIRE(ready.has_value());
        (void)wire->take();
    }

    /// Ends the turn, and what was closed.
    void settle()
    {
        context.restart();
        context.poll();
        if (wire->closing)
            wire->end(asio::error::operation_aborted);
        context.restart();
        context.poll();
    }

    void send(std::string_view bytes)
    {
        ground.end_of_turn->work([&] { wire->send(bytes); });
        settle();
    }

    void lose(error_code why = asio::error::connection_reset)
    {
        wire->end(why);
        settle();
    }

    void advance(nanoseconds by)
    {
        testing::advance(*time, by, [this] { settle(); });
    }

    question_of_test_ptr ask(verb what, const std::string& key)
    {
        auto asked = make_question(what, key);
        link->ask(asked);
        return asked;
    }

    [[nodiscard]] const detail::link_end& end() const
    {
        BOOST_TEST_REQUIRE(ended.size() == 1u);
        return ended.front();
    }

    asio::io_context context;
    detail::strand_type strand{context.get_executor()};
    std::shared_ptr<testing::manual_time> time = std::make_shared<testing::manual_time>(strand);
    detail::ground ground{
        strand,
        std::make_shared<detail::turn>(context.get_executor(), strand),
        time
    };
    std::shared_ptr<scripted_wire> wire = std::make_shared<scripted_wire>();
    std::optional<detail::admission> ready;
    std::vector<detail::link_end> ended;
    std::vector<nanoseconds> round_trips;
    std::vector<milliseconds> quarantines;
    std::string woken;
    std::string changed;
    std::string next;
    std::string revoked;
    std::vector<std::string> refused;
    std::string lost_releases;
    std::optional<detail::not_marked> marked;

private:
    void on_ready(detail::admission what) override { ready = what; }
    void on_end(detail::link_end why) override { ended.push_back(why); }
    void on_mark_answered(detail::not_marked why) override { marked = why; }
    void on_answered(nanoseconds round_trip) override { round_trips.push_back(round_trip); }
    void on_quarantined(milliseconds left) override { quarantines.push_back(left); }
    void on_lost_release(detail::question_ptr lost) override
    {
        lost_releases += lost->key();
        BOOST_TEST(ended.size() == 1u);  // The owner must know that before it asks again.
    }
    void on_news(const detail::news& told) override
    {
        using kind = detail::news::kind;
        const std::string key = std::string(told.key) + ' ';
        const std::string number = std::to_string(told.number) + ' ';
        switch (told.what)
        {
        case kind::free: woken += key; break;
        case kind::changed: changed += key; break;
        case kind::next: next += key + number; break;
        case kind::revoked: revoked += key + number; break;
        }
    }
    void on_refused(std::string words) override { refused.push_back(words); }

    client_config config_;

public:
    detail::link_group group;
    std::shared_ptr<detail::redis_link> link;
};

/// A link of guarded mode.
struct guarded_link : link_fixture
{
    guarded_link() : link_fixture(guarded_config_of_link()) {}

    void introduce() { send(introduction(healthy)); }
};

/// A link of a client that waits in queues.
struct queueing_link : link_fixture
{
    queueing_link() : link_fixture(guarded_config_of_link(true)) {}

    /// What comes before the question whether the node wakes those who wait.
    void admit()
    {
        open();
        send(introduction(healthy));
        (void)wire->take();
        send(":0\r\n");
    }

    void make_ready()
    {
        admit();
        send(":0\r\n" + confirmation() + "+OK\r\n");
    }

    [[nodiscard]] std::string confirmation() const
    {
        const std::string first = blob("subscribe") + blob(group.guarded->channel());
        const std::string second = blob("subscribe") + blob(group.guarded->next_channel());
        const std::string third = blob("subscribe") + blob(group.guarded->revoked_channel());
        return ">3\r\n" + first + ":1\r\n>3\r\n" + second + ":2\r\n>3\r\n" + third + ":3\r\n";
    }
};

/// A link that is vetted.
struct ready_link : link_fixture
{
    ready_link() { make_ready(); }
};

struct ready_guarded_link : guarded_link
{
    ready_guarded_link() { make_ready(); }
};

}  // namespace redlock::test

#endif
