#include "vacancy.hpp"

#include "child.hpp"
#include "connection.hpp"
#include "holder.hpp"
#include "pairs.hpp"
#include "result.hpp"
#include "shared_memory.hpp"
#include "text.hpp"
#include "waiter.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::chrono::minutes time_limit{30};
constexpr auto patience = 60s;

/// Of a holder that is killed. It has to be longer than the waiters take to settle.
constexpr auto held_ttl = 2s;

/// So long after all have asked, the holder is killed or lets go.
constexpr auto shortest_hold = 200ms;
constexpr auto longest_hold = 400ms;

constexpr const char* compare_and_delete =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

const char* to_string(vacancy_cause value) noexcept
{
    switch (value)
    {
    case vacancy_cause::killed_holder: return "killed-holder";
    case vacancy_cause::foreign_release: return "foreign-release";
    case vacancy_cause::expiry: return "expiry";
    }
    return "?";
}

template <class Condition>
void await(const char* what, Condition done)
{
    const clock::time_point give_up = clock::now() + patience;
    while (!done())
    {
        if (clock::now() > give_up)
            throw std::runtime_error(std::string("this does not happen: ") + what);
        std::this_thread::sleep_for(1ms);
    }
}

/// A client that has the keys of a resource and knows nothing of queues.
class foreign_client
{
public:
    foreign_client(std::span<const std::uint16_t> ports, std::string resource)
        : resource_(std::move(resource))
    {
        for (const std::uint16_t port : ports)
            nodes_.emplace_back(port, buffer_sizes{.output = 4096, .input = 4096});
    }

    // Returns when a majority had the key.
    clock::time_point acquire(std::chrono::milliseconds ttl)
    {
        const std::string text = std::to_string(ttl.count());
        return tell(make_command({"SET", resource_, id_, "NX", "PX", text}), "OK");
    }

    // Returns when a majority no longer had it.
    clock::time_point release()
    {
        return tell(make_command({"EVAL", compare_and_delete, "1", resource_, id_}), "1");
    }

private:
    clock::time_point tell(const std::string& command, std::string_view expected)
    {
        clock::time_point majority;
        for (std::size_t node = 0; node < nodes_.size(); ++node)
        {
            if (nodes_[node].call(command) != expected)
                throw std::runtime_error("the keys are not as a foreign client expects");
            if (node == nodes_.size() / 2)
                majority = clock::now();
        }
        return majority;
    }

    std::string resource_;
    std::string id_{"foreign"};
    std::deque<connection> nodes_;
};

class vacancies
{
public:
    vacancies(std::span<const std::uint16_t> ports, const vacancy_plan& plan)
        : ports_(ports),
          plan_(plan),
          all_(plan.waiters.processes * plan.waiters.tasks),
          foreign_(ports, resource_)
    {
        for (std::size_t process = 0; process < plan.waiters.processes; ++process)
        {
            waiters_.emplace_back(time_limit, [this] {
                wait_in_turns(*stage_, ports_, plan_.mode, plan_.waiters.tasks, resource_);
            });
        }
        await("the waiters get ready", [this] { return stage_->ready == waiters_.size(); });
    }

    // Returns how long the lock was free, or nothing if it was free too early.
    std::optional<clock::duration> observe()
    {
        std::optional<clock::time_point> vacant;
        switch (plan_.cause)
        {
        case vacancy_cause::killed_holder: vacant = kill_holder(); break;
        case vacancy_cause::foreign_release: vacant = release(); break;
        case vacancy_cause::expiry: vacant = let_expire(); break;
        }
        await("all waiters have had their turn", [this] { return stage_->done == all_; });
        if (!vacant || stage_->entered == 0)
            return {};
        return clock::duration(stage_->entered) - vacant->time_since_epoch();
    }

    std::uint64_t end()
    {
        stage_->over = true;
        for (child& each : waiters_)
            if (!each.join())
                throw std::runtime_error("a waiter failed");
        return stage_->failed;
    }

private:
    clock::duration random_hold()
    {
        std::uniform_int_distribution<std::int64_t> any(shortest_hold / 1us, longest_hold / 1us);
        return std::chrono::microseconds(any(random_));
    }

    void let_all_ask()
    {
        stage_->asking = stage_->done = 0;
        stage_->entered = 0;
        ++stage_->turn;
        await("all waiters ask", [this] { return stage_->asking == all_; });
    }

    std::optional<clock::time_point> kill_holder()
    {
        const holder held(ports_, plan_.mode, resource_, held_ttl);
        const clock::time_point vacant = held.since() + held_ttl;
        let_all_ask();
        std::this_thread::sleep_for(random_hold());
        held.kill();
        return in_time(vacant);
    }

    std::optional<clock::time_point> release()
    {
        foreign_.acquire(30s);
        let_all_ask();
        std::this_thread::sleep_for(random_hold());
        return foreign_.release();
    }

    std::optional<clock::time_point> let_expire()
    {
        const auto ttl = std::chrono::ceil<std::chrono::milliseconds>(random_hold());
        const clock::time_point vacant = foreign_.acquire(ttl) + ttl;
        let_all_ask();
        return in_time(vacant);
    }

    // A machine that is busy may let the ttl pass before all wait for it.
    static std::optional<clock::time_point> in_time(clock::time_point vacant)
    {
        if (clock::now() > vacant - 50ms)
            return {};
        return vacant;
    }

    std::span<const std::uint16_t> ports_;
    vacancy_plan plan_;
    std::size_t all_;
    std::string resource_{std::string(to_string(plan_.cause)) + ":1"};
    shared_memory<stage> stage_;
    foreign_client foreign_;
    std::vector<child> waiters_;
    std::mt19937_64 random_{std::random_device()()};
};

}  // namespace

vacancy_row measure_vacancy(std::span<const std::uint16_t> ports, const vacancy_plan& plan)
{
    vacancies observed(ports, plan);
    std::vector<float> free_ms;
    const std::size_t most = plan.times * 2;
    for (std::size_t tries = 0; tries < most && free_ms.size() < plan.times; ++tries)
    {
        if (const auto found = observed.observe())
            free_ms.push_back(std::chrono::duration<float, std::milli>(*found).count());
    }
    std::ranges::sort(free_ms);

    vacancy_row row;
    row.name = to_string(plan.cause);
    row.mode = to_string(plan.mode);
    row.waiters = plan.waiters;
    row.times = free_ms.size();
    if (plan.cause == vacancy_cause::killed_holder)
        row.ttl_ms = std::chrono::duration<double, std::milli>(held_ttl).count();
    row.p50_ms = percentile(free_ms, 50);
    row.p99_ms = percentile(free_ms, 99);
    row.max_ms = percentile(free_ms, 100);
    row.failed = observed.end();
    return row;
}

std::string to_table(const vacancy_row& found)
{
    std::string table =
        "\nfrom a lock that is free to a waiter that has it\n"
        "cause            mode     procs x tasks  times    p50 ms    p99 ms    max ms  failed\n";
    table += format(
        "%-16s %-8s %5zu x %-5zu %7zu %9.2f %9.2f %9.2f %7llu\n",
        found.name.c_str(),
        found.mode.c_str(),
        found.waiters.processes,
        found.waiters.tasks,
        found.times,
        found.p50_ms,
        found.p99_ms,
        found.max_ms,
        static_cast<unsigned long long>(found.failed)
    );
    if (found.ttl_ms > 0)
        table += format("after the ttl of %.0f ms\n", found.ttl_ms);
    return table;
}

std::string to_json_line(const vacancy_row& found)
{
    std::string line = format(
        R"({"bench":"%s","impl":"redlock","mode":"%s","processes":%zu,"tasks":%zu,"times":%zu,)",
        found.name.c_str(),
        found.mode.c_str(),
        found.waiters.processes,
        found.waiters.tasks,
        found.times
    );
    if (found.ttl_ms > 0)
        line += format(R"("ttl_ms":%.0f,)", found.ttl_ms);
    line += format(
        R"("free_p50_ms":%.3f,"free_p99_ms":%.3f,"free_max_ms":%.3f,"failed":%llu})",
        found.p50_ms,
        found.p99_ms,
        found.max_ms,
        static_cast<unsigned long long>(found.failed)
    );
    return line + '\n';
}

}  // namespace bench
