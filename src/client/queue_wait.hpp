#ifndef REDLOCK_SRC_CLIENT_QUEUE_WAIT_HPP
#define REDLOCK_SRC_CLIENT_QUEUE_WAIT_HPP

#include "client/events.hpp"
#include "client/life.hpp"
#include "client/lines.hpp"
#include "client/rounds.hpp"
#include "core/backoff.hpp"
#include "core/queue_place.hpp"
#include "loop/task.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace redlock::detail {

/** How an acquisition waits for the nodes between two rounds.

    In their queues it sleeps until a quorum of them wakes it (see `waiter`), and polls in case none
    does. The first of a queue also asks the nodes to watch the key, for holders that don't wake
    anyone. Without a queue it asks again after a pause.
*/
class queue_wait
{
public:
    queue_wait(rounds& asking, life& of, events& tells, waiter& in_line) noexcept;

    /// From now on it waits in the queues, if its client does.
    void enter();

    [[nodiscard]] const core::queue_place& place() const noexcept { return place_; }

    /// What the next round says about the place.
    /// @param token Of the round. An acquisition that doesn't wait for another one arrives with it.
    [[nodiscard]] queue_entry entry(fencing_token token);

    /// Where a lost round has left it.
    /// @param holders What the holders' nodes said. Null: they weren't asked.
    void lose_round(const round& lost, const round* holders);

    /// Sleeps until it is time for another round, or `give_up`. Fails with operation_aborted.
    /// @param pause The longest one without a queue.
    [[nodiscard]] task<error_code> until_next_round(core::nanoseconds pause, time_point give_up);

    /// It ends without a lease.
    void leave();

private:
    [[nodiscard]] core::nanoseconds next_delay(core::nanoseconds pause);
    [[nodiscard]] task<error_code> begin_watching(time_point at);
    [[nodiscard]] task<error_code> sleep_watching(time_point until);
    void track_key();

    rounds& rounds_;
    life& life_;
    events& events_;
    waiter& in_line_;
    core::queue_place place_;
    std::uint64_t era_ = 0;  ///< Of its time of arrival.
    core::queue_polls polls_;
    std::optional<std::size_t> position_;     ///< The best one that the last round reported.
    std::optional<milliseconds> free_after_;  ///< As far as the last round reported.
    bool watching_ = false;                   ///< The nodes will report one change of the key.
    std::shared_ptr<const attempt> last_;     ///< The last lost attempt.
};

}  // namespace redlock::detail

#endif
