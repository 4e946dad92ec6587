#ifndef REDLOCK_LEAD_HPP
#define REDLOCK_LEAD_HPP

#include <redlock/client.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/fencing.hpp>
#include <redlock/lease.hpp>
#include <redlock/note.hpp>
#include <redlock/time.hpp>
#include <redlock/with_lock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace redlock {

/// The body of a term is still running at its deadline, although it was asked to stop earlier.
struct overrun
{
    std::string_view resource;  ///< As given to `lead`.
    fencing_token number;       ///< Of the term. Empty in plain mode.
};

/// Writes a line to stderr, unless that would block, and aborts the process.
[[noreturn]] REDLOCK_EXPORT void abort_on_overrun(const overrun& event) noexcept;

/// What one `lead` has done. It counts here, and any thread may read.
struct lead_metrics
{
    std::atomic<std::uint64_t> terms{0};     ///< Terms begun.
    std::atomic<std::uint64_t> losses{0};    ///< Terms that ended because the lease was lost.
    std::atomic<std::uint64_t> overruns{0};  ///< Calls of `lead_options::on_overrun`.

    /// When the body of the current term began. The epoch: no term is running.
    std::atomic<time_point> leading_since{time_point()};

    /// Whether the body of a term runs.
    [[nodiscard]] bool leading() const noexcept { return leading_since.load() != time_point(); }

    /// How long the current term has lasted. Zero if there is none.
    [[nodiscard]] milliseconds led_for() const noexcept
    {
        const time_point since = leading_since;
        if (since == time_point())
            return milliseconds(0);
        return std::chrono::floor<milliseconds>(time_point::clock::now() - since);
    }
};

/** The options of `lead`.

    An aggregate for designated initializers: `{.ttl = 3s}`. It stays trivially copyable, because
    GCC 12 destroys other temporaries of a `co_await` expression twice.
*/
struct lead_options
{
    /// As `acquire_options::ttl`. A leader that dies is replaced after this time.
    milliseconds ttl{10'000};

    /// What others see of this leader until it announces something else. See
    /// `acquire_options::note`.
    redlock::note note{};

    /// As `acquire_options::stop_before`, with the same limits. Zero: a third of `ttl`.
    milliseconds stop_before{0};

    /// How long nobody leads after the deadline of a lost leader. As `acquire_options::grace`. The
    /// end of the body ends it.
    milliseconds grace{0};

    /// How long a term may last. As `acquire_options::hold_max`.
    milliseconds hold_max = forever;

    /// Time from the end of a term until it stands again, so that others can lead first: random,
    /// between half of this value and all of it. Runs on the real clock. At most 24 h.
    milliseconds pause{500};

    /// Watch the deadline of the body on a thread that the body cannot block, and call `on_overrun`
    /// if the body is still running then.
    bool watchdog = true;

    /** Called once for a term whose body overruns its deadline, while the body may be running.

        Called on the thread of the watchdog. It must not block, and should end the process or
        change atomic variables. If it returns, the body keeps running without protection, and
        `lead` stands again only when the body has ended. Not null.
    */
    void (*on_overrun)(const overrun& event) noexcept = abort_on_overrun;

    /// Counts what `lead` does. Null: nothing. Must live until the coroutine has ended.
    lead_metrics* metrics = nullptr;
};

static_assert(std::is_trivially_copyable_v<lead_options>);

namespace detail {

class incumbent;

}  // namespace detail

/** One time of leading, as the body of `lead` sees it. Lives until the body has ended.

    @par Thread safety
    Every function may be called from any thread while the body runs.
*/
class REDLOCK_EXPORT term
{
public:
    term(const term&) = delete;
    term& operator=(const term&) = delete;

    /// The lease of the term. `lead` extends and releases it.
    [[nodiscard]] const lease& held() const noexcept { return held_; }

    /// The fencing token of the lease: greater than that of every earlier term. Empty in plain
    /// mode.
    [[nodiscard]] fencing_token number() const noexcept { return held_.fence(); }

    /// Replaces the note for those who inspect or watch the resource. As `lease::async_announce`.
    template <class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_announce(const note& text, Token&& token = Token()) const
    {
        return held_.async_announce(text, std::forward<Token>(token));
    }

    /// Asks the body to end, as the loss of the lease does: its next wait throws
    /// `operation_aborted`. The lease is released when the body has ended. A body that returns
    /// resigns without this.
    void resign() const;

private:
    friend class detail::incumbent;

    explicit term(const lease& held, std::shared_ptr<boost::asio::steady_timer> resigned) noexcept
        : held_(held), resigned_(std::move(resigned))
    {
    }

    const lease& held_;
    std::shared_ptr<boost::asio::steady_timer> resigned_;  ///< Expires to ask the body to end.
};

namespace detail {

using lead_body = std::function<boost::asio::awaitable<void>(term&)>;

[[nodiscard]] REDLOCK_EXPORT boost::asio::awaitable<void> lead(
    client& locks,
    std::string resource,
    lead_options options,
    lead_body body
);

}  // namespace detail

/** Leads, term after term: stands until it is granted the resource, then runs `body` as leader.

    1. Stands: acquires `resource`, no matter how long that takes. Waits while another process
    leads, and while nodes are down, in quarantine or overloaded.
    2. Runs `body(term&)` and extends the lease, as `with_lock` does. If the lease is lost or
    revoked, or has only `lead_options::stop_before` left, cancels the body
    (`cancellation_type::terminal`).
    3. Releases the resource when the body has ended, so another process can lead at once.
    4. Pauses, then stands again. After `client::async_revoke` it waits one more `ttl`.

    A body that hasn't ended by the deadline of its lease is an overrun: another process may already
    lead. `lead_options::on_overrun` is called, which aborts the process by default. See
    docs/leadership.md.

    @param locks Must live until the returned coroutine has ended.

    @param resource As for `client::async_acquire`. All processes that may lead use the same one.
    Copied.

    @param options See `lead_options`. Copied, except the object that `metrics` points to.

    @param body Function object that takes the term and returns `boost::asio::awaitable<void>`.
    Called once in each term, on a strand over the executor of the awaiting coroutine. A body that
    returns or throws `operation_aborted` resigns. Copied or moved, like the body of `with_lock`; it
    need not be copyable.

    @return A coroutine to await or spawn. Ends without an exception when the client is cancelled or
    closed: after the body, and at the end of a pause.

    @par Errors
    Thrown, those of the library as `boost::system::system_error`. Waiting fixes none of them.
    @li Any exception from the body, except `operation_aborted`.
    @li `error::invalid_argument`: the resource or an option is out of range.
    @li `error::config_mismatch`: nodes have been marked for clients with other settings for 10 s.
    @li `error::not_running`: the client didn't start running within 10 s, or had already stopped.
    @li `std::system_error`: the watchdog's thread couldn't be started.
    @li `operation_aborted`: the coroutine was cancelled.

    @par Cancellation
    Terminal. Cancels the body and waits for its end; the release that follows is not cancelled.
*/
template <class Body>
[[nodiscard]] boost::asio::awaitable<void> lead(
    client& locks,
    std::string_view resource,
    const lead_options& options,
    Body&& body
)
{
    using function = std::decay_t<Body>;
    constexpr bool callable = std::invocable<function&, term&>;
    static_assert(
        callable, "lead calls its body with a redlock::term&, so the body must take one."
    );
    constexpr bool awaitable =
        std::is_invocable_r_v<boost::asio::awaitable<void>, function&, term&>;
    static_assert(
        !callable || awaitable,
        "The body of lead must return boost::asio::awaitable<void>; a lambda has to say so: "
        "[&](redlock::term& now) -> boost::asio::awaitable<void> { ... co_return; }"
    );
    static_assert(
        detail::safe_body<Body>,
        "GCC 12 would destroy the captures of this body twice. Give the lambda a name and pass the "
        "name, which copies it, or std::ref(name)."
    );
    constexpr bool kept = std::constructible_from<function, Body>;
    static_assert(
        kept,
        "lead copies its body, but this one can't be copied. Pass std::move(body), or "
        "std::ref(body) if it outlives the coroutine."
    );
    if constexpr (awaitable && kept)
    {
        // Shared, because a std::function has to be copyable.
        auto shared = std::make_shared<function>(std::forward<Body>(body));
        return detail::lead(locks, std::string(resource), options, [shared](term& now) {
            return std::invoke(*shared, now);
        });
    }
}

}  // namespace redlock

#endif
