#include "inquiries.hpp"

#include <redlock.hpp>

#include "text.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace bench {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

using clock = std::chrono::steady_clock;

/// Longer than a row, so that nobody loses what it has.
constexpr auto ttl = 30s;
constexpr auto wait = 30s;
constexpr std::chrono::minutes time_limit{2};

redlock::client_config make_config(redlock::test::redis_servers& servers)
{
    redlock::client_config config;
    config.log = nullptr;
    for (const redlock::test::redis_server& each : servers)
        config.nodes.emplace_back().port = each.port();
    return config;
}

double seconds_since(clock::time_point then)
{
    return std::chrono::duration<double>(clock::now() - then).count();
}

/// Acquires and releases one resource again and again on a thread of its own, until destroyed.
class neighbour
{
public:
    neighbour(redlock::test::redis_servers& servers, inquiries_row& told)
        : told_(told), locks_(context_, make_config(servers))
    {
        locks_.async_run(asio::detached);
        locks_.async_wait_ready([this](redlock::error_code) { next(); });
        thread_ = std::thread([this] { context_.run(); });
    }

    neighbour(const neighbour&) = delete;
    neighbour& operator=(const neighbour&) = delete;

    ~neighbour()
    {
        stopping_ = true;
        thread_.join();
    }

private:
    void next()
    {
        if (stopping_)
            return locks_.async_close(asio::detached);
        const auto begun = clock::now();
        locks_.async_acquire(
            "inquiries:neighbour",
            {.ttl = ttl, .wait = wait},
            [this, begun](redlock::error_code failure, redlock::lease got) {
                told_.neighbour_failed += failure.failed();
                told_.neighbour_longest_s =
                    std::max(told_.neighbour_longest_s, seconds_since(begun));
                held_ = std::move(got);
                if (failure)
                    return next();
                held_.async_release([this](redlock::error_code, redlock::release_outcome) {
                    next();
                });
            }
        );
    }

    inquiries_row& told_;
    asio::io_context context_{1};
    redlock::client locks_;
    redlock::lease held_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

/// A client with many leases, whose resources are then asked about.
class asker
{
public:
    asker(redlock::test::redis_servers& servers, std::size_t count)
        : servers_(servers), count_(count), locks_(context_, make_config(servers))
    {
        locks_.async_run(asio::detached);
    }

    std::vector<inquiries_row> run()
    {
        std::vector<inquiries_row> rows;
        const auto measure = [&](const char* what, const std::function<void(std::size_t)>& ask) {
            rows.push_back(measure_kind(what, ask));
        };
        measure("-", [this](std::size_t) { on_answer(true); });
        measure("inspect", [this](std::size_t number) { inspect(number); });
        measure("watch", [this](std::size_t number) { watch(number); });
        measure("free", [this](std::size_t number) { free(number); });
        measure("announce", [this](std::size_t number) { announce(number); });
        measure("extend", [this](std::size_t number) { extend(number); });
        measure("revoke", [this](std::size_t number) { revoke(number); });
        bool closed = false;
        locks_.async_close([&closed](redlock::error_code) { closed = true; });
        run_until([&closed] { return closed; });
        return rows;
    }

private:
    inquiries_row measure_kind(const char* what, const std::function<void(std::size_t)>& ask)
    {
        inquiries_row row;
        row.what = what;
        row.count = count_;
        row_ = &row;
        answers_.clear();
        acquire("inquiries:%zu", held_, nullptr);
        run_until([this] { return held_.size() == count_; });
        std::vector<redlock::lease> beside;
        {
            const neighbour other(servers_, row);
            begun_ = clock::now();
            for (std::size_t number = 0; number < count_; ++number)
                ask(number);
            acquire("inquiries:beside:%zu", beside, &row.not_granted);
            run_until([&] { return beside.size() == count_; });
            row.granted_s = seconds_since(begun_);
            run_until([&] { return answers_.size() == count_; });
        }
        watchers_.clear();
        std::ranges::sort(answers_);
        row.median_s = answers_[count_ / 2];
        row.longest_s = answers_.back();
        give_back(beside);
        give_back(held_);
        return row;
    }

    /// @param failed Null: none may fail.
    void acquire(const char* name, std::vector<redlock::lease>& got, std::uint64_t* failed)
    {
        got.reserve(count_);
        for (std::size_t number = 0; number < count_; ++number)
        {
            locks_.async_acquire(
                format(name, number),
                {.ttl = ttl, .wait = wait},
                [&got, failed](redlock::error_code failure, redlock::lease given) {
                    if (failure && !failed)
                        throw std::runtime_error("not all leases are acquired");
                    if (failure)
                        ++*failed;
                    got.push_back(std::move(given));
                }
            );
        }
    }

    void give_back(std::vector<redlock::lease>& leases)
    {
        std::size_t open = leases.size();
        for (redlock::lease& each : leases)
            each.async_release([&open](redlock::error_code, redlock::release_outcome) { --open; });
        run_until([&open] { return open == 0; });
        leases.clear();
    }

    void on_answer(bool well)
    {
        row_->failed += !well;
        answers_.push_back(seconds_since(begun_));
    }

    [[nodiscard]] static std::string name_of(std::size_t number)
    {
        return format("inquiries:%zu", number);
    }

    [[nodiscard]] static bool is_answer(redlock::error_code failure, const redlock::holding& seen)
    {
        return !failure && seen.state == redlock::holding_state::held;
    }

    void inspect(std::size_t number)
    {
        locks_.async_inspect(
            name_of(number),
            [this](redlock::error_code failure, const redlock::holding& seen) {
                on_answer(is_answer(failure, seen));
            }
        );
    }

    void watch(std::size_t number)
    {
        watchers_.push_back(locks_.watch(name_of(number)));
        watchers_.back().async_next([this](
                                        redlock::error_code failure, const redlock::holding& seen
                                    ) { on_answer(is_answer(failure, seen)); });
    }

    void free(std::size_t number)
    {
        locks_.async_free(
            name_of(number),
            [this](redlock::error_code failure, redlock::release_outcome outcome) {
                on_answer(!failure && outcome == redlock::release_outcome::already_gone);
            }
        );
    }

    void announce(std::size_t number)
    {
        held_[number].async_announce(redlock::note("busy"), [this](redlock::error_code failure) {
            on_answer(!failure);
        });
    }

    void extend(std::size_t number)
    {
        held_[number].async_extend([this](redlock::error_code failure) { on_answer(!failure); });
    }

    void revoke(std::size_t number)
    {
        locks_.async_revoke(
            std::string(held_[number].resource()),
            held_[number].fence(),
            [this](redlock::error_code failure, const redlock::revocation&) { on_answer(!failure); }
        );
    }

    template <class Done>
    void run_until(Done done)
    {
        const auto end = clock::now() + time_limit;
        while (!done())
        {
            if (clock::now() >= end)
                throw std::runtime_error("not all is answered within two minutes");
            context_.run_one_for(100ms);
        }
    }

    redlock::test::redis_servers& servers_;
    std::size_t count_;
    asio::io_context context_{1};
    redlock::client locks_;
    std::vector<redlock::lease> held_;
    std::vector<redlock::watcher> watchers_;
    inquiries_row* row_ = nullptr;
    clock::time_point begun_;
    std::vector<double> answers_;
};

}  // namespace

std::vector<inquiries_row> measure_inquiries(
    redlock::test::redis_servers& servers,
    std::size_t count
)
{
    return asker(servers, count).run();
}

std::string to_table(const std::vector<inquiries_row>& rows)
{
    std::string table =
        "\nat once, beside as many acquisitions; times in seconds\n"
        "what        count  failed  median  longest  not granted  granted after  "
        "neighbour: failed  longest\n";
    for (const inquiries_row& each : rows)
        table += format(
            "%-9s %7zu %7llu %7.2f %8.2f %12llu %14.2f %18llu %8.3f\n",
            each.what.c_str(),
            each.count,
            static_cast<unsigned long long>(each.failed),
            each.median_s,
            each.longest_s,
            static_cast<unsigned long long>(each.not_granted),
            each.granted_s,
            static_cast<unsigned long long>(each.neighbour_failed),
            each.neighbour_longest_s
        );
    return table;
}

std::string to_json_lines(const std::vector<inquiries_row>& rows)
{
    std::string lines;
    for (const inquiries_row& each : rows)
        lines += format(
            R"({"bench":"inquiries","what":"%s","count":%zu,"failed":%llu,"median_s":%.4f,)"
            R"("longest_s":%.4f,"not_granted":%llu,"granted_s":%.4f,"neighbour_failed":%llu,)"
            R"("neighbour_longest_s":%.4f})"
            "\n",
            each.what.c_str(),
            each.count,
            static_cast<unsigned long long>(each.failed),
            each.median_s,
            each.longest_s,
            static_cast<unsigned long long>(each.not_granted),
            each.granted_s,
            static_cast<unsigned long long>(each.neighbour_failed),
            each.neighbour_longest_s
        );
    return lines;
}

}  // namespace bench
