#ifndef REDLOCK_SRC_NODE_REFUSED_VERBS_HPP
#define REDLOCK_SRC_NODE_REFUSED_VERBS_HPP

#include "core/instant.hpp"
#include "node/node.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::detail {

/** Which verbs a node refuses with errors, and in which words.

    A verb is refused from its first error until it is answered without one after `quiet`. A node
    that refuses some keys only would change its mind with each answer otherwise. Nor does an error
    of another kind take the place of the first one before that. The first word of an error is its
    kind. Behind it there may be keys.
*/
class refused_verbs
{
public:
    /// So long no error has come when a refusal ends.
    static constexpr std::chrono::seconds quiet{5};

    /// A question was answered with an error.
    void on_error(verb what, std::string_view words, time_point now);

    /// A question was answered without one.
    void on_answer(verb what, time_point now) noexcept;

    /// Whether there are any.
    [[nodiscard]] bool any() const noexcept { return first() != nullptr; }

    /// The words for the first of them, if they are of another kind than at the last call. Empty if
    /// no verb is refused any more.
    [[nodiscard]] std::optional<std::string> take_change();

private:
    struct refused
    {
        std::string words;  ///< Empty: it is not.
        time_point last_error;
    };

    [[nodiscard]] const refused* first() const noexcept;

    std::array<refused, verb_count> verbs_;
    std::string told_;  ///< The kind.
};

}  // namespace redlock::detail

#endif
