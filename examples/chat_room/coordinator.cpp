#include "chat_room/coordinator.hpp"

#include <redlock/lead.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <utility>

namespace chat {

namespace {

using namespace std::chrono_literals;

/// How often to check whether the lease was extended, to report it to the room.
constexpr auto notice_interval = 100ms;

/// An idle coordinator gives a sign of life this often, so that silence means something.
constexpr auto pulse = 400ms;

/// After a term that ended early because something went wrong, others may try first.
constexpr auto pause_between_terms = 200ms;

}  // namespace

coordinator::coordinator(
    surroundings with,
    asio::any_io_executor executor,
    std::string room,
    std::function<void()> on_change
)
    : with_(with), room_(std::move(room)), on_change_(std::move(on_change)), inbox_(executor)
{
}

asio::awaitable<void> coordinator::run()
{
    if (stopped_)
        co_return;
    const auto executor = co_await asio::this_coro::executor;
    // The room refuses a coordinator that is late, so no server has to exit for that.
    const redlock::lead_options how{
        .ttl = with_.how.ttl, .pause = pause_between_terms, .watchdog = false
    };
    const auto body = [this](redlock::term& now) { return be_in_charge(now.held()); };
    try
    {
        co_await asio::co_spawn(
            executor,
            redlock::lead(with_.locks, "room:" + room_, how, body),
            asio::bind_cancellation_slot(stop_.slot(), asio::use_awaitable)
        );
    }
    catch (const std::exception& failure)
    {
        complain(failure);
    }
}

void coordinator::stop()
{
    stopped_ = true;
    stop_.emit(asio::cancellation_type::terminal);
}

asio::awaitable<void> coordinator::be_in_charge(const redlock::lease& held)
{
    // A server that can't reach the store would be a coordinator that does nothing.
    if (!with_.data.is_up())
        co_return;
    try
    {
        // The first access shows the token: from now on the room refuses our predecessors.
        extensions_ = 0;
        number_ = co_await with_.data.enter(tenure_of(held));
        accessed_ = std::chrono::steady_clock::now();
        with_.counts.terms.Increment();
        set_in_charge(true);
        co_await work(held);
    }
    catch (const std::exception& failure)
    {
        complain(failure);
    }
    if (!in_charge_)
        co_return;
    set_in_charge(false);
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await hand_over(held);
}

asio::awaitable<void> coordinator::work(const redlock::lease& held)
{
    co_await empty_inbox(held);  // What came while the room had no coordinator.
    redlock::time_point told = held.valid_until();
    for (;;)
    {
        if (co_await inbox_.wait(notice_interval))
            co_await empty_inbox(held);
        const bool extended = held.valid_until() != told;
        if (!extended && std::chrono::steady_clock::now() < accessed_ + pulse)
            continue;
        told = held.valid_until();
        extensions_ += extended;
        co_await with_.data.renew(tenure_of(held));
        accessed_ = std::chrono::steady_clock::now();
    }
}

asio::awaitable<void> coordinator::empty_inbox(const redlock::lease& held)
{
    append_result moved;
    do
    {
        // For the demo only. Other rooms have no copy.
        unfenced_copy copy = co_await with_.data.look(with_.how.copy_of(room_));

        // This only saves a useless call. The store must refuse too, because this process may be
        // paused between this check and the call.
        if (held.expired())
            throw boost::system::system_error(make_error_code(redlock::error::lease_lost));
        stall_if_told();
        try
        {
            moved = co_await with_.data.append(tenure_of(held), std::move(copy));
        }
        catch (const stale_coordinator&)
        {
            with_.counts.refused.Increment();
            throw;
        }
        accessed_ = std::chrono::steady_clock::now();
        with_.counts.appended.Increment(static_cast<double>(moved.appended));
        with_.counts.repeated.Increment(static_cast<double>(moved.repeated));
    } while (moved.more);
}

/// Reports that this server is no longer in charge, so that members see it at once. This is only a
/// courtesy, because the lease is released anyway.
asio::awaitable<void> coordinator::hand_over(const redlock::lease& held)
{
    if (held.expired() || held.last_extension())
        with_.counts.lost.Increment();
    if (held.expired())
        co_return;
    try
    {
        co_await with_.data.leave(tenure_of(held));
    }
    catch (const std::exception& failure)
    {
        complain(failure);
    }
}

void coordinator::complain(const std::exception& failure) const
{
    if (!stopped_)
        std::cerr << "room " << room_ << ": " << failure.what() << std::endl;
}

store::tenure coordinator::tenure_of(const redlock::lease& held) const
{
    return {
        .room = room_,
        .fence = held.fence(),
        .server = with_.how.name,
        .ttl = with_.how.ttl,
        .remaining = held.remaining(),
        .extensions = extensions_,
        .number = number_,
        .silent = std::chrono::duration_cast<redlock::milliseconds>(
            std::chrono::steady_clock::now() - accessed_
        ),
    };
}

void coordinator::stall_if_told() const
{
    const std::filesystem::path& told = with_.how.stall_before_append;
    std::error_code failure;
    if (!told.empty() && std::filesystem::remove(told, failure))
        std::raise(SIGSTOP);
}

void coordinator::set_in_charge(bool now)
{
    if (std::exchange(in_charge_, now) == now)
        return;
    if (now)
        with_.counts.coordinated.Increment();
    else
        with_.counts.coordinated.Decrement();
    on_change_();
}

}  // namespace chat
