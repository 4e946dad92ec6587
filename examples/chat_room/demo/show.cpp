#include "chat_room/demo/show.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

namespace chat {

namespace json = boost::json;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

constexpr std::size_t most_lines = 100;
constexpr auto glance = 50ms;

/// How long a process is frozen: its lease ends, and another server has time to act.
constexpr auto standstill = show_ttl + 500ms;
constexpr auto cut_time = 8s;

/// When a process that has ended is started again.
constexpr auto mourning = 5s;

constexpr auto clock_step = 60s;

constexpr std::array lines_of_members{
    "Is the pilot of the Aurora on board already?",
    "Since 06:10. We're waiting for the tide.",
    "Berth 4 is free, by the way.",
    "The crane there has a red light.",
    "It was the brake last week.",
    "I'll ask someone to look at it.",
    "A lamp this time, not the brake.",
    "Berth 4 it is, then.",
    "How long until high water?",
    "Twenty minutes.",
    "The tug is late again.",
    "It is on its way.",
};

std::string in_seconds(double ms)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", ms / 1000);
    return text;
}

template <class Duration>
std::string in_seconds(Duration time)
{
    return in_seconds(static_cast<double>(time / 1ms));
}

std::string text_of(const json::object& from, const char* member)
{
    return std::string(from.at(member).as_string());
}

std::uint64_t number_of(const json::value& from, const char* member)
{
    return from.at(member).to_number<std::uint64_t>();
}

json::object to_json(const std::string& name, pid_t pid, bool ended, bool stopped)
{
    return {
        {"name", name},
        {"pid", pid},
        {"state",
         ended     ? "ended"
         : stopped ? "stands still"
                   : "runs"},
    };
}

bool is_stopped(pid_t pid)
{
    const std::string line = redlock::test::read_file("/proc/" + std::to_string(pid) + "/stat");
    return line.find(") T ") != std::string::npos;
}

}  // namespace

show::show(const asio::any_io_executor& executor, const std::string& controls)
    : on({
          .servers = 3,
          .ttl = show_ttl,
          .more = {"--controls", controls, "--unfenced", "lobby"},
          .to_nodes = stage_options::road::through_proxy,
          .environment = clock_.environment(),
      }),
      ada(executor, on.ports(0), "lobby", "Ada"),
      bob(executor, on.ports(1), "lobby", "Bob"),
      executor_(executor),
      ended_(on.size() + on.nodes.size() + 1)
{
    for (scripted_member* const each : {&ada, &bob})
    {
        each->on_event = [this](const json::object& told) { on_event(told); };
        each->on_status = [this](const std::string& told) { look_at(told); };
    }
}

void show::start()
{
    ada.start();
    bob.start();
    asio::co_spawn(executor_, watch(), asio::detached);
    asio::co_spawn(executor_, talk(), asio::detached);
}

void show::stop()
{
    stopped_ = true;
    ada.stop();
    bob.stop();
}

const std::vector<show::action>& show::actions()
{
    static const std::vector<action> all{
        {"freeze", "Freeze the coordinator", &show::freeze},
        {"kill", "Kill the coordinator", &show::kill},
        {"freeze-before-write", "Freeze it just before its write", &show::freeze_before_write},
        {"cut-1", "Cut off one lock node", &show::cut_one},
        {"cut-2", "Cut off two", &show::cut_two},
        {"cut-3", "Cut off three", &show::cut_three},
        {"step-clock", "Step the clock of a node", &show::step_clock},
        {"kill-store", "Kill the message store", &show::kill_store},
        {"restart-all", "Restart everything", &show::restart_all},
    };
    return all;
}

std::string show::perform(std::string_view name)
{
    const auto found = std::ranges::find(actions(), name, &action::name);
    if (found == actions().end())
        return "there is no '" + std::string(name) + "'";
    if (!busy_.empty())
        return "wait until '" + busy_ + "' is over";
    busy_ = name;
    asio::co_spawn(executor_, (this->*found->run)(), [this](const std::exception_ptr& failure) {
        busy_.clear();
        if (failure)
            tell("effect", "That didn't work. Try again.");
        tell_state();
    });
    tell_state();
    return {};
}

asio::awaitable<void> show::freeze()
{
    server_process* const which = in_charge();
    if (which == nullptr)
        co_return tell("effect", "Nobody is in charge, so there is nobody to freeze.");
    which->pause();
    tell("action", which->name() + " is frozen (SIGSTOP). Its lease still runs.");
    const auto stopped = steady_clock::now();
    co_await wait(standstill);
    which->resume();
    const std::string time = in_seconds(steady_clock::now() - stopped);
    tell("effect", which->name() + " resumes after " + time + " and sees that its lease is over.");
}

asio::awaitable<void> show::freeze_before_write()
{
    server_process* const which = in_charge();
    if (which == nullptr)
        co_return tell("effect", "Nobody is in charge, so there is nobody to freeze.");
    const std::uint64_t fence = fence_;
    std::ofstream(which->stall_file()) << "stall";
    scripted_member& other = which == &on[0] ? bob : ada;
    other.say("Who writes this down?");
    if (!co_await until([which] { return which->is_stopped(); }, 5s))
    {
        std::filesystem::remove(which->stall_file());
        co_return tell("effect", which->name() + " had nothing to write. Try again.");
    }
    const auto stopped = steady_clock::now();
    tell("action", which->name() + " is frozen between its check of the lease and its write.");
    co_await wait(standstill);
    co_await until([&] { return fence_ > fence; }, show_ttl);
    co_await wait(2 * glance);  // The successor empties the inbox first of all.
    tell(
        "effect",
        which->name() + " resumes after " + in_seconds(steady_clock::now() - stopped) +
            ", and carries out its write."
    );
    which->resume();
}

asio::awaitable<void> show::kill()
{
    server_process* const which = in_charge();
    if (which == nullptr)
        co_return tell("effect", "Nobody is in charge, so there is nobody to kill.");
    const std::uint64_t fence = fence_;
    which->kill();
    tell("action", which->name() + " is killed (SIGKILL). Its lease still runs.");
    co_await until([&] { return fence_ > fence; }, 2 * show_ttl);
}

asio::awaitable<void> show::cut(std::size_t count)
{
    for (std::size_t index = 0; index < count; ++index)
        on.roads[index].blackhole();
    const std::string nodes =
        count == 1 ? "One lock node is" : std::to_string(count) + " lock nodes are";
    tell("action", nodes + " cut off for " + in_seconds(cut_time) + ".");
    co_await wait(cut_time);
    for (std::size_t index = 0; index < count; ++index)
    {
        on.roads[index].reset_all();
        on.roads[index].pass();
    }
    tell("effect", nodes + " reachable again.");
}

asio::awaitable<void> show::step_clock()
{
    const std::uint64_t fence = fence_;
    clock_.set_offset(clock_step);
    tell("action", "The clock of lock node 5 jumps " + in_seconds(clock_step) + " ahead.");
    co_await wait(2 * show_ttl);
    if (fence_ == fence)
        tell("effect", coordinator_ + " is still in charge: the other four are a quorum.");
    clock_.set_offset(0s);
    tell("effect", "The clock of lock node 5 is right again.");
}

asio::awaitable<void> show::kill_store()
{
    on.store.kill();
    tell("action", "The message store is killed (SIGKILL). Its messages are on disk.");
    co_await until([this] { return !on.store.has_ended(); }, 2 * mourning);
}

asio::awaitable<void> show::restart_all()
{
    tell("action", "Everything is killed and started again: servers, lock nodes, store.");
    for (server_process& each : on)
        each.kill();
    for (redlock::test::redis_server& each : on.nodes)
        each.kill();
    on.store.kill();
    for (redlock::test::redis_server& each : on.nodes)
        each.start();
    on.store.start();
    for (server_process& each : on)
        on.start(each);
    tell("effect", "The lock nodes may have lost leases, so they sit out the longest one.");
    const std::uint64_t fence = fence_;
    co_await until([&] { return fence_ > fence; }, 45s);
}

asio::awaitable<void> show::watch()
{
    while (!stopped_)
    {
        start_what_ended();
        tell_state();
        co_await wait(glance);
    }
}

asio::awaitable<void> show::talk()
{
    constexpr auto pause = 4s;
    for (std::size_t index = 0; !stopped_;)
    {
        scripted_member& who = index % 2 == 0 ? ada : bob;
        if (co_await until([&who] { return who.unheard() == 0 && who.is_joined(); }, pause))
            who.say(lines_of_members[index++ % lines_of_members.size()]);
        co_await wait(pause);
    }
}

/// Starts what has ended again, for whatever reason it ended.
void show::start_what_ended()
{
    std::size_t place = 0;
    const auto mend = [this, &place](const std::string& name, auto& process, const auto& start) {
        auto& since = ended_[place++];
        if (!process.has_ended())
            return void(since = {});
        const auto now = steady_clock::now();
        if (since == steady_clock::time_point())
            since = now;
        if (now - since < mourning)
            return;
        start();
        const std::string pid = std::to_string(process.pid());
        tell("effect", name + " is started again, as process " + pid + ".");
    };
    for (server_process& each : on)
        mend(each.name(), each, [&] { on.start(each); });
    for (std::size_t index = 0; index < on.nodes.size(); ++index)
    {
        auto& node = on.nodes[index];
        mend("Lock node " + std::to_string(index + 1), node, [&] { node.start(); });
    }
    mend("The message store", on.store, [this] { on.store.start(); });
}

/// Reports what members see, once.
void show::look_at(const std::string& status)
{
    const json::value told = json::parse(status);
    const std::string store(told.at("store").as_string());
    if (std::exchange(store_, store) != store)
        tell("effect", "The message store is " + store + ".");
    std::uint64_t votes = 0;
    for (const json::value& each : told.at("nodes").as_array())
        votes += each.at("state").as_string() == "ready";
    if (std::exchange(votes_, votes) == votes)
        return;
    const std::string text = std::to_string(votes) + " of 5 lock nodes vote";
    tell("effect", text + (votes < 3 ? ": no quorum." : votes < 5 ? ": a quorum." : "."));
}

void show::on_event(const json::object& told)
{
    if (told.at("type").as_string() == "refusal")
    {
        if (std::exchange(refused_at_, number_of(told, "at")) == number_of(told, "at"))
            return;
        tell(
            "refusal",
            text_of(told, "server") + " woke after " +
                in_seconds(static_cast<double>(number_of(told, "slept"))) +
                " and tried to write with token #" + std::to_string(number_of(told, "number")) +
                "; the room has seen #" + std::to_string(number_of(told.at("seen"), "number")) +
                ": refused."
        );
        return;
    }
    if (number_of(told, "fence") <= fence_)
        return;
    fence_ = number_of(told, "fence");
    coordinator_ = text_of(told, "server");
    std::string text = coordinator_ + " is in charge now, with token #" +
                       std::to_string(number_of(told, "number"));
    if (told.at("previous").is_object() && !told.at("previous").at("heard").is_null())
    {
        const std::uint64_t heard = number_of(told.at("previous"), "heard");
        const auto without = static_cast<double>(number_of(told, "since") - heard);
        text += ", " + in_seconds(without) + " after the last sign of the one before";
    }
    tell("effect", text + ".");
}

void show::tell(std::string_view kind, const std::string& text)
{
    const auto now = std::chrono::system_clock::now().time_since_epoch() / 1ms;
    lines_.push_back(
        json::serialize(json::object{{"type", "line"}, {"at", now}, {"kind", kind}, {"text", text}})
    );
    if (lines_.size() > most_lines)
        lines_.pop_front();
    if (on_news)
        on_news(lines_.back());
}

void show::tell_state()
{
    const std::string now = state();
    if (std::exchange(told_state_, now) != now && on_news)
        on_news(told_state_);
}

std::string show::state()
{
    json::array processes;
    for (server_process& each : on)
        processes.push_back(to_json(each.name(), each.pid(), each.has_ended(), each.is_stopped()));
    for (std::size_t index = 0; index < on.nodes.size(); ++index)
    {
        auto& node = on.nodes[index];
        const std::string name = "lock node " + std::to_string(index + 1);
        processes.push_back(to_json(name, node.pid(), node.has_ended(), is_stopped(node.pid())));
    }
    const pid_t store = on.store.pid();
    processes.push_back(to_json("message store", store, on.store.has_ended(), is_stopped(store)));
    json::array can;
    for (const action& each : actions())
        can.push_back({{"name", each.name}, {"label", each.label}});
    return json::serialize(json::object{
        {"type", "stage"},
        {"room", "lobby"},
        {"copy", "lobby-without-fence"},
        {"busy", busy_},
        {"actions", std::move(can)},
        {"processes", std::move(processes)},
    });
}

/// Null: no running server is.
server_process* show::in_charge()
{
    if (coordinator_.empty())
        return nullptr;
    server_process& found = on.find(coordinator_);
    return found.has_ended() || found.is_stopped() ? nullptr : &found;
}

asio::awaitable<bool> show::until(std::function<bool()> condition, std::chrono::milliseconds limit)
{
    const auto give_up = steady_clock::now() + limit;
    while (!condition())
    {
        if (stopped_ || steady_clock::now() >= give_up)
            co_return false;
        asio::steady_timer timer(executor_, glance);
        co_await timer.async_wait(asio::use_awaitable);
    }
    co_return true;
}

/// Ends early when the show does.
asio::awaitable<void> show::wait(std::chrono::milliseconds time)
{
    co_await until([] { return false; }, time);
}

}  // namespace chat
