#include "client/watchdog.hpp"

#include "client/holds.hpp"
#include "loop/own_thread.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>

namespace redlock::detail {

watched_term::watched_term(const lease& held, const lead_options& how) noexcept
    : held_(held), watch_(how.stop_before), metrics_(how.metrics), on_overrun_(how.on_overrun)
{
}

time_point watched_term::look(time_point now) noexcept
{
    if (told_)
        return time_point::max();
    if (const auto next = watch_.look(now, held_.remaining()))
        return *next;
    told_ = true;
    if (metrics_)
        ++metrics_->overruns;
    on_overrun_({held_.resource(), held_.fence()});
    return time_point::max();
}

watchdog& watchdog::of_this_process()
{
    static std::atomic<watchdog*> current = nullptr;
    watchdog* known = current;
    while (!known || !known->home_.is_here())
    {
        auto made = std::make_unique<watchdog>();
        if (current.compare_exchange_strong(known, made.get()))
            known = made.release();
    }
    return *known;
}

void watchdog::add(watched_term& term)
{
    const std::lock_guard lock(mutex_);
    if (!runs_)
        run_on_own_thread([this]() { run(); });
    runs_ = true;
    terms_.push_back(term);
    changed_.notify_one();
}

void watchdog::remove(watched_term& term) noexcept
{
    if (!home_.is_here())
        return;
    const std::lock_guard lock(mutex_);
    terms_.erase(terms_.iterator_to(term));
}

void watchdog::run() noexcept
{
    std::unique_lock lock(mutex_);
    for (;;)
    {
        const time_point now = std::chrono::steady_clock::now();
        time_point next = now + longest_sleep;
        for (watched_term& each : terms_)
            next = std::min(next, each.look(now));
        if (terms_.empty())
            changed_.wait(lock);
        else
            changed_.wait_until(lock, next);
    }
}

}  // namespace redlock::detail
