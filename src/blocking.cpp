#include <redlock/blocking.hpp>
#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/lease.hpp>
#include <redlock/with_lock.hpp>

#include "loop/forks.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <stdexcept>
#include <thread>
#include <tuple>

namespace redlock::blocking {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/** Belongs to the process that made it.

    A child process has a copy, but not the thread that works with it. That thread may have been in
    the middle of a change, with a mutex locked. So the child doesn't touch the copy, not even to
    destroy it. A list of these copies shows a leak checker that they aren't lost.
*/
class detail::bound_to_process
{
public:
    bound_to_process() = default;
    bound_to_process(const bound_to_process&) = delete;
    bound_to_process& operator=(const bound_to_process&) = delete;
    virtual ~bound_to_process() = default;

    /// Whether this is the process that made it.
    [[nodiscard]] bool at_home() const noexcept { return home_.is_here(); }

    void leave_alone() noexcept
    {
        static std::atomic<bound_to_process*> last;
        before_ = last.exchange(this);
    }

private:
    const redlock::detail::home home_;
    bound_to_process* before_ = nullptr;
};

void detail::end_at_home::operator()(bound_to_process* of) const noexcept
{
    if (of->at_home())
        delete of;
    else
        of->leave_alone();
}

/// A client and the thread it runs in. Lives as long as the client or any of its leases, because
/// both need answers.
class detail::engine final : public bound_to_process
{
public:
    explicit engine(client_config config)
        : locks_(context_, std::move(config)), stopped_(locks_.async_run(asio::use_future))
    {
        thread_ = std::thread([this] { context_.run(); });
    }

    ~engine() override
    {
        locks_.cancel();
        work_.reset();
        thread_.join();
    }

    [[nodiscard]] redlock::client& locks() noexcept { return locks_; }

    /// Call it before starting an operation to wait for. The client's thread would wait for itself,
    /// and a child process doesn't have that thread.
    void check_may_wait()
    {
        if (!at_home())
            throw boost::system::system_error(error::not_running);
        if (context_.get_executor().running_in_this_thread())
        {
            throw std::logic_error(
                "a log function or observer must not block: it called a function of "
                "redlock::blocking that waits for the thread it runs in"
            );
        }
    }

    /// Starts an operation, made without a token, and blocks until it has ended.
    /// @throws What it fails with.
    template <class Operation>
    auto wait(Operation operation)
    {
        check_may_wait();
        return std::move(operation)(asio::use_future).get();
    }

    /// The same for at most this long. @return Nothing if it hasn't ended by then.
    template <class Operation>
    auto wait_within(milliseconds at_most, Operation operation)
    {
        check_may_wait();
        asio::cancellation_signal late;
        auto under_way = std::move(operation)(
            asio::bind_cancellation_slot(late.slot(), asio::as_tuple(asio::use_future))
        );
        const bool in_time = ends_within(at_most, under_way);
        if (!in_time)
            stop(late);
        auto ended = under_way.get();
        const error_code ec = std::get<0>(ended);
        if (ec && (in_time || ec != asio::error::operation_aborted))
            throw boost::system::system_error(ec);
        return ec ? std::nullopt : std::optional(std::move(ended));
    }

    /// Blocks until an operation has ended, for at most this long. @return Whether it has.
    template <class Result>
    static bool ends_within(milliseconds at_most, const std::future<Result>& under_way)
    {
        // `wait_for` adds to the current time, which can overflow.
        constexpr milliseconds longest = std::chrono::hours(24 * 365);
        return under_way.wait_for(std::min(at_most, longest)) == std::future_status::ready;
    }

private:
    /// Cancels an operation, in the thread that its cancellation slot belongs to.
    void stop(asio::cancellation_signal& operation)
    {
        const auto stop = [&operation] { operation.emit(asio::cancellation_type::terminal); };
        asio::post(context_, asio::use_future(stop)).get();
    }

    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
    redlock::client locks_;
    std::future<void> stopped_;
    std::thread thread_;
};

class detail::held_lease final : public bound_to_process
{
public:
    held_lease(std::shared_ptr<engine> by, redlock::lease held)
        : by_(std::move(by)), held_(std::move(held))
    {
    }

    [[nodiscard]] redlock::lease& operator*() noexcept { return held_; }
    [[nodiscard]] redlock::lease* operator->() noexcept { return &held_; }

    /// As `engine::wait`.
    template <class Operation>
    auto wait(Operation operation)
    {
        return by_->wait(std::move(operation));
    }

    /// From now on a closing client leaves the lease to its body.
    void begin_body()
    {
        attended_ = redlock::detail::attend(held_);
        lost_ = held_.async_wait_lost(asio::as_tuple(asio::use_future));
    }

    /// Why the lease was lost during the body. Empty: it wasn't.
    [[nodiscard]] error_code loss()
    {
        by_->check_may_wait();
        // The thread of the client knows why a lease is over, and is about to say so.
        if (held_.expired())
            lost_.wait();
        error_code waited = asio::error::operation_aborted;
        if (lost_.wait_for(0s) == std::future_status::ready)
            std::tie(waited) = lost_.get();
        // The body couldn't be told. If it ended in time, it has lost nothing.
        if (waited == error::revoked)
            waited = asio::error::operation_aborted;
        return redlock::detail::loss_of(held_, waited);
    }

private:
    std::shared_ptr<engine> by_;
    redlock::lease held_;
    std::shared_ptr<const void> attended_;
    std::future<std::tuple<error_code>> lost_;
};

class detail::held_watcher final : public bound_to_process
{
public:
    held_watcher(std::shared_ptr<engine> by, std::string_view resource)
        : by_(std::move(by)), watched_(by_->locks().watch(resource))
    {
    }

    std::optional<holding> next(milliseconds at_most)
    {
        auto seen = by_->wait_within(at_most, watched_.async_next());
        return seen ? std::optional(std::get<holding>(std::move(*seen))) : std::nullopt;
    }

private:
    std::shared_ptr<engine> by_;
    redlock::watcher watched_;
};

lease::lease() noexcept = default;
lease::lease(lease&& other) noexcept = default;
lease& lease::operator=(lease&& other) noexcept = default;
lease::~lease() = default;

lease::lease(std::shared_ptr<detail::engine> by, redlock::lease held)
    : held_(held ? new detail::held_lease(std::move(by), std::move(held)) : nullptr)
{
}

watcher::watcher(watcher&& other) noexcept = default;
watcher& watcher::operator=(watcher&& other) noexcept = default;
watcher::~watcher() = default;

watcher::watcher(std::shared_ptr<detail::engine> by, std::string_view resource)
    : held_(new detail::held_watcher(std::move(by), resource))
{
}

std::optional<holding> watcher::next(milliseconds at_most)
{
    return held_->next(at_most);
}

std::string_view lease::resource() const noexcept
{
    return held_ ? (*held_)->resource() : std::string_view();
}

time_point lease::valid_until() const noexcept
{
    return is_ours() ? (*held_)->valid_until() : time_point();
}

milliseconds lease::remaining() const noexcept
{
    return is_ours() ? (*held_)->remaining() : milliseconds(0);
}

bool lease::expired() const noexcept
{
    return !is_ours() || (*held_)->expired();
}

fencing_token lease::fence() const noexcept
{
    return held_ ? (*held_)->fence() : fencing_token();
}

bool lease::revoked() const noexcept
{
    return is_ours() && (*held_)->revoked();
}

std::size_t lease::votes() const noexcept
{
    return is_ours() ? (*held_)->votes() : 0;
}

error_code lease::last_extension() const noexcept
{
    return is_ours() ? (*held_)->last_extension() : error_code();
}

bool lease::is_ours() const noexcept
{
    return held_ && held_->at_home();
}

detail::held_lease& lease::held() const
{
    if (!held_)
        throw boost::system::system_error(error::invalid_argument);
    return *held_;
}

void lease::extend()
{
    held().wait(held()->async_extend());
}

void lease::extend_to(milliseconds ttl)
{
    held().wait(held()->async_extend(ttl));
}

void lease::announce(const note& text)
{
    held().wait(held()->async_announce(text));
}

release_outcome lease::release()
{
    return held().wait(held()->async_release());
}

void lease::abandon() noexcept
{
    if (is_ours())
        (*held_)->abandon();
    held_.reset();
}

client::client(client_config config)
    : engine_(new detail::engine(std::move(config)), detail::end_at_home())
{
}

client::~client()
{
    try
    {
        close(1s);
    }
    catch (const std::exception&)
    {
        // In a child process, or by a log function. The keys end with their ttl.
    }
    cancel();
}

bool client::wait_ready(milliseconds at_most)
{
    return engine_->wait_within(at_most, engine_->locks().async_wait_ready()).has_value();
}

lease client::acquire_with(std::string_view resource, const acquire_options& options)
{
    // Copies the engine only once the lease is granted. If this throws in the engine's own thread,
    // its copy could be the last one, and the engine would wait for itself.
    auto held = engine_->wait(engine_->locks().async_acquire(resource, options));
    return {engine_, std::move(held)};
}

lease client::try_acquire_with(std::string_view resource, const acquire_options& options)
{
    auto held = engine_->wait(engine_->locks().async_try_acquire(resource, options));
    return {engine_, std::move(held)};
}

holding client::inspect(std::string_view resource)
{
    return engine_->wait(engine_->locks().async_inspect(resource));
}

release_outcome client::free(std::string_view resource)
{
    return engine_->wait(engine_->locks().async_free(resource));
}

revocation client::revoke(std::string_view resource, fencing_token hold)
{
    return engine_->wait(engine_->locks().async_revoke(resource, hold));
}

watcher client::watch(std::string_view resource)
{
    engine_->check_may_wait();
    return {engine_, resource};
}

void client::cancel() noexcept
{
    if (engine_->at_home())
        engine_->locks().cancel();
}

bool client::close(milliseconds at_most)
{
    engine_->check_may_wait();
    std::future<void> closed = engine_->locks().async_close(asio::use_future);
    const bool in_time = detail::engine::ends_within(at_most, closed);
    cancel();
    return in_time;
}

redlock::metrics client::metrics() const noexcept
{
    return engine_->locks().metrics();
}

std::vector<node_status> client::nodes() const
{
    if (!engine_->at_home())
        throw boost::system::system_error(error::not_running);
    return engine_->locks().nodes();
}

lease client::acquire_for_body(std::string_view resource, acquire_options options)
{
    options.auto_extend = true;
    diagnostics report;
    if (!options.report)
        options.report = &report;
    try
    {
        lease held = acquire(resource, options);
        held.held_->begin_body();
        return held;
    }
    catch (const boost::system::system_error& failure)
    {
        throw redlock::detail::not_acquired(failure.code(), resource, *options.report);
    }
}

void client::end_body(lease& held)
{
    if (!held)
        return;
    const error_code lost = held.held_->loss();
    try
    {
        held.release();
    }
    catch (const boost::system::system_error&)
    {
        // The ttl ends what a release couldn't.
    }
    if (lost)
        throw redlock::detail::lock_lost(lost, held.resource(), **held.held_);
}

}  // namespace redlock::blocking
