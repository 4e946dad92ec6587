#ifndef REDLOCK_SRC_NODE_COMMANDS_HPP
#define REDLOCK_SRC_NODE_COMMANDS_HPP

#include "node/guard.hpp"
#include "node/node.hpp"
#include "node/redis_link.hpp"

#include <boost/redis/request.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace redlock::detail {

/// Questions are put to one node after the other, so the last ones are all that needs keeping.
class command_encoder
{
public:
    explicit command_encoder(std::shared_ptr<const guard> guarded) : guarded_(std::move(guarded)) {}

    /// Whether questions with this verb are put as lists.
    [[nodiscard]] bool uses_lists(verb what) const noexcept
    {
        return guarded_ && what != verb::holder;
    }

    [[nodiscard]] const boost::redis::request& encode(const question& asked);

    /// @param asked Questions of one verb.
    [[nodiscard]] const boost::redis::request& encode(
        std::span<const question_ptr> asked
    );

    /// Adds a command with the whole script, for a server that has forgotten it.
    void push_whole(boost::redis::request& to, const question_ptr& asked) const;

private:
    struct kept_question
    {
        boost::redis::request encoded;
        std::uint64_t serial = 0;
    };

    struct kept_list
    {
        boost::redis::request encoded;
        std::vector<std::uint64_t> serials;
    };

    std::shared_ptr<const guard> guarded_;  ///< Null in plain mode.
    kept_question plain_;
    std::array<kept_list, verb_count> lists_;
};

}  // namespace redlock::detail

#endif
