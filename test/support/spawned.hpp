#ifndef REDLOCK_TEST_SUPPORT_SPAWNED_HPP
#define REDLOCK_TEST_SUPPORT_SPAWNED_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/system/system_error.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "support/fixture.hpp"

namespace redlock::test {

/// A coroutine of a user that was started, and how it ended.
struct spawned
{
    std::size_t completions = 0;
    std::exception_ptr failure;
    asio::cancellation_signal signal;

    [[nodiscard]] bool done() const noexcept { return completions > 0; }

    /// What it says that was thrown. Empty if nothing was.
    [[nodiscard]] std::string what() const
    {
        try
        {
            if (failure)
                std::rethrow_exception(failure);
        }
        catch (const std::exception& error)
        {
            return error.what();
        }
        return {};
    }

    /// The code that it threw. Empty if it threw something else or nothing.
    [[nodiscard]] error_code code() const
    {
        try
        {
            if (failure)
                std::rethrow_exception(failure);
        }
        catch (const boost::system::system_error& error)
        {
            return error.code();
        }
        catch (...)
        {
        }
        return {};
    }
};

/// Starts a coroutine of the user, on the context of the fixture. It runs with the context.
inline std::shared_ptr<spawned> start_coroutine(client_fixture& fixture, asio::awaitable<void> work)
{
    auto started = std::make_shared<spawned>();
    auto slot = started->signal.slot();
    asio::co_spawn(
        fixture.context(),
        std::move(work),
        asio::bind_cancellation_slot(
            slot,
            [started](std::exception_ptr failure) {
                ++started->completions;
                started->failure = failure;
            }
        )
    );
    return started;
}

}  // namespace redlock::test

#endif
