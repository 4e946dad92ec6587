#ifndef REDLOCK_SRC_CLIENT_EXTENSION_ROUND_HPP
#define REDLOCK_SRC_CLIENT_EXTENSION_ROUND_HPP

#include "client/hold.hpp"
#include "client/round.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace redlock::detail {

/** An extension of a hold, which learns from each answer whether that node has it.

    Once the hold is over, what wasn't written yet isn't written: it would take the hold again.
*/
class extension_round final : public round
{
public:
    extension_round(subject of, turn& end_of_turn, const std::shared_ptr<hold>& held)
        : round(std::move(of), end_of_turn), held_(held), expected_(held->standing())
    {
    }

    void on_reply(std::size_t node, const reply& answer) noexcept override;
    [[nodiscard]] bool wanted() const noexcept override;

private:
    void tell(std::size_t node, bool granted, bool is_taken_again) noexcept;

    /// Not kept: a hold keeps its client, and a client's nodes keep what they are asked.
    std::weak_ptr<hold> held_;
    node_set expected_;  ///< From which a grant is no news.
};

}  // namespace redlock::detail

#endif
