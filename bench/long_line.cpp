#include "long_line.hpp"

#include <redlock.hpp>

#include "isolated.hpp"
#include "text.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <time.h>

namespace bench {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::minutes time_limit{3};
constexpr std::size_t started_at_once = 100;
constexpr auto time_to_serve = 3s;
constexpr auto neighbour_ttl = 1s;

double thread_milliseconds()
{
    ::timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// One that looks at what it is told.
class last_place final : public redlock::observer
{
public:
    void on_waiting(const redlock::waiting_event& told) noexcept override { last_ = told.position; }

private:
    std::size_t last_ = 0;
};

class lined_up
{
public:
    lined_up(redlock::test::redis_servers& servers, const long_line_row& row)
        : row_(row), reports_(row.waiters), locks_(context_, make_config(servers, row.mode))
    {
    }

    long_line_row run()
    {
        locks_.async_run(asio::detached);
        locks_.async_acquire(
            "line:neighbour",
            {.ttl = neighbour_ttl, .wait = 10s, .auto_extend = true},
            [this](redlock::error_code, redlock::lease got) {
                neighbour_ = std::move(got);
                line_up();
            }
        );
        while (run_one())
        {
        }
        return row_;
    }

private:
    static redlock::client_config make_config(
        redlock::test::redis_servers& servers,
        redlock::mode mode
    )
    {
        redlock::client_config config;
        config.log = nullptr;
        config.mode = mode;
        config.observer = std::make_shared<last_place>();
        for (const redlock::test::redis_server& each : servers)
            config.nodes.emplace_back().port = each.port();
        return config;
    }

    bool run_one()
    {
        const double before = thread_milliseconds();
        if (context_.run_one() == 0)
            return false;
        *longest_ = std::max(*longest_, thread_milliseconds() - before);
        return true;
    }

    void line_up()
    {
        const std::size_t end = std::min(started_ + started_at_once, row_.waiters);
        for (; started_ < end; ++started_)
        {
            locks_.async_acquire(
                "line:one",
                {.ttl = 10s, .wait = 1min, .report = &reports_[started_]},
                [this](redlock::error_code failure, redlock::lease got) {
                    if (failure || closing_)
                        return;
                    ++row_.grants;
                    held_ = {};
                    held_ = std::move(got);
                    asio::post(context_, [this] { held_ = {}; });
                }
            );
        }
        if (started_ < row_.waiters)
            return asio::post(context_, [this] { line_up(); });
        asio::post(context_, [this] { serve(); });
    }

    void serve()
    {
        longest_ = &row_.to_serve;
        timer_.expires_after(time_to_serve);
        timer_.async_wait([this](redlock::error_code) { end(); });
    }

    void end()
    {
        longest_ = &row_.to_end;
        closing_ = true;
        row_.neighbour_lost = neighbour_.expired();
        locks_.async_close([this](redlock::error_code) { held_ = {}; });
    }

    long_line_row row_;
    double* longest_ = &row_.to_line_up;
    std::vector<redlock::diagnostics> reports_;
    asio::io_context context_{1};
    redlock::client locks_;
    asio::steady_timer timer_{context_};
    redlock::lease neighbour_;
    redlock::lease held_;
    std::size_t started_{0};
    bool closing_{false};
};

const char* name_of(redlock::mode value)
{
    return value == redlock::mode::plain ? "plain" : "guarded";
}

}  // namespace

long_line_row measure_long_line(
    redlock::test::redis_servers& servers,
    redlock::mode mode,
    std::size_t waiters
)
{
    long_line_row row;
    row.mode = mode;
    row.waiters = waiters;
    return run_isolated<long_line_row>(time_limit, [&] { return lined_up(servers, row).run(); });
}

std::string to_table(const long_line_row& row)
{
    return format(
        "\n%zu waiters in one line, %s: %llu grants; longest handler %.2f ms to line up, %.2f ms "
        "to serve,\n%.2f ms to end; the neighbour's lease was %s\n",
        row.waiters,
        name_of(row.mode),
        static_cast<unsigned long long>(row.grants),
        row.to_line_up,
        row.to_serve,
        row.to_end,
        row.neighbour_lost ? "LOST" : "kept"
    );
}

std::string to_json_line(const long_line_row& row)
{
    return format(
        R"({"bench":"long-line","mode":"%s","waiters":%zu,"grants":%llu,"line_up_ms":%.3f,)"
        R"("serve_ms":%.3f,"end_ms":%.3f,"neighbour_lost":%s})"
        "\n",
        name_of(row.mode),
        row.waiters,
        static_cast<unsigned long long>(row.grants),
        row.to_line_up,
        row.to_serve,
        row.to_end,
        row.neighbour_lost ? "true" : "false"
    );
}

}  // namespace bench
