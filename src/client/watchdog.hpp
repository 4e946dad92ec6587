#ifndef REDLOCK_SRC_CLIENT_WATCHDOG_HPP
#define REDLOCK_SRC_CLIENT_WATCHDOG_HPP

#include <redlock/lead.hpp>
#include <redlock/lease.hpp>
#include <redlock/time.hpp>

#include "core/overrun.hpp"
#include "loop/forks.hpp"

#include <boost/intrusive/list.hpp>

#include <condition_variable>
#include <mutex>

namespace redlock::detail {

/// A term whose body runs, as the watchdog sees it. A copy in a child process is destroyed while it
/// is linked.
class watched_term : public boost::intrusive::list_base_hook<
                         boost::intrusive::link_mode<boost::intrusive::normal_link>>
{
public:
    /// @param held Must outlive this.
    watched_term(const lease& held, const lead_options& how) noexcept;

    /// Looks at the deadline. Calls `on_overrun` once, if the body is beyond it.
    /// @return When to look next, at the latest.
    [[nodiscard]] time_point look(time_point now) noexcept;

private:
    const lease& held_;
    core::overrun_watch watch_;
    lead_metrics* metrics_;
    void (*on_overrun_)(const overrun&) noexcept;
    bool told_ = false;
};

/** Watches the deadlines of bodies on its own thread, which a body can't block.

    A process has one, from its first term on. It's never destroyed, joined or told that the process
    ends: the thread uses only this object, the leases of running bodies, their metrics and their
    `on_overrun`. So it may continue during the destruction of static objects, while a body still
    runs. An `on_overrun` that takes long delays every body that begins or ends.

    A child process doesn't inherit the thread, and gets another watchdog with its own first term.
    Copies of the parent's terms never lock the copied mutex: the missing thread may have locked it.
*/
class watchdog
{
public:
    [[nodiscard]] static watchdog& of_this_process();

    /// Watches a term from construction to destruction.
    class entry;

private:
    void add(watched_term& term);
    void remove(watched_term& term) noexcept;
    void run() noexcept;

    const home home_;
    std::mutex mutex_;
    std::condition_variable changed_;
    boost::intrusive::list<watched_term> terms_;
    bool runs_ = false;
};

class watchdog::entry
{
public:
    /// @throws std::system_error if no thread can be started.
    explicit entry(watched_term& term) : term_(term) { in_.add(term_); }

    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;

    /// Waits for `on_overrun` if it's being called.
    ~entry() { in_.remove(term_); }

private:
    watchdog& in_ = of_this_process();
    watched_term& term_;
};

}  // namespace redlock::detail

#endif
