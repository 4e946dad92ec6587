#include <redlock/client.hpp>
#include <redlock/error.hpp>
#include <redlock/lead.hpp>
#include <redlock/lease.hpp>
#include <redlock/options.hpp>
#include <redlock/time.hpp>
#include <redlock/with_lock.hpp>

#include "client/client_impl.hpp"
#include "client/hold.hpp"
#include "client/spawn_op.hpp"
#include "client/watchdog.hpp"
#include "loop/platform.hpp"
#include "loop/randomness.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace redlock {

/** Leading, as a loop of `with_lock`.

    It treats a lost lease, an absent node and another leader alike: it stands again. It ends only
    with an error that waiting doesn't fix. An acquisition without a limit would never report that
    error, so each one has a limit, and another one follows.
*/
namespace detail {

namespace asio = boost::asio;

namespace {

[[nodiscard]] bool is_cancelled(const asio::cancellation_state& state) noexcept
{
    return state.cancelled() != asio::cancellation_type::none;
}

/// Waits until the timer has expired. If it already has, begins no wait: on Windows another thread
/// would end that one, and until then a polled loop would look idle.
asio::awaitable<void> wait_for(std::shared_ptr<asio::steady_timer> timer)
{
    if (timer->expiry() != asio::steady_timer::time_point::min())
        co_await timer->async_wait(asio::as_tuple(asio::deferred));
}

}  // namespace

/// The body of `with_lock`: runs the body of `lead` in one term, and keeps the result.
class incumbent
{
public:
    incumbent(const lead_options& how, lead_body& body) noexcept : how_(how), body_(body) {}

    asio::awaitable<void> operator()(lease& held)
    {
        const auto executor = co_await asio::this_coro::executor;
        const auto resigned =
            std::make_shared<asio::steady_timer>(executor, asio::steady_timer::time_point::max());
        term now(held, resigned);
        const count counted(*how_.metrics);
        watched_term watched(held, how_);
        std::optional<watchdog::entry> entry;
        if (how_.watchdog)
            entry.emplace(watched);

        auto race = asio::experimental::make_parallel_group(
            asio::co_spawn(
                executor,
                [this, &now]() { return body_(now); },
                asio::bind_executor(executor, asio::deferred)
            ),
            asio::co_spawn(
                executor, wait_for(resigned), asio::bind_executor(executor, asio::deferred)
            )
        );
        // Completes when both have ended: a body that is cancelled still runs to its end.
        const auto outcome =
            co_await race.async_wait(asio::experimental::wait_for_one(), asio::deferred);
        const std::exception_ptr& thrown = std::get<1>(outcome);
        if (thrown && !is_cancellation(thrown))
            failure_ = thrown;
        if (held.revoked())
            revoked_by_ = share_of(held)->held()->client();
        // The end of the lease, of the client and of `lead` all cancel this coroutine.
        resigned_ = !is_cancelled(co_await asio::this_coro::cancellation_state);
    }

    /// What the body has thrown, unless it was cancelled. `with_lock` needn't know about it.
    [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

    /// Whether the body has ended voluntarily, or because it was told to resign.
    [[nodiscard]] bool has_resigned() const noexcept { return resigned_; }

    /// The client, if its holder was asked to stop. Otherwise null.
    [[nodiscard]] const std::shared_ptr<client_impl>& revoked_by() const noexcept
    {
        return revoked_by_;
    }

private:
    /// Counts a term from the beginning of its body to the end.
    class count
    {
    public:
        explicit count(lead_metrics& in) noexcept : in_(in)
        {
            ++in_.terms;
            in_.leading_since = time_point::clock::now();
        }

        count(const count&) = delete;
        count& operator=(const count&) = delete;
        ~count() { in_.leading_since = time_point(); }

    private:
        lead_metrics& in_;
    };

    const lead_options& how_;
    lead_body& body_;
    std::exception_ptr failure_;
    bool resigned_ = false;
    std::shared_ptr<client_impl> revoked_by_;
};

namespace {

using namespace std::chrono_literals;

/// How long it waits for the resource before it checks the error. See above.
constexpr milliseconds candidacy = 10s;

constexpr milliseconds longest_pause = 24h;

void check(const lead_options& options)
{
    const auto reject = [](const char* problem) {
        throw boost::system::system_error(error::invalid_argument, problem);
    };
    if (options.pause < 0ms || options.pause > longest_pause)
        reject("pause is not between 0 and 24 h");
    if (!options.on_overrun)
        reject("on_overrun is null");
}

[[nodiscard]] acquire_options wanted_by(const lead_options& options) noexcept
{
    acquire_options wanted;
    wanted.ttl = options.ttl;
    wanted.wait = candidacy;
    wanted.hold_max = options.hold_max;
    wanted.stop_before = options.stop_before;
    wanted.grace = options.grace;
    wanted.note = options.note;
    return wanted;
}

[[nodiscard]] bool is_end_of_term(error_code ec) noexcept
{
    return ec == error::lease_lost || ec == error::hold_limit_reached;
}

/// Whether it may lead later.
[[nodiscard]] bool is_passing(error_code ec) noexcept
{
    return is_end_of_term(ec) || ec == error::revoked || ec == asio::error::operation_aborted ||
           (ec == condition::not_acquired && ec != error::config_mismatch);
}

/// Lets others lead for a while. Ends with the client, which has no time to lose then.
task<error_code> stand_back(std::shared_ptr<client_impl> by, milliseconds time)
{
    pause sleep(*by->loop.end_of_turn);
    co_return co_await by->life.sleep_until(sleep, core::shifted(by->now(), time).steady);
}

void start_stand_back(handler_of<> handler, to_client by, milliseconds time)
{
    spawn_op(*by, stand_back(by, time), std::move(handler));
}

/// The same for a coroutine of the user.
auto async_stand_back(client& locks, to_client by, milliseconds time)
{
    const lease_executor runs_on(locks.get_executor());
    return initiate(asio::as_tuple(asio::deferred), runs_on, start_stand_back, std::move(by), time);
}

/// Waits for a random time between half of `pause` and all of it, so that candidates spread out.
asio::awaitable<void> rest(milliseconds pause)
{
    if (pause == 0ms)
        co_return;  // On Windows even a timer with nothing to wait for takes a while.
    const auto half = static_cast<std::uint64_t>(pause.count() / 2);
    const milliseconds time = pause - milliseconds(random_bits() % (half + 1));
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::deferred);
}

}  // namespace

asio::awaitable<void> lead(
    client& locks,
    std::string resource,
    lead_options options,
    lead_body body
)
{
    check(options);
    lead_metrics unread;
    if (!options.metrics)
        options.metrics = &unread;
    if (options.stop_before == 0ms)
        options.stop_before = options.ttl / 3;
    for (bool first = true;; first = false)
    {
        incumbent serves(options, body);
        error_code ended;
        std::exception_ptr why;
        try
        {
            co_await with_lock(locks, resource, wanted_by(options), std::ref(serves));
        }
        catch (const boost::system::system_error& failure)
        {
            ended = failure.code();
            why = std::current_exception();
        }
        if (serves.failure())
            std::rethrow_exception(serves.failure());
        if (ended == error::not_running && !first)
            co_return;
        if (ended && !is_passing(ended))
            std::rethrow_exception(why);
        if (ended == error::lease_lost)
            ++options.metrics->losses;
        if (serves.revoked_by())
            co_await async_stand_back(locks, serves.revoked_by(), options.ttl);
        if (is_cancelled(co_await asio::this_coro::cancellation_state))
            throw boost::system::system_error(asio::error::operation_aborted);
        // After anything else, such as the end of the client, it needn't let others lead first.
        if (serves.has_resigned() || serves.revoked_by() || is_end_of_term(ended))
            co_await rest(options.pause);
    }
}

}  // namespace detail

void term::resign() const
{
    // Not cancelled, because the body may call this before anything waits for the timer.
    boost::asio::dispatch(resigned_->get_executor(), [resigned = resigned_]() {
        resigned->expires_at(boost::asio::steady_timer::time_point::min());
    });
}

void abort_on_overrun(const overrun& event) noexcept
{
    // No streams and no heap: the running body may have locked them.
    char line[700];
    const std::string_view resource = event.resource.substr(0, 512);
    const int size = std::snprintf(
        line,
        sizeof line,
        "redlock: lead of '%.*s', term %llu: the body still runs at its deadline. Aborting.\n",
        static_cast<int>(resource.size()),
        resource.data(),
        static_cast<unsigned long long>(event.number.value())
    );
    if (size > 0)
        detail::platform::write_last_words({line, static_cast<std::size_t>(size)});
    std::abort();
}

}  // namespace redlock
