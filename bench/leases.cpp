#include "leases.hpp"

#include <redlock.hpp>

#include "loop.hpp"
#include "result.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <unistd.h>

namespace bench {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

using clock = std::chrono::steady_clock;

/// So many tasks acquire at a time.
constexpr std::size_t acquiring_tasks = 256;

double resident_bytes()
{
    std::ifstream file("/proc/self/statm");
    double total = 0;
    double resident = 0;
    file >> total >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

float milliseconds_of(clock::duration duration)
{
    return std::chrono::duration<float, std::milli>(duration).count();
}

double percentile_99(std::vector<float>& values)
{
    if (values.empty())
        return 0;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() * 99 / 100);
    std::ranges::nth_element(values, at);
    return *at;
}

/// Notes how long extensions take and how far apart they are, by the number of the lease.
class stopwatch_of_extensions final : public redlock::observer
{
public:
    explicit stopwatch_of_extensions(std::size_t leases) : last_(leases) {}

    /// From now on.
    void start(std::size_t expected)
    {
        rounds_ms_.reserve(expected);
        intervals_ms_.reserve(expected);
        running_ = true;
    }

    void on_round(const redlock::round_event& event) noexcept override
    {
        if (running_ && event.extension && rounds_ms_.size() < rounds_ms_.capacity())
            rounds_ms_.push_back(milliseconds_of(event.duration));
    }

    void on_extended(const redlock::extended_event& event) noexcept override
    {
        std::size_t lease = 0;
        std::from_chars(event.resource.begin(), event.resource.end(), lease);
        const auto now = clock::now();
        const auto before = std::exchange(last_[lease], now);
        const bool known = before != clock::time_point();
        if (running_ && known && intervals_ms_.size() < intervals_ms_.capacity())
            intervals_ms_.push_back(milliseconds_of(now - before));
    }

    [[nodiscard]] double round_p99_ms() { return percentile_99(rounds_ms_); }
    [[nodiscard]] double interval_p99_ms() { return percentile_99(intervals_ms_); }

private:
    bool running_ = false;
    std::vector<clock::time_point> last_;
    std::vector<float> rounds_ms_;
    std::vector<float> intervals_ms_;
};

/// The state of one measurement.
struct measurement
{
    loop context;
    leases_plan plan;
    std::shared_ptr<stopwatch_of_extensions> watch;
    redlock::client locks;
    std::vector<redlock::lease> held;
    std::size_t next = 0;
    std::size_t acquiring = acquiring_tasks;
    leases_row found;

    measurement(redlock::client_config config, const leases_row& row)
        : plan(row.plan),
          watch(std::make_shared<stopwatch_of_extensions>(plan.leases)),
          locks(context, observed(std::move(config), watch)),
          found(row)
    {
        held.reserve(plan.leases);
    }

    static redlock::client_config observed(
        redlock::client_config config,
        std::shared_ptr<redlock::observer> by
    )
    {
        config.observer = std::move(by);
        return config;
    }
};

asio::awaitable<void> acquire_share(measurement& on)
{
    const redlock::acquire_options options{.ttl = on.plan.ttl, .auto_extend = true};
    while (on.next < on.plan.leases)
    {
        const std::string resource = std::to_string(on.next++);
        on.held.push_back(co_await on.locks.async_acquire(resource, options, asio::use_awaitable));
    }
    --on.acquiring;
}

asio::awaitable<void> acquire_all(measurement& on)
{
    const auto started = clock::now();
    for (std::size_t task = 0; task < acquiring_tasks; ++task)
        asio::co_spawn(on.context, acquire_share(on), asio::detached);
    asio::steady_timer pause(on.context);
    while (on.acquiring > 0)
    {
        pause.expires_after(10ms);
        co_await pause.async_wait(asio::use_awaitable);
    }
    on.found.acquire_seconds = std::chrono::duration<double>(clock::now() - started).count();
}

asio::awaitable<void> hold_all(measurement& on)
{
    co_await on.locks.async_wait_ready();
    const double before = resident_bytes();
    co_await acquire_all(on);
    on.found.bytes_per_lease = (resident_bytes() - before) / static_cast<double>(on.plan.leases);

    const auto extensions = on.plan.leases * static_cast<std::size_t>(3 * on.plan.held_for / 1s);
    on.watch->start(extensions / static_cast<std::size_t>(on.plan.ttl / 1s) * 2);
    const stopwatch spent;
    asio::steady_timer pause(on.context);
    pause.expires_after(on.plan.held_for);
    co_await pause.async_wait(asio::use_awaitable);
    const cost held = spent.elapsed();

    const redlock::metrics counted = on.locks.metrics();
    on.found.lost = counted.lost;
    on.found.extended = counted.extended;
    on.found.failed = counted.extensions_failed;
    on.found.cpu_share = held.cpu_seconds / held.seconds;
    on.found.round_p99_ms = on.watch->round_p99_ms();
    on.found.interval_p99_ms = on.watch->interval_p99_ms();
    for (const redlock::lease& each : on.held)
        on.found.lost += each.expired();
    co_await on.locks.async_close();
}

}  // namespace

leases_row measure_leases(
    std::string_view mode,
    std::span<const std::uint16_t> ports,
    const leases_plan& plan
)
{
    redlock::client_config config;
    config.log = nullptr;
    config.mode = mode == "plain" ? redlock::mode::plain : redlock::mode::guarded;
    config.node_timeout = 1s;  // A loaded machine may be late.
    for (const std::uint16_t port : ports)
        config.nodes.emplace_back().port = port;

    leases_row row{};
    row.mode = mode;
    row.plan = plan;
    measurement on(std::move(config), row);
    on.locks.async_run(asio::detached);
    asio::co_spawn(on.context, hold_all(on), [](const std::exception_ptr& failure) {
        if (failure)
            std::rethrow_exception(failure);
    });
    on.context.run();
    return on.found;
}

std::string to_table(const leases_row& found)
{
    char line[512];
    std::snprintf(
        line,
        sizeof line,
        "%zu leases of %.0f s, %s mode, held for %.0f s: %llu lost, %llu extensions, %llu failed\n"
        "  cpu %.1f %% of a core, %.0f bytes a lease, extension p99 %.1f ms, "
        "interval p99 %.0f ms\n",
        found.plan.leases,
        std::chrono::duration<double>(found.plan.ttl).count(),
        found.mode.data(),
        std::chrono::duration<double>(found.plan.held_for).count(),
        static_cast<unsigned long long>(found.lost),
        static_cast<unsigned long long>(found.extended),
        static_cast<unsigned long long>(found.failed),
        100 * found.cpu_share,
        found.bytes_per_lease,
        found.round_p99_ms,
        found.interval_p99_ms
    );
    return line;
}

std::string to_json_line(const leases_row& found)
{
    char line[512];
    std::snprintf(
        line,
        sizeof line,
        "{\"bench\":\"leases\",\"mode\":\"%s\",\"leases\":%zu,\"ttl_ms\":%lld,\"held_for_s\":%lld,"
        "\"lost\":%llu,\"extended\":%llu,\"failed\":%llu,\"acquire_s\":%.2f,\"cpu_share\":%.3f,"
        "\"bytes_per_lease\":%.0f,\"round_p99_ms\":%.2f,\"interval_p99_ms\":%.0f}\n",
        found.mode.data(),
        found.plan.leases,
        static_cast<long long>(found.plan.ttl.count()),
        static_cast<long long>(found.plan.held_for.count()),
        static_cast<unsigned long long>(found.lost),
        static_cast<unsigned long long>(found.extended),
        static_cast<unsigned long long>(found.failed),
        found.acquire_seconds,
        found.cpu_share,
        found.bytes_per_lease,
        found.round_p99_ms,
        found.interval_p99_ms
    );
    return line;
}

}  // namespace bench
