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

/** Which verbs a node refuses with errors, and the words of the errors.

    A verb is refused from its first error until it is answered without one after `quiet`.
    Otherwise a node that refuses only some keys would change its state with each answer. Until
    then, an error of another kind doesn't replace the first one either. The first word of an error
    is its kind. Keys may follow.
*/
class refused_verbs
{
public:
    /// A refusal ends only after this much time without an error.
    static constexpr std::chrono::seconds quiet{5};

    /// A question was answered with an error.
    void on_error(verb what, std::string_view words, time_point now);

    /// A question was answered without one.
    void on_answer(verb what, time_point now) noexcept;

    /// Whether there are any.
    [[nodiscard]] bool any() const noexcept { return first() != nullptr; }

    /// The words for the first of them, if their kind has changed since the last call. An empty
    /// text if no verb is refused now.
    [[nodiscard]] std::optional<std::string> take_change();

private:
    struct refused
    {
        std::string words;  ///< Empty if it isn't refused.
        time_point last_error;
    };

    [[nodiscard]] const refused* first() const noexcept;

    std::array<refused, verb_count> verbs_;
    std::string told_;  ///< The kind that was reported last.
};

}  // namespace redlock::detail

#endif
