#include "chaos/rolling_holders.hpp"

#include <redlock/error.hpp>
#include <redlock/observer.hpp>
#include <redlock/options.hpp>
#include <redlock/with_lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <utility>

#include "support/eventually.hpp"

namespace redlock::test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto time_between_beats = 10ms;
constexpr auto stall_to_note = 100ms;

constexpr std::size_t holds_of_a_kind = 2;  ///< For each ttl.

/// Notes what a client says about its leases.
class noting_observer final : public observer
{
public:
    explicit noting_observer(journal& to) : to_(to) {}

    void on_extended(const extended_event& event) noexcept override
    {
        if (event.code)
            to_.note(std::string(event.resource) + " isn't extended: " + event.code.message());
    }

    void on_lost(const lost_event& event) noexcept override
    {
        to_.fault(
            "lost",
            std::string(event.resource) + ": " + event.code.message() +
                ", last extension: " + event.because.message()
        );
    }

private:
    journal& to_;
};

client_config observed(client_config config, const std::string& name, journal& by)
{
    config.observer = std::make_shared<noting_observer>(by);
    config.log = [name, &by](log_level, std::string_view line) {
        by.note(name + ": " + std::string(line));
    };
    return config;
}

std::string in_milliseconds(milliseconds time)
{
    return std::to_string(time.count()) + "ms";
}

}  // namespace

void journal::note(std::string_view text)
{
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    std::array<char, 32> time{};
    std::snprintf(time.data(), time.size(), "%9.3f ", passed.count());
    const std::lock_guard lock(mutex_);
    (text_ += time.data()).append(text) += '\n';
}

void journal::fault(const std::string& kind, std::string_view text)
{
    note("FAULT, " + kind + ": " + std::string(text));
    const std::lock_guard lock(mutex_);
    ++faults_[kind];
}

std::string journal::text() const
{
    const std::lock_guard lock(mutex_);
    return text_;
}

std::map<std::string, std::size_t> journal::faults() const
{
    const std::lock_guard lock(mutex_);
    return faults_;
}

void worker_thread::stop()
{
    context_.stop();
    if (thread_.joinable())
        thread_.join();
}

pulse::pulse(journal& notes) : notes_(notes)
{
    asio::post(thread_.context(), [this] { beat(); });
}

void pulse::beat()
{
    timer_.expires_after(time_between_beats);
    timer_.async_wait([this](error_code) {
        const auto late = std::chrono::steady_clock::now() - timer_.expiry();
        const auto stall = std::chrono::round<milliseconds>(late);
        if (stall >= stall_to_note)
            notes_.note("the machine stood still for " + std::to_string(stall.count()) + " ms");
        longest_ = std::max(longest_.load(), stall);
        beat();
    });
}

child_process redlock_program::start(
    std::vector<std::string> arguments,
    const std::filesystem::path& output
) const
{
    arguments.insert(arguments.begin(), "redlock");
    return child_process({
        .program = REDLOCK_TOOL,
        .arguments = std::move(arguments),
        .environment = {"REDLOCK_NODES=" + nodes_},
        .output = output,
    });
}

rolling_holders::rolling_holders(
    const rolling_settings& settings,
    const client_config& config,
    const redlock_program& program,
    journal& notes
)
    : notes_(notes),
      nodes_(config.nodes.size()),
      blocking_(observed(config, "blocking client", notes)),
      locks_(thread_.context(), observed(config, "client", notes)),
      over_(thread_.context(), asio::steady_timer::time_point::max())
{
    locks_.async_run(asio::detached);
    for (const milliseconds ttl : {settings.ttl, settings.ttl_max})
    {
        for (std::size_t count = 0; count < holds_of_a_kind; ++count)
        {
            for (const char* command : {"run", "lead"})
                start_program(program, command, ttl, settings.ttl_max);
            start_others(ttl);
        }
    }
}

rolling_holders::~rolling_holders()
{
    thread_.stop();
}

void rolling_holders::start_program(
    const redlock_program& program,
    const char* command,
    milliseconds ttl,
    milliseconds ttl_max
)
{
    const std::string resource = name(command, ttl);
    const std::filesystem::path output = folder_.path() / resource;
    const std::vector<std::string> arguments{
        command,
        resource,
        "--ttl",
        in_milliseconds(ttl),
        "--ttl-max",
        in_milliseconds(ttl_max),
        "--",
        "sleep",
        "86400",
    };
    programs_.push_back({resource, output, program.start(arguments, output)});
}

void rolling_holders::start_others(milliseconds ttl)
{
    const acquire_options how{.ttl = ttl, .wait = 10s, .auto_extend = true, .hold_max = forever};
    blocking_leases_.push_back(blocking_.acquire(name("blocking", ttl), how));
    lease& held = leases_.emplace_back();
    std::atomic<bool> done = false;
    locks_.async_acquire(name("auto_extend", ttl), how, [&](error_code ec, lease got) {
        if (ec)
            notes_.fault("not acquired", ec.message());
        held = std::move(got);
        done = true;
    });
    static_cast<void>(eventually([&] { return done.load(); }, 20s));
    asio::co_spawn(thread_.context(), hold(name("with_lock", ttl), ttl), asio::detached);
}

asio::awaitable<void> rolling_holders::hold(std::string resource, milliseconds ttl)
{
    const auto body = [this](lease&) -> asio::awaitable<void> {
        const auto ended = co_await over_.async_wait(asio::as_tuple(asio::use_awaitable));
        static_cast<void>(ended);
    };
    const acquire_options how{.ttl = ttl, .hold_max = forever};
    std::string failure;
    try
    {
        co_await with_lock(locks_, resource, how, body);
    }
    catch (const boost::system::system_error& thrown)
    {
        failure = thrown.what();
    }
    if (!ending_)
        notes_.fault("body ended", resource + " " + failure);
}

std::string rolling_holders::name(const std::string& kind, milliseconds ttl)
{
    const std::string number = std::to_string(resources_.size());
    return resources_.emplace_back(kind + '-' + in_milliseconds(ttl) + '-' + number);
}

bool rolling_holders::all_have_all_votes() const
{
    const auto has_all = [this](const lease& each) { return each.votes() == nodes_; };
    return locks_.metrics().at_risk == 0 && blocking_.metrics().at_risk == 0 &&
           std::ranges::all_of(leases_, has_all);
}

void rolling_holders::check_programs()
{
    for (running& each : programs_)
    {
        const std::string said = read_file(each.output);
        const bool stopped = said.find("the command was stopped") != said.npos;
        if (each.lost || !(each.process.has_ended() || stopped))
            continue;
        each.lost = true;
        notes_.fault("lost", each.resource + " by a program, which said: " + said);
    }
}

void rolling_holders::end()
{
    ending_ = true;
    for (running& each : programs_)
    {
        if (!each.process.has_ended())
            ::kill(each.process.pid(), SIGTERM);
    }
    for (running& each : programs_)
    {
        if (!eventually([&] { return each.process.has_ended(); }, 10s))
            notes_.fault("no end", each.resource);
    }
    asio::post(thread_.context(), [this] { over_.cancel(); });
    leases_.clear();
    blocking_leases_.clear();
}

rolling_waiters::rolling_waiters(
    const rolling_settings& settings,
    const client_config& config,
    const std::vector<std::string>& resources,
    journal& notes
)
    : notes_(notes)
{
    for (std::size_t number = 0; number < settings.waiters; ++number)
    {
        client_config own = config;
        own.log = nullptr;
        own.waiting.queue = number % 2 == 0;
        client& each = clients_.emplace_back(thread_.context(), std::move(own));
        each.async_run(asio::detached);
        const std::string resource = resources[number % resources.size()];
        const acquire_options how{.ttl = settings.ttl, .wait = forever};
        each.async_acquire(resource, how, [this, resource](error_code ec, lease) {
            if (!ec)
                ++granted_;
            if (!may_)
                notes_.fault(ec ? "waiter failed" : "granted to others", resource);
        });
    }
}

rolling_waiters::~rolling_waiters()
{
    may_ = true;
    for (client& each : clients_)
        each.cancel();
}

void rolling_waiters::wait_for_all()
{
    if (!eventually([this] { return granted_ == clients_.size(); }, 30s))
        notes_.fault("waits on", std::to_string(clients_.size() - granted_) + " clients");
}

}  // namespace redlock::test
