#include "chat_room/load/late_crowd.hpp"

#include "chat_room/client/catch_up.hpp"
#include "chat_room/client/scripted_member.hpp"
#include "chat_room/load/delays.hpp"
#include "chat_room/stage/stage.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

namespace chat {

namespace json = boost::json;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

constexpr const char* crowded = "crowded";
constexpr const char* quiet = "quiet";

/// How often someone says something in the quiet room.
constexpr auto talking_interval = 20ms;

/// How long the two talk before the others come, for comparison.
constexpr auto calm_time = 5s;

/// A longer delay is not a small one.
constexpr double most_p99_ms = 250;

constexpr auto patience = 600s;

/// The longest text in bytes that a room takes.
std::string longest_text()
{
    std::string text;
    for (int count = 0; count < 2000; ++count)
        text += "\U0001F600";
    return text;
}

/// Members that run in the calling thread.
class residents
{
public:
    explicit residents(stage& on)
        : writer_(context_.get_executor(), on.ports(0), crowded, "Writer"),
          ada_(context_.get_executor(), on.ports(0), quiet, "Ada"),
          bob_(context_.get_executor(), on.ports(0), quiet, "Bob")
    {
        for (scripted_member* const each : {&writer_, &ada_, &bob_})
        {
            each->on_status = [this](const std::string& status) {
                told_down_ += status.find(R"("store":"down")") != std::string::npos;
            };
            each->start();
        }
    }

    /// Writes the history.
    void write(std::size_t messages)
    {
        for (std::size_t count = 0; count < messages; ++count)
            writer_.say(longest_text());
        if (!run_until([this] { return writer_.unheard() == 0; }))
            throw std::runtime_error("the history could not be written");
    }

    /// Ada talks to Bob until `done`. @return How long it took until he heard her.
    template <class F>
    delays talk_until(F done)
    {
        delays took;
        bob_.on_message = [&took](const heard& what) { took.add(what.text); };
        auto next = steady_clock::now();
        const bool ended = run_until([&] {
            if (steady_clock::now() >= next)
            {
                ada_.say(text_of_now());
                next += talking_interval;
            }
            return done();
        });
        const bool all_heard = run_until([this] {
            return ada_.unheard() == 0 && bob_.all().size() == ada_.all().size();
        });
        bob_.on_message = nullptr;
        if (!ended || !all_heard)
            throw std::runtime_error("it takes too long");
        return took;
    }

    void leave()
    {
        for (scripted_member* const each : {&writer_, &ada_, &bob_})
            each->stop();
        run_until([this] { return writer_.is_done() && ada_.is_done() && bob_.is_done(); });
    }

    /// Coordinators of both rooms, and connections that were lost.
    [[nodiscard]] std::size_t coordinators() const
    {
        return writer_.coordinators().size() + bob_.coordinators().size();
    }

    [[nodiscard]] std::size_t reconnections() const
    {
        return writer_.reconnections() + ada_.reconnections() + bob_.reconnections();
    }

    /// How often one of the members was told that the store is down.
    [[nodiscard]] std::size_t told_down() const noexcept { return told_down_; }

private:
    template <class F>
    bool run_until(F condition)
    {
        const auto give_up = steady_clock::now() + patience;
        while (!condition() && steady_clock::now() < give_up)
            context_.run_one_for(1ms);
        return condition();
    }

    boost::asio::io_context context_;
    scripted_member writer_;
    scripted_member ada_;
    scripted_member bob_;
    std::size_t told_down_ = 0;
};

/// The late members, in a separate thread, so that nobody else waits for what they read.
class late_crowd
{
public:
    late_crowd(stage& on, const late_crowd_options& how) : left_(how.joiners)
    {
        for (std::size_t index = 0; index < how.joiners; ++index)
        {
            boost::asio::co_spawn(
                context_,
                catch_up(on[index % on.size()].port(), crowded, how.history),
                [this](const std::exception_ptr& failure, std::size_t count) {
                    note(failure, count);
                }
            );
        }
        thread_ = std::jthread([this] { context_.run(); });
    }

    [[nodiscard]] bool is_there() const { return left_ == 0; }
    [[nodiscard]] std::size_t heard() const { return heard_; }

private:
    void note(const std::exception_ptr& failure, std::size_t count)
    {
        heard_ += count;
        try
        {
            if (failure)
                std::rethrow_exception(failure);
        }
        catch (const std::exception& error)
        {
            std::cerr << "a member could not join: " << error.what() << std::endl;
        }
        --left_;
    }

    boost::asio::io_context context_;
    std::atomic<std::size_t> left_;
    std::atomic<std::size_t> heard_{0};
    std::jthread thread_;
};

std::size_t greatest_memory(stage& on)
{
    std::size_t most = 0;
    for (const server_process& each : on)
        most = std::max(most, each.memory());
    return most;
}

}  // namespace

bool run_late_crowd(const late_crowd_options& how)
{
    stage on({.servers = how.servers, .more = {"--rate", "100000", "--burst", "100000"}});
    residents all(on);
    all.write(how.history);
    const auto calm_end = steady_clock::now() + calm_time;
    const delays before = all.talk_until([&] { return steady_clock::now() >= calm_end; });
    const std::size_t early = greatest_memory(on);
    const std::size_t coordinators = all.coordinators();

    const auto start = steady_clock::now();
    late_crowd crowd(on, how);
    const delays meanwhile = all.talk_until([&] { return crowd.is_there(); });
    const std::chrono::duration<double> taken = steady_clock::now() - start;

    const bool complete = crowd.heard() == how.joiners * how.history;
    const std::size_t new_coordinators = all.coordinators() - coordinators;
    const bool undisturbed = meanwhile.percentile(0.99) <= most_p99_ms && all.told_down() == 0 &&
                             new_coordinators == 0 && all.reconnections() == 0;
    const json::object result{
        {"joiners", how.joiners},
        {"history", how.history},
        {"servers", how.servers},
        {"seconds", taken.count()},
        {"history_heard", crowd.heard()},
        {"elsewhere_before", before.to_json()},
        {"elsewhere_meanwhile", meanwhile.to_json()},
        {"told_that_the_store_is_down", all.told_down()},
        {"new_coordinators", new_coordinators},
        {"reconnections", all.reconnections()},
        {"memory_mb_before", early >> 20},
        {"memory_mb_after", greatest_memory(on) >> 20},
        {"ok", complete && undisturbed},
    };
    std::cout << json::serialize(result) << std::endl;
    all.leave();
    return complete && undisturbed;
}

}  // namespace chat
