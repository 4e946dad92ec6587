#include "stock_service/seller.hpp"

#include <redlock/lease.hpp>
#include <redlock/options.hpp>
#include <redlock/with_lock.hpp>

#include "fencing/stale_token.hpp"

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <utility>

namespace asio = boost::asio;

namespace stock_service {

namespace {

/// Cancels an operation that takes longer, so that it throws.
template <class T>
asio::awaitable<T> within(std::chrono::milliseconds limit, asio::awaitable<T> operation)
{
    const auto executor = co_await asio::this_coro::executor;
    co_return co_await asio::co_spawn(executor, std::move(operation), asio::cancel_after(limit));
}

}  // namespace

asio::awaitable<std::int64_t> seller::left(std::int64_t item)
{
    return within(how_.database_limit, stock_.peek(item));
}

asio::awaitable<sale> seller::sell(std::int64_t item, std::int64_t quantity)
{
    if (how_.lock == locking::off)  // Then all have the same token: the fence keeps nobody out.
        return deduct(item, quantity, token::from_value(1));
    return under_lock("stock:" + std::to_string(item), [=, this](token fence) {
        return deduct(item, quantity, fence);
    });
}

// snippet: under_lock
// Runs the body while the resource is ours. with_lock extends the lease until the body ends, and
// cancels the body if the lease is lost.
asio::awaitable<sale> seller::under_lock(std::string resource, work body)
{
    redlock::diagnostics report;
    const redlock::acquire_options options{.ttl = how_.ttl, .wait = how_.wait, .report = &report};
    const auto run = [&body](redlock::lease& held) { return body(held.fence()); };
    try
    {
        co_return co_await redlock::with_lock(locks_, resource, options, run);
    }
    catch (const boost::system::system_error& failure)
    {
        if (failure.code() == redlock::condition::not_acquired)
            throw not_locked(failure.code(), report);
        if (failure.code() == redlock::error::lease_lost)  // The sale may have been made.
            throw unconfirmed(failure.code().message());
        throw;
    }
}
// end snippet

// snippet: deduct
// Reads, computes and writes, in two transactions. For this toy, a single UPDATE would do, or one
// transaction that locks the row. But real services compute between reading and writing, or call
// other services. So here only the lock keeps two sales apart, and the token refuses a sale whose
// lease has ended on the way.
asio::awaitable<sale> seller::deduct(std::int64_t item, std::int64_t quantity, token fence)
{
    const std::int64_t there = co_await within(how_.database_limit, stock_.read(item, fence));
    if (there < quantity)
        co_return sale{.sold = false, .left = there};

    // A sale that begins to write is not cancelled, or nobody would know whether it was made.
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    asio::steady_timer timer(co_await asio::this_coro::executor, how_.compute);
    co_await timer.async_wait();
    co_await write(item, fence, there - quantity);
    co_return sale{.sold = true, .left = there - quantity};
}
// end snippet

// A refused token has changed nothing. After any other failure nobody knows, because the answer to
// a COMMIT may have been lost.
asio::awaitable<void> seller::write(std::int64_t item, token fence, std::int64_t amount)
{
    try
    {
        co_await within(how_.database_limit, stock_.write(item, fence, amount));
    }
    catch (const recipes::stale_token&)
    {
        throw;
    }
    catch (const std::exception& failure)
    {
        throw unconfirmed(failure.what());
    }
}

}  // namespace stock_service
