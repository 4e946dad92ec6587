#ifndef REDLOCK_SRC_LOOP_GROUND_HPP
#define REDLOCK_SRC_LOOP_GROUND_HPP

#include "loop/clock.hpp"
#include "loop/strand.hpp"
#include "loop/turn.hpp"

#include <memory>
#include <utility>

namespace redlock::detail {

/// What everything of one client runs on.
struct ground
{
    strand_type strand;
    std::shared_ptr<turn> end_of_turn;
    std::shared_ptr<clock> time;
};

/// A new strand over `executor`, and the clocks of this machine.
[[nodiscard]] inline ground make_ground(asio::any_io_executor executor)
{
    const strand_type strand = asio::make_strand(executor);
    return {
        strand,
        std::make_shared<turn>(std::move(executor), strand),
        make_system_clock(strand),
    };
}

}  // namespace redlock::detail

#endif
