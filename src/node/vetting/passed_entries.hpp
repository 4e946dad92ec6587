#ifndef REDLOCK_SRC_NODE_VETTING_PASSED_ENTRIES_HPP
#define REDLOCK_SRC_NODE_VETTING_PASSED_ENTRIES_HPP

#include "core/electorate.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace redlock::detail {

/** The entries of a list whose servers have passed all checks, on connections that are open.

    A marker binds a node to the settings of the client that writes it, and to the length of its
    list. So an unmarked node is marked only when a quorum of the list has passed. A wrong list, for
    example one with a master and its replica, must not leave markers that the right list finds.
*/
class passed_entries
{
public:
    /// The connection that has passed for an entry.
    class member
    {
    public:
        virtual void on_quorum() = 0;

    protected:
        ~member() = default;
    };

    explicit passed_entries(std::size_t node_count) : passed_(node_count) {}

    /// The server of an entry has passed. If this makes the quorum, tells all others that have.
    /// @param passed Must live until it leaves.
    void enter(std::size_t node, member& passed)
    {
        const bool were_quorum = are_quorum();
        passed_[node] = &passed;
        if (were_quorum || !are_quorum())
            return;
        for (member* const each : passed_)
        {
            if (each && each != &passed)
                each->on_quorum();
        }
    }

    /// The connection is over. No effect if it hasn't passed, or if another one has since.
    void leave(std::size_t node, const member& passed) noexcept
    {
        if (passed_[node] == &passed)
            passed_[node] = nullptr;
    }

    [[nodiscard]] bool are_quorum() const noexcept
    {
        const auto absent = static_cast<std::size_t>(std::ranges::count(passed_, nullptr));
        return absent <= core::electorate(passed_.size()).spare();
    }

private:
    std::vector<member*> passed_;  ///< Null for the others.
};

}  // namespace redlock::detail

#endif
