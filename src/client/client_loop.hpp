#ifndef REDLOCK_SRC_CLIENT_CLIENT_LOOP_HPP
#define REDLOCK_SRC_CLIENT_CLIENT_LOOP_HPP

#include "core/instant.hpp"
#include "loop/deadlines.hpp"
#include "loop/ground.hpp"

#include <memory>
#include <utility>

namespace redlock::detail {

/// Where and when a client works: its strand, the turns there, its clocks and its one timer.
struct client_loop : ground
{
    explicit client_loop(ground on) : ground(std::move(on)) {}

    [[nodiscard]] core::instant now() const noexcept { return time->now(); }

    std::shared_ptr<deadlines> timer = std::make_shared<deadlines>(time);
};

}  // namespace redlock::detail

#endif
