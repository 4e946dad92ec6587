#include "burst.hpp"

#include <redlock.hpp>

#include "child.hpp"
#include "connection.hpp"
#include "isolated.hpp"
#include "limit.hpp"
#include "loop.hpp"
#include "result.hpp"
#include "shared_memory.hpp"
#include "text.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

#include <signal.h>

#include "support/tcp_proxy.hpp"

namespace bench {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

using clock = std::chrono::steady_clock;
using redlock::test::redis_servers;
using redlock::test::tcp_proxy;

constexpr std::chrono::minutes time_limit{3};
constexpr std::size_t max_processes = 8;
constexpr std::array<std::size_t, 4> bare_windows{32, 64, 128, 256};

/// Longer than a run, so that nobody loses what it got.
constexpr auto ttl = 30s;
constexpr auto wait = 30s;
constexpr auto neighbour_ttl = 2s;
constexpr auto leases_ttl = 10s;

double seconds_since(clock::rep then)
{
    return std::chrono::duration<double>(clock::now().time_since_epoch() - clock::duration(then))
        .count();
}

/// What one process found.
struct share
{
    double seconds{0};
    std::uint64_t not_granted{0};
    std::uint64_t rounds_lost{0};
    std::uint64_t rounds{0};
};

/// What the processes of one run have in common.
struct start_line
{
    std::atomic<std::size_t> ready{0};
    std::atomic<clock::rep> go{0};        ///< When to ask. Zero: not yet.
    std::atomic<std::size_t> through{0};  ///< Those that have got all.
    std::atomic<std::uint64_t> neighbours_lost{0};
    std::array<share, max_processes> found{};
};

redlock::client_config make_config(std::span<const std::uint16_t> ports, redlock::mode mode)
{
    redlock::client_config config;
    config.log = nullptr;
    config.mode = mode;
    for (const std::uint16_t port : ports)
        config.nodes.emplace_back().port = port;
    return config;
}

std::vector<std::uint16_t> ports_of(redis_servers& servers)
{
    std::vector<std::uint16_t> ports;
    for (const redlock::test::redis_server& each : servers)
        ports.push_back(each.port());
    return ports;
}

void signal_quorum(redis_servers& servers, int number)
{
    for (std::size_t node = 0; node < servers.size() / 2 + 1; ++node)
        ::kill(servers[node].pid(), number);
}

/// One process that asks for everything at once, from the start signal on.
class asking
{
public:
    asking(start_line& line, std::size_t process, const burst_plan& plan, redis_servers& servers)
        : line_(line), process_(process), plan_(plan), servers_(servers)
    {
    }

    void run()
    {
        locks_->async_run(asio::detached);
        locks_->async_wait_ready([this](redlock::error_code) {
            ++line_.ready;
            await_start();
        });
        context_.run();
    }

private:
    redlock::client make_client()
    {
        std::vector<std::uint16_t> ports = ports_of(servers_);
        for (std::uint16_t& port : ports)
        {
            if (plan_.away == 0ms)
                break;
            proxies_.emplace_back(port, tcp_proxy::recording::off);
            proxies_.back().delay_replies(plan_.away);
            port = proxies_.back().port();
        }
        return {context_, make_config(ports, plan_.mode)};
    }

    void await_start()
    {
        timer_.expires_after(1ms);
        timer_.async_wait([this](redlock::error_code) { line_.go == 0 ? await_start() : ask_all(); }
        );
    }

    void ask_all()
    {
        if (plan_.stall > 0ms && process_ == 0)
            stall();
        held_.reserve(plan_.acquisitions);
        pending_ = plan_.acquisitions;
        for (std::size_t number = 0; number < plan_.acquisitions; ++number)
        {
            locks_->async_acquire(
                format("burst:%zu:%zu", process_, number),
                {.ttl = ttl, .wait = wait},
                [this](redlock::error_code failure, redlock::lease got) {
                    mine().not_granted += failure.failed();
                    held_.push_back(std::move(got));
                    if (--pending_ == 0)
                        finish();
                }
            );
        }
    }

    void stall()
    {
        signal_quorum(servers_, SIGSTOP);
        stall_.expires_after(plan_.stall);
        stall_.async_wait([this](redlock::error_code) {
            signal_quorum(servers_, SIGCONT);
            line_.go = clock::now().time_since_epoch().count();
        });
    }

    void finish()
    {
        const redlock::metrics counted = locks_->metrics();
        mine().seconds = seconds_since(line_.go);
        mine().rounds = counted.rounds;
        mine().rounds_lost = counted.rounds_lost;
        ++line_.through;
        locks_->async_close(asio::detached);
    }

    share& mine() { return line_.found[process_]; }

    start_line& line_;
    std::size_t process_;
    const burst_plan& plan_;
    redis_servers& servers_;
    loop context_;
    std::deque<tcp_proxy> proxies_;
    std::optional<redlock::client> locks_{make_client()};
    asio::steady_timer timer_{context_};
    asio::steady_timer stall_{context_};
    std::vector<redlock::lease> held_;
    std::size_t pending_{0};
};

/// A process that has one lease until all others are through.
void hold_beside(start_line& line, const burst_plan& plan, redis_servers& servers)
{
    loop context;
    redlock::client locks(context, make_config(ports_of(servers), plan.mode));
    locks.async_run(asio::detached);
    redlock::lease held;
    asio::steady_timer timer(context);
    const std::function<void()> await_end = [&] {
        timer.expires_after(5ms);
        timer.async_wait([&](redlock::error_code) {
            if (line.through < plan.processes)
                return await_end();
            line.neighbours_lost += held.expired();
            locks.async_close(asio::detached);
        });
    };
    locks.async_acquire(
        "burst:neighbour",
        {.ttl = neighbour_ttl, .wait = wait, .auto_extend = true},
        [&](redlock::error_code, redlock::lease got) {
            held = std::move(got);
            ++line.ready;
            await_end();
        }
    );
    context.run();
}

void await_ready(const start_line& line, std::size_t expected)
{
    for (const clock::time_point end = clock::now() + 30s; line.ready < expected;)
    {
        if (clock::now() > end)
            throw std::runtime_error("the processes of a burst do not get ready");
        std::this_thread::sleep_for(5ms);
    }
}

/// Counts the keys of locks that are left on the nodes, and deletes them and their fences.
std::uint64_t clear(redis_servers& servers)
{
    constexpr const char* count_and_delete =
        "for _, key in ipairs(redis.call('KEYS', '*:burst:*')) do redis.call('DEL', key) end "
        "local locks = redis.call('KEYS', 'burst:*') "
        "for _, key in ipairs(locks) do redis.call('DEL', key) end return #locks";
    std::uint64_t left = 0;
    for (const std::uint16_t port : ports_of(servers))
    {
        connection node(port, {.output = 4096, .input = 4096});
        left += std::stoull(node.call(make_command({"EVAL", count_and_delete, "0"})));
    }
    return left;
}

void run_once(redis_servers& servers, const burst_plan& plan, shared_memory<start_line>& line)
{
    std::deque<child> processes;
    for (std::size_t process = 0; process < plan.processes; ++process)
    {
        processes.emplace_back(time_limit, [&, process] {
            asking(*line, process, plan, servers).run();
        });
    }
    processes.emplace_back(time_limit, [&] { hold_beside(*line, plan, servers); });
    await_ready(*line, processes.size());
    line->go = clock::now().time_since_epoch().count();
    bool well = true;
    for (child& each : processes)
        well &= each.join();
    signal_quorum(servers, SIGCONT);
    if (!well)
        throw std::runtime_error("a process of a burst failed");
}

double run_bare(redis_servers& servers, const burst_plan& plan, std::size_t window)
{
    const double seconds = run_isolated<double>(time_limit, [&] {
        return run_limit_burst(ports_of(servers), plan.mode, window, plan.acquisitions);
    });
    (void)clear(servers);
    return seconds;
}

const char* name_of(redlock::mode value)
{
    return value == redlock::mode::plain ? "plain" : "guarded";
}

}  // namespace

burst_row measure_burst(redis_servers& servers, const burst_plan& plan, std::size_t times)
{
    const bool beside_bare = plan.processes == 1 && plan.away == 0ms && plan.stall == 0ms;
    burst_row row;
    row.plan = plan;
    row.nodes = servers.size();
    std::vector<double> last;
    std::vector<double> first;
    std::array<std::vector<double>, bare_windows.size()> bare;
    (void)clear(servers);
    for (std::size_t time = 0; time < times; ++time)
    {
        shared_memory<start_line> line;
        run_once(servers, plan, line);
        const std::span found(line->found.data(), plan.processes);
        const auto [quickest, slowest] = std::ranges::minmax(found, {}, &share::seconds);
        last.push_back(slowest.seconds);
        first.push_back(quickest.seconds);
        for (const share& each : found)
        {
            row.not_granted += each.not_granted;
            row.rounds += each.rounds;
            row.rounds_lost += each.rounds_lost;
        }
        row.neighbours_lost += line->neighbours_lost;
        row.left += clear(servers);
        for (std::size_t window = 0; beside_bare && window < bare.size(); ++window)
            bare[window].push_back(run_bare(servers, plan, bare_windows[window]));
    }
    row.seconds = median(last);
    row.first_seconds = median(first);
    for (std::size_t window = 0; beside_bare && window < bare.size(); ++window)
    {
        const double seconds = median(bare[window]);
        if (row.bare_window != 0 && seconds >= row.bare_seconds)
            continue;
        row.bare_seconds = seconds;
        row.bare_window = bare_windows[window];
    }
    return row;
}

std::string to_table(const std::vector<burst_row>& rows)
{
    std::string table =
        "\nfree resources at once\n"
        "mode    nodes  away  stall  processes x each   seconds  quickest  / bare  window   "
        "lost %  neighbour  not granted  left\n";
    for (const burst_row& row : rows)
    {
        table += format(
            "%-8s %4zu %5lld %6lld %10zu x %-6zu %8.3f %9.3f ",
            name_of(row.plan.mode),
            row.nodes,
            static_cast<long long>(row.plan.away.count()),
            static_cast<long long>(row.plan.stall.count()),
            row.plan.processes,
            row.plan.acquisitions,
            row.seconds,
            row.first_seconds
        );
        table += row.bare_window == 0
                     ? format("%7s %7s ", "", "")
                     : format("%7.2f %7zu ", row.seconds / row.bare_seconds, row.bare_window);
        table += format(
            "%7.2f %10llu %12llu %5llu\n",
            100 * static_cast<double>(row.rounds_lost) / static_cast<double>(row.rounds),
            static_cast<unsigned long long>(row.neighbours_lost),
            static_cast<unsigned long long>(row.not_granted),
            static_cast<unsigned long long>(row.left)
        );
    }
    return table;
}

std::string to_json_lines(const std::vector<burst_row>& rows)
{
    std::string lines;
    for (const burst_row& row : rows)
    {
        lines += format(
            R"({"bench":"burst","mode":"%s","nodes":%zu,"away_ms":%lld,"stall_ms":%lld,)"
            R"("processes":%zu,"acquisitions":%zu,"seconds":%.4f,"first_seconds":%.4f,)"
            R"("bare_seconds":%.4f,"bare_window":%zu,"rounds":%llu,"rounds_lost":%llu,)"
            R"("neighbours_lost":%llu,"not_granted":%llu,"left":%llu})"
            "\n",
            name_of(row.plan.mode),
            row.nodes,
            static_cast<long long>(row.plan.away.count()),
            static_cast<long long>(row.plan.stall.count()),
            row.plan.processes,
            row.plan.acquisitions,
            row.seconds,
            row.first_seconds,
            row.bare_seconds,
            row.bare_window,
            static_cast<unsigned long long>(row.rounds),
            static_cast<unsigned long long>(row.rounds_lost),
            static_cast<unsigned long long>(row.neighbours_lost),
            static_cast<unsigned long long>(row.not_granted),
            static_cast<unsigned long long>(row.left)
        );
    }
    return lines;
}

namespace {

/// Acquires leases, lets a quorum stand still, and counts what is left of them.
class stalled_leases
{
public:
    stalled_leases(redis_servers& servers, const stalled_leases_row& row)
        : servers_(servers), row_(row), locks_(context_, make_config(ports_of(servers), row.mode))
    {
    }

    stalled_leases_row run()
    {
        locks_.async_run(asio::detached);
        locks_.async_wait_ready([this](redlock::error_code) { acquire_all(); });
        context_.run();
        return row_;
    }

private:
    void acquire_all()
    {
        for (std::size_t number = 0; number < row_.leases; ++number)
        {
            locks_.async_acquire(
                format("burst:%zu", number),
                {.ttl = leases_ttl, .wait = wait, .auto_extend = true},
                [this](redlock::error_code, redlock::lease got) {
                    held_.push_back(std::move(got));
                    if (held_.size() == row_.leases)
                        after(leases_ttl / 2, [this] { stall(); });
                }
            );
        }
    }

    void stall()
    {
        signal_quorum(servers_, SIGSTOP);
        after(row_.stall, [this] {
            signal_quorum(servers_, SIGCONT);
            after(leases_ttl, [this] { sum_up(); });
        });
    }

    void sum_up()
    {
        for (const redlock::lease& each : held_)
            row_.lost += each.expired();
        const redlock::metrics counted = locks_.metrics();
        row_.failed_per_lease =
            static_cast<double>(counted.extensions_failed) / static_cast<double>(row_.leases);
        locks_.async_close(asio::detached);
    }

    template <class Then>
    void after(clock::duration pause, Then then)
    {
        timer_.expires_after(pause);
        timer_.async_wait([then](redlock::error_code) { then(); });
    }

    redis_servers& servers_;
    stalled_leases_row row_;
    loop context_;
    redlock::client locks_;
    asio::steady_timer timer_{context_};
    std::vector<redlock::lease> held_;
};

}  // namespace

stalled_leases_row measure_stalled_leases(
    redis_servers& servers,
    redlock::mode mode,
    std::size_t leases,
    std::chrono::milliseconds stall
)
{
    stalled_leases_row row;
    row.mode = mode;
    row.leases = leases;
    row.stall = stall;
    row = run_isolated<stalled_leases_row>(time_limit, [&] {
        return stalled_leases(servers, row).run();
    });
    (void)clear(servers);
    return row;
}

std::string to_table(const stalled_leases_row& found)
{
    return format(
        "%zu leases of %lld s, %s mode, a quorum stands still for %lld ms: %llu lost, "
        "%.2f failed extensions a lease\n",
        found.leases,
        static_cast<long long>(std::chrono::seconds(leases_ttl).count()),
        name_of(found.mode),
        static_cast<long long>(found.stall.count()),
        static_cast<unsigned long long>(found.lost),
        found.failed_per_lease
    );
}

std::string to_json_line(const stalled_leases_row& found)
{
    return format(
        R"({"bench":"stalled_leases","mode":"%s","leases":%zu,"stall_ms":%lld,"lost":%llu,)"
        R"("failed_per_lease":%.3f})"
        "\n",
        name_of(found.mode),
        found.leases,
        static_cast<long long>(found.stall.count()),
        static_cast<unsigned long long>(found.lost),
        found.failed_per_lease
    );
}

}  // namespace bench
