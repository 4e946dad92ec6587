#ifndef REDLOCK_TEST_SIM_ACTOR_HPP
#define REDLOCK_TEST_SIM_ACTOR_HPP

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/simulation.hpp"

namespace redlock::sim {

/// A user of a client, in every way that there is.
class actor
{
public:
    actor(simulation& in, contender& by, std::uint64_t seed) : sim_(in), by_(by), dice_(seed) {}

    /// Works for as long as the plan says, or the client can be used.
    /// @param index Among those of the same client.
    [[nodiscard]] asio::awaitable<void> work(std::size_t index);

    /// Acquires each resource once, however long it takes. For I9.
    [[nodiscard]] asio::awaitable<void> probe();

private:
    using claim_ptr = invariants::claim_ptr;

    [[nodiscard]] asio::awaitable<void> pause(nanoseconds duration);
    [[nodiscard]] asio::awaitable<void> acquire_and_use();

    // Load: load.cpp.
    [[nodiscard]] asio::awaitable<void> take_one_of_burst(std::size_t index);
    [[nodiscard]] asio::awaitable<void> stand_in_line();
    [[nodiscard]] asio::awaitable<void> stay_in_crowd();  // crowd.cpp
    [[nodiscard]] asio::awaitable<std::optional<nanoseconds>> take_and_give_back(
        std::string resource,
        nanoseconds longest_hold
    );
    // Nodes that are away one after the other: rolling.cpp.
    [[nodiscard]] asio::awaitable<void> hold_on();
    [[nodiscard]] asio::awaitable<void> extend_by_itself();
    [[nodiscard]] asio::awaitable<void> hold_with_lock();
    [[nodiscard]] asio::awaitable<void> lead();
    [[nodiscard]] asio::awaitable<void> stay(const redlock::lease& held, claim& mine);
    [[nodiscard]] acquire_options draw_long_hold();

    [[nodiscard]] asio::awaitable<void> use_with_lock();
    [[nodiscard]] asio::awaitable<void> use(redlock::lease& held, claim& mine);
    [[nodiscard]] asio::awaitable<void> touch_store(const redlock::lease& held);
    [[nodiscard]] asio::awaitable<void> extend(redlock::lease& held);
    [[nodiscard]] asio::awaitable<void> inspect(const redlock::lease& held, const claim& mine);
    [[nodiscard]] asio::awaitable<void> revoke(std::string resource);
    [[nodiscard]] asio::awaitable<void> free(std::string resource);
    [[nodiscard]] asio::awaitable<void> part_with(
        redlock::lease& held,
        claim_ptr& mine,
        milliseconds at_least
    );

    [[nodiscard]] acquire_options draw_options();
    [[nodiscard]] std::string draw_resource();
    [[nodiscard]] std::size_t draw_steps();
    [[nodiscard]] claim make_claim(const redlock::lease& held, const acquire_options& options)
        const;

    simulation& sim_;
    contender& by_;
    dice dice_;
};

}  // namespace redlock::sim

#endif
