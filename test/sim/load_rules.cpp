// The rules for clients that want more than there is: how long they wait, and what each one gets.

#include <algorithm>
#include <string>

#include "sim/invariants.hpp"

namespace redlock::sim {

using namespace std::chrono_literals;

void invariants::i9_waits_in_bounds(nanoseconds waited, nanoseconds allowed)
{
    if (waited > allowed)
        break_rule(
            "I9",
            "somebody has waited for " + in_ms(waited) + ", though " + in_ms(allowed) +
                " are enough for everybody"
        );
}

void invariants::i11_goodput_returns(nanoseconds after, nanoseconds stall, nanoseconds least)
{
    if (after > std::max(2 * stall, least))
        break_rule(
            "I11",
            "a free resource was granted " + in_ms(after) + " after the end of a stall of " +
                in_ms(stall)
        );
}

void invariants::i12_shares_are_alike(std::span<const std::size_t> grants)
{
    // Fewer are chance.
    constexpr std::size_t enough = 40;
    const auto [least, most] = std::ranges::minmax(grants);
    if (most >= enough && most > 2 * least)
        break_rule(
            "I12",
            "of clients that all had somebody in line one was granted " + std::to_string(most) +
                " times, and another one " + std::to_string(least) + " times"
        );
}

void invariants::i20_hand_overs_keep_their_rate(
    std::size_t hand_overs,
    nanoseconds watched,
    nanoseconds fair
)
{
    const auto twice = 2 * static_cast<nanoseconds::rep>(hand_overs);
    if (fair * twice < watched)
        break_rule(
            "I20",
            "a crowd has handed over its resource " + std::to_string(hand_overs) + " times in " +
                in_ms(watched) + ", though each time takes " + std::to_string(fair / 1us) + " us"
        );
}

void invariants::i21_equals_share_alike(std::span<const std::size_t> grants)
{
    // Of a client, at either end of the time.
    constexpr std::size_t by_chance = 1;
    const auto [least, most] = std::ranges::minmax(grants);
    if (most > by_chance + 2 * (least + by_chance))
        break_rule(
            "I21",
            "of a crowd of equals one was granted " + std::to_string(most) +
                " times, and another one " + std::to_string(least) + " times"
        );
}

void invariants::i22_nobody_is_left_out(unsigned client, nanoseconds waited, nanoseconds round)
{
    constexpr int most_rounds = 20;
    if (waited > most_rounds * round)
        break_rule(
            "I22",
            "client " + std::to_string(client) + " of a crowd has waited for " + in_ms(waited) +
                ", in which everybody could have had " + std::to_string(waited / round) + " turns"
        );
}

}  // namespace redlock::sim
