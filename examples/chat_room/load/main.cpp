// Lets many members talk all the time, and checks what became of their messages. See --help.

#include "chat_room/client/scripted_member.hpp"
#include "chat_room/load/delays.hpp"
#include "chat_room/load/late_crowd.hpp"
#include "chat_room/stage/stage.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

struct load_options
{
    std::size_t members = 200;
    std::size_t rooms = 50;
    std::size_t servers = 3;
    unsigned seconds = 60;
    double rate = 1;          ///< Messages of a member in a second.
    std::size_t joiners = 0;  ///< If there are any, `run_late_crowd` runs instead.
    std::size_t history = 2000;
};

/// The part of the run after which memory is compared: by then all rooms and buffers exist.
constexpr double warm_up = 0.25;

/// More than this is not steady.
constexpr double most_growth = 1.1;
constexpr std::size_t slack = 8U << 20;

/// Members, and the time that messages took to reach each of them. All of it is on one clock.
class crowd
{
public:
    crowd(chat::stage& on, const load_options& how) : how_(how)
    {
        for (std::size_t index = 0; index < how.members; ++index)
        {
            auto& added = members_.emplace_back(
                context_.get_executor(),
                on.ports(index % on.size()),
                room(index),
                "member " + std::to_string(index)
            );
            added.on_message = [this](const chat::heard& what) { took_.add(what.text); };
            added.start();
        }
    }

    [[nodiscard]] bool all_joined(std::chrono::seconds limit)
    {
        return run_until(
            [this] { return std::ranges::all_of(members_, &chat::scripted_member::is_joined); },
            limit
        );
    }

    /// Everyone talks, at random moments.
    void talk(std::chrono::milliseconds time)
    {
        const auto end = steady_clock::now() + time;
        std::exponential_distribution<double> pause(how_.rate * how_.members);
        auto next = steady_clock::now();
        while (next < end)
        {
            context_.poll();  // Also when it is late: hearing is as urgent as talking.
            if (steady_clock::now() < next)
            {
                context_.run_one_until(next);
                continue;
            }
            members_[random_() % members_.size()].say(chat::text_of_now());
            ++said_;
            const std::chrono::duration<double> rest(pause(random_));
            next += std::chrono::duration_cast<steady_clock::duration>(rest);
        }
    }

    /// Waits until everyone has heard what was said last.
    [[nodiscard]] bool settle(std::chrono::seconds limit)
    {
        return run_until([this] { return unheard() == 0; }, limit) &&
               run_until([this] { return histories_agree(); }, limit);
    }

    void leave()
    {
        for (chat::scripted_member& each : members_)
            each.stop();
        run_until(
            [this] { return std::ranges::all_of(members_, &chat::scripted_member::is_done); }, 10s
        );
    }

    [[nodiscard]] std::size_t said() const { return said_; }
    [[nodiscard]] std::size_t unheard() const
    {
        std::size_t count = 0;
        for (const chat::scripted_member& each : members_)
            count += each.unheard();
        return count;
    }

    /// Numbers that don't follow the one before, over all members.
    [[nodiscard]] std::size_t gaps_or_doubles() const
    {
        std::size_t count = 0;
        for (const chat::scripted_member& each : members_)
        {
            for (std::size_t index = 0; index < each.all().size(); ++index)
                count += each.all()[index].seq != index + 1;
        }
        return count;
    }

    /// Messages that are in a room more or less often than they were said.
    [[nodiscard]] std::size_t difference() const
    {
        std::map<std::string, std::size_t> heard;
        for (std::size_t index = 0; index < std::min(how_.rooms, members_.size()); ++index)
        {
            for (const chat::heard& each : members_[index].all())
                ++heard[each.id];
        }
        std::size_t doubled = 0;
        for (const auto& [id, count] : heard)
            doubled += count - 1;
        return doubled + (said_ > heard.size() ? said_ - heard.size() : heard.size() - said_);
    }

    [[nodiscard]] json::object delivery() const { return took_.to_json(); }

    [[nodiscard]] std::size_t reconnections() const
    {
        std::size_t count = 0;
        for (const chat::scripted_member& each : members_)
            count += each.reconnections();
        return count;
    }

private:
    [[nodiscard]] std::string room(std::size_t member) const
    {
        return "room-" + std::to_string(member % how_.rooms);
    }

    [[nodiscard]] bool histories_agree() const
    {
        for (std::size_t index = how_.rooms; index < members_.size(); ++index)
        {
            if (members_[index].all().size() != members_[index % how_.rooms].all().size())
                return false;
        }
        return true;
    }

    template <class F>
    bool run_until(F condition, std::chrono::seconds limit)
    {
        const auto give_up = steady_clock::now() + limit;
        while (!condition() && steady_clock::now() < give_up)
            context_.run_for(10ms);
        return condition();
    }

    load_options how_;
    asio::io_context context_;
    std::deque<chat::scripted_member> members_;
    chat::delays took_;
    std::size_t said_ = 0;
    std::mt19937_64 random_{std::random_device()()};
};

std::vector<std::size_t> memory(chat::stage& on)
{
    std::vector<std::size_t> all;
    for (const chat::server_process& each : on)
        all.push_back(each.memory());
    return all;
}

bool is_steady(const std::vector<std::size_t>& early, const std::vector<std::size_t>& late)
{
    for (std::size_t index = 0; index < early.size(); ++index)
    {
        if (static_cast<double>(late[index]) > early[index] * most_growth + slack)
            return false;
    }
    return true;
}

json::array in_mb(const std::vector<std::size_t>& bytes)
{
    json::array all;
    for (const std::size_t each : bytes)
        all.push_back(static_cast<double>(each >> 10) / 1024);
    return all;
}

double total(chat::stage& on, const std::string& name)
{
    double sum = 0;
    for (const chat::server_process& each : on)
        sum += each.measure(name);
    return sum;
}

/// @return Whether nothing was lost or doubled and the memory is steady.
bool run(const load_options& how)
{
    chat::stage on({.servers = how.servers});
    crowd all(on, how);
    if (!all.all_joined(30s))
        throw std::runtime_error("some members could not join");
    const auto time = std::chrono::milliseconds(how.seconds * 1000);
    const auto first_part = std::chrono::duration_cast<std::chrono::milliseconds>(time * warm_up);
    all.talk(first_part);
    const auto early = memory(on);
    all.talk(time - first_part);
    const bool settled = all.settle(30s);
    const auto late = memory(on);

    const bool complete = settled && all.difference() == 0 && all.gaps_or_doubles() == 0;
    const bool steady = is_steady(early, late);
    const json::object result{
        {"members", how.members},
        {"rooms", how.rooms},
        {"servers", how.servers},
        {"seconds", how.seconds},
        {"said", all.said()},
        {"unheard", all.unheard()},
        {"lost_or_doubled", all.difference()},
        {"gaps", all.gaps_or_doubles()},
        {"delivery", all.delivery()},
        {"reconnections", all.reconnections()},
        {"stale_writes_refused", total(on, "chat_stale_writes_refused_total")},
        {"coordinator_terms", total(on, "chat_terms_total")},
        {"memory_mb_early", in_mb(early)},
        {"memory_mb_late", in_mb(late)},
        {"memory_steady", steady},
        {"ok", complete && steady},
    };
    std::cout << json::serialize(result) << std::endl;
    all.leave();
    return complete && steady;
}

}  // namespace

int main(int argc, char** argv)
{
    load_options how;
    CLI::App app("Lets many members talk in the chat, and prints the result as JSON.");
    app.add_option("--members", how.members)->check(CLI::Range(1, 2000))->capture_default_str();
    app.add_option("--rooms", how.rooms)->check(CLI::Range(1, 200))->capture_default_str();
    app.add_option("--servers", how.servers)->check(CLI::Range(1, 9))->capture_default_str();
    app.add_option("--seconds", how.seconds)->check(CLI::Range(1, 3600))->capture_default_str();
    app.add_option("--rate", how.rate, "messages per second of each member")
        ->check(CLI::Range(0.01, 50.0))
        ->capture_default_str();
    app.add_option("--joiners", how.joiners, "instead, this many join a room with a long history")
        ->check(CLI::Range(1, 900));
    app.add_option("--history", how.history, "messages in that room, of the greatest length")
        ->check(CLI::Range(1, 9000))
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try
    {
        if (how.joiners > 0)
            return chat::run_late_crowd({how.joiners, how.history, how.servers}) ? 0 : 1;
        return run(how) ? 0 : 1;
    }
    catch (const std::exception& error)
    {
        std::cerr << "chat_load: " << error.what() << std::endl;
        return 1;
    }
}
