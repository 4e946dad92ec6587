#ifndef REDLOCK_SRC_CLIENT_CLIENT_LOOP_HPP
#define REDLOCK_SRC_CLIENT_CLIENT_LOOP_HPP

#include "core/instant.hpp"
#include "loop/clock.hpp"
#include "loop/deadlines.hpp"
#include "loop/strand.hpp"
#include "loop/turn.hpp"

#include <memory>

namespace redlock::detail {

/// Where and when a client works: its strand, the turns there, its clocks and its one timer.
struct client_loop
{
    [[nodiscard]] core::instant now() const noexcept { return time->now(); }

    strand_type strand;
    std::shared_ptr<turn> end_of_turn;
    std::shared_ptr<clock> time;
    std::shared_ptr<deadlines> timer = std::make_shared<deadlines>(time);
};

}  // namespace redlock::detail

#endif
