#ifndef REDLOCK_SRC_CLIENT_ACQUISITION_HPP
#define REDLOCK_SRC_CLIENT_ACQUISITION_HPP

#include <redlock/detail/demand.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/lease.hpp>

#include "client/client_impl.hpp"
#include "client/lines.hpp"
#include "client/queue_wait.hpp"
#include "loop/task.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace redlock::detail {

/// An acquisition under way.
struct acquisition
{
    acquisition(
        std::shared_ptr<client_impl> of,
        std::shared_ptr<const demand> asked_for,
        core::instant now
    );

    [[nodiscard]] const acquire_options& options() const noexcept { return wanted->options; }
    [[nodiscard]] diagnostics* report() const noexcept { return options().report; }

    /// Says why nothing was sent, in the report and in the log.
    void explain(std::string problem, log_level level = log_level::error) const;

    /// Whether this client holds the resource itself.
    [[nodiscard]] bool is_held_here() const;

    /// Lets its wait begin now: nodes that it hasn't asked yet had to connect first.
    void wait_from(core::instant now) noexcept;

    /// Reports once to the observer that it waits, and to the log if it waits for itself.
    void tell_waiting();

    /// How long it waits for a place among the rounds under way. A try waits as long as for an
    /// answer.
    [[nodiscard]] time_point end_of_places() const noexcept;

    std::shared_ptr<client_impl> client;
    std::shared_ptr<const demand> wanted;
    core::instant started;
    time_point give_up;  ///< The end of its wait. See `wait_from`.
    waiter in_line;
    queue_wait queue;

    std::size_t rounds = 0;
    bool waits = false;      ///< The observer knows.
    fencing_token above{};   ///< What the next token must exceed.
    bool corrected = false;  ///< The next round may do better at once.
    lease granted{};
    core::instant granted_at{};
};

// Its steps. They fail with operation_aborted, among others.

/// Waits for its turn in the line of the resource. Ends with a lease if its owner is granted the
/// resource in that time. Fails with contended if neither happens.
[[nodiscard]] task<error_code> wait_in_line(acquisition& acquiring);

/// Takes part in what its owner already holds. Fails with lease_lost if that is over.
[[nodiscard]] task<error_code> join(acquisition& acquiring, std::shared_ptr<hold> held);

/// Asks all nodes once. Ends with a lease if a quorum grants.
[[nodiscard]] task<error_code> ask_once(acquisition& acquiring);

}  // namespace redlock::detail

#endif
