#ifndef REDLOCK_SRC_CLIENT_STAMPS_HPP
#define REDLOCK_SRC_CLIENT_STAMPS_HPP

#include <redlock/config.hpp>
#include <redlock/fencing.hpp>

#include "client/client_loop.hpp"
#include "client/roster.hpp"
#include "client/round.hpp"
#include "core/token_clock.hpp"

#include <chrono>
#include <cstdint>

namespace redlock::detail {

/** Tokens, stamps and arrivals: times of the nodes, as far as the client knows them.

    The client learns that time from the answers to lost rounds. Used on the strand only.
*/
class stamps
{
public:
    stamps(const client_config& config, const client_loop& loop, const roster& nodes) noexcept
        : config_(config), loop_(loop), nodes_(nodes)
    {
    }

    /// A token above `above`. Empty in plain mode.
    [[nodiscard]] fencing_token next_token(fencing_token above) noexcept;

    /// The current time: when an extension is asked for, or an acquisition arrives.
    [[nodiscard]] std::uint64_t now() const noexcept { return clock_.stamp(loop_.time->wall()); }

    /// Changes whenever the client learns that its time was wrong. Arrivals of earlier eras no
    /// longer count: they would come before everyone, or after.
    [[nodiscard]] std::uint64_t era() const noexcept { return era_; }

    /// How long a node must keep a resource for this client. Zero: as long as for all clients.
    [[nodiscard]] milliseconds own_reservation() const noexcept;

    /// Whether a round was lost before enough nodes said what time it is, and others still may.
    [[nodiscard]] bool lacks_times(const round& lost) const noexcept;

    /// Whether a round that was lost could be won at once with another stamp. Learns the nodes'
    /// time; raises `above` to the highest fence that may be exceeded.
    [[nodiscard]] bool correct(const round& lost, fencing_token& above);

    /// Adopts the time of the nodes, if a quorum reported it or so many refuse ours that no quorum
    /// can grant.
    void learn_time(const round& lost);

private:
    [[nodiscard]] milliseconds reservation_at(core::nanoseconds distance) const noexcept;
    [[nodiscard]] std::chrono::microseconds ahead() const noexcept;

    const client_config& config_;
    const client_loop& loop_;
    const roster& nodes_;
    core::token_clock clock_;
    std::uint64_t era_ = 0;
};

}  // namespace redlock::detail

#endif
