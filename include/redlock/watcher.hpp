#ifndef REDLOCK_WATCHER_HPP
#define REDLOCK_WATCHER_HPP

#include <redlock/detail/export.hpp>
#include <redlock/detail/initiate.hpp>
#include <redlock/detail/lease_executor.hpp>
#include <redlock/error.hpp>
#include <redlock/holding.hpp>

#include <boost/asio/deferred.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace redlock {

class client;

namespace detail {

class observation;

REDLOCK_EXPORT void start_next(handler_of<holding> handler, std::shared_ptr<observation> watched);

}  // namespace detail

/** Reports who holds a resource, and then each change. Made by `client::watch`.

    What it reports is advice, as with `holding`. It works only while `async_next` is under way, so
    nothing piles up.

    @par Thread safety
    Distinct objects: safe. Shared objects: every function may be called from any thread, except
    moving, assigning and destroying. One `async_next` at a time.

    @par Executor
    Handlers run on their associated executor, by default on the client's.

    @par Lifetime
    May outlive its client, but `async_next` then fails. The execution context must outlive it.

    @par Example
    @code
    auto leaders = locks.watch("billing:leader");
    for (;;)
    {
        const redlock::holding now = co_await leaders.async_next();
        std::cout << now.state << ' ' << now.note << '\n';
    }
    @endcode
*/
class REDLOCK_EXPORT watcher
{
public:
    /// Takes over the watcher. `other` may then only be assigned or destroyed.
    watcher(watcher&& other) noexcept = default;

    /// Drops the previous watcher, whose `async_next` continues.
    watcher& operator=(watcher&& other) noexcept = default;

    /// Doesn't end an `async_next` that is under way.
    ~watcher();

    /// The resource as given to `client::watch`.
    [[nodiscard]] std::string_view resource() const noexcept;

    /** Waits for the first view, or for one that differs from the last one reported.

        The first view comes at once, the next one when the state, the holder or the note changes. A
        resource without a holder is a view too. Only the latest view is reported: a holder that is
        gone before it could be seen is skipped. The token never decreases.

        With queues, the default in guarded mode, the nodes push changes. Otherwise, or if a push
        gets lost, a change is seen within `waiting_config::poll`. `undecided` is reported only if
        it lasts for 20 ms: the view reported before may then be out of date.

        @par Completion signature
        `void(boost::system::error_code, redlock::holding)`

        @param token Completion token. There is no time limit: add one with `cancel_after`.

        @par Errors
        @li `error::invalid_argument`: the resource is out of range, or another `async_next` is
        under way.
        @li `error::overloaded`: the nodes had too many unanswered commands of this client.
        @li `error::not_running`: the client didn't start running within 1 s, or has stopped.
        @li `operation_aborted`: the operation or the client was cancelled, or the client was
        closed.

        @par Cancellation
        Terminal and partial. The next one reports what this one would have.
    */
    template <class Token = boost::asio::deferred_t>
    [[nodiscard]] auto async_next(Token&& token = Token())
    {
        return detail::initiate(
            std::forward<Token>(token), runs_on(), detail::start_next, watched_
        );
    }

private:
    friend class client;

    explicit watcher(std::shared_ptr<detail::observation> watched) noexcept;

    [[nodiscard]] detail::lease_executor runs_on() const;

    std::shared_ptr<detail::observation> watched_;
};

}  // namespace redlock

#endif
