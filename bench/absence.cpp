#include "absence.hpp"

#include <redlock.hpp>

#include "text.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <vector>

#include <time.h>

namespace bench {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

using clock = std::chrono::steady_clock;

constexpr auto ttl = 10s;
constexpr auto away_for = 15s;
constexpr auto longest_quarantine = 40s;
constexpr std::chrono::minutes time_to_acquire{2};

/// Between two looks at all leases, which don't count as handlers.
constexpr auto look_every = 50ms;

double thread_milliseconds()
{
    ::timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

class holder
{
public:
    holder(redlock::test::redis_servers& servers, const absence_row& row)
        : servers_(servers),
          absent_(servers[servers.size() - 1]),
          row_(row),
          locks_(context_, make_config(servers))
    {
    }

    absence_row run()
    {
        locks_.async_run(asio::detached);
        acquire_all();
        run_for(ttl / 2);
        const redlock::metrics before = locks_.metrics();
        row_.lost_before = before.lost;

        longest_ = &row_.away_ms;
        *longest_ = 0;
        let_it_be_away();
        const auto returned = clock::now();
        longest_ = &row_.return_ms;
        const auto complete = [this] { return missing() == 0; };
        seen_.clear();
        static_cast<void>(run_until(complete, ttl));
        row_.missing = missing();
        if (row_.missing > 0)
            static_cast<void>(run_until(complete, 3 * ttl));
        row_.complete_after_s = std::chrono::duration<double>(clock::now() - returned).count();
        sum_up(before);
        return row_;
    }

private:
    static redlock::client_config make_config(redlock::test::redis_servers& servers)
    {
        redlock::client_config config;
        config.log = nullptr;
        for (const redlock::test::redis_server& each : servers)
            config.nodes.emplace_back().port = each.port();
        return config;
    }

    /// Runs handlers until it is done. @return Whether it is.
    template <class Done>
    [[nodiscard]] bool run_until(Done done, clock::duration limit)
    {
        const auto end = clock::now() + limit;
        for (auto look = clock::now();;)
        {
            const auto now = clock::now();
            if (now >= look)
            {
                if (done())
                    return true;
                look = clock::now() + look_every;
            }
            if (now >= end)
                return false;
            const double before = thread_milliseconds();
            if (context_.run_one_until(std::min(look, end)) > 0)
                *longest_ = std::max(*longest_, thread_milliseconds() - before);
        }
    }

    void run_for(clock::duration time)
    {
        static_cast<void>(run_until([] { return false; }, time));
    }

    void acquire_all()
    {
        if (!run_until([this] { return is_ready(); }, time_to_acquire))
            throw std::runtime_error("the nodes aren't ready");
        held_.reserve(row_.leases);
        for (std::size_t number = 0; number < row_.leases; ++number)
        {
            locks_.async_acquire(
                format("absence:%zu", number),
                {.ttl = ttl, .wait = time_to_acquire, .auto_extend = true},
                [this](redlock::error_code, redlock::lease got) { held_.push_back(std::move(got)); }
            );
        }
        const auto all = [this] { return held_.size() == row_.leases; };
        if (!run_until(all, time_to_acquire))
            throw std::runtime_error("not all leases are acquired");
    }

    [[nodiscard]] bool is_ready() const
    {
        return std::ranges::all_of(locks_.nodes(), [](const redlock::node_status& each) {
            return each.state == redlock::node_state::ready;
        });
    }

    void let_it_be_away()
    {
        if (row_.how == absence::frozen)
        {
            absent_.pause();
            run_for(away_for);
            absent_.resume();
            return;
        }
        absent_.kill();
        run_for(away_for);
        absent_.start();
        if (!run_until([this] { return is_ready(); }, longest_quarantine))
            throw std::runtime_error("the node doesn't come back");
    }

    /// @return Of how many leases the client hasn't yet heard that all nodes have them.
    [[nodiscard]] std::size_t missing()
    {
        seen_.resize(held_.size());
        for (std::size_t i = 0; i < held_.size(); ++i)
            seen_[i] = seen_[i] || held_[i].votes() == servers_.size();
        return static_cast<std::size_t>(std::ranges::count(seen_, false));
    }

    void sum_up(const redlock::metrics& before)
    {
        const redlock::metrics now = locks_.metrics();
        const auto leases = static_cast<double>(row_.leases);
        row_.lost = now.lost - before.lost;
        row_.failed_per_lease =
            static_cast<double>(now.extensions_failed - before.extensions_failed) / leases;
        row_.rounds_per_lease = static_cast<double>(now.rounds - before.rounds) / leases;
        bool closed = false;
        locks_.async_close([&closed](redlock::error_code) { closed = true; });
        static_cast<void>(run_until([&closed] { return closed; }, time_to_acquire));
    }

    redlock::test::redis_servers& servers_;
    redlock::test::redis_server& absent_;
    absence_row row_;
    double unused_ = 0;
    double* longest_ = &unused_;
    asio::io_context context_{1};
    redlock::client locks_;
    std::vector<redlock::lease> held_;
    std::vector<bool> seen_;  ///< Since the return, on all nodes.
};

const char* name_of(absence how)
{
    return how == absence::frozen ? "frozen" : "restarted";
}

}  // namespace

absence_row measure_absence(redlock::test::redis_servers& servers, absence how, std::size_t leases)
{
    absence_row row;
    row.how = how;
    row.leases = leases;
    return holder(servers, row).run();
}

std::string to_table(const absence_row& row)
{
    return format(
        "\n%zu leases of 10 s, one of the nodes %s, away for 15 s: %llu lost (%llu before), all "
        "nodes "
        "have all %.2f s after its return,\n%zu leases missing after one ttl; %.2f failed "
        "extensions and "
        "%.2f rounds a lease; longest handler %.2f ms while it was away,\n%.2f ms afterwards\n",
        row.leases,
        name_of(row.how),
        static_cast<unsigned long long>(row.lost),
        static_cast<unsigned long long>(row.lost_before),
        row.complete_after_s,
        row.missing,
        row.failed_per_lease,
        row.rounds_per_lease,
        row.away_ms,
        row.return_ms
    );
}

std::string to_json_line(const absence_row& row)
{
    return format(
        R"({"bench":"absence","how":"%s","leases":%zu,"lost":%llu,"lost_before":%llu,)"
        R"("complete_after_s":%.3f,)"
        R"("missing":%zu,"failed_per_lease":%.3f,"rounds_per_lease":%.3f,"away_ms":%.3f,)"
        R"("return_ms":%.3f})"
        "\n",
        name_of(row.how),
        row.leases,
        static_cast<unsigned long long>(row.lost),
        static_cast<unsigned long long>(row.lost_before),
        row.complete_after_s,
        row.missing,
        row.failed_per_lease,
        row.rounds_per_lease,
        row.away_ms,
        row.return_ms
    );
}

}  // namespace bench
