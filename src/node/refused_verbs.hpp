#ifndef REDLOCK_SRC_NODE_REFUSED_VERBS_HPP
#define REDLOCK_SRC_NODE_REFUSED_VERBS_HPP

#include "core/instant.hpp"
#include "node/node.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
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
    void on_error(verb what, std::string_view words, time_point now)
    {
        refused& known = verbs_[static_cast<std::size_t>(what)];
        const bool same_kind = kind_of(known.words) == kind_of(words);
        if (!same_kind && !known.words.empty() && now < known.last_error + quiet)
            return;
        if (!same_kind)
            known.words = words;
        known.last_error = now;
    }

    /// A question was answered without one.
    void on_answer(verb what, time_point now) noexcept
    {
        refused& known = verbs_[static_cast<std::size_t>(what)];
        if (now >= known.last_error + quiet)
            known.words.clear();
    }

    /// Whether there are any.
    [[nodiscard]] bool any() const noexcept { return std::ranges::any_of(verbs_, is_refused); }

    /// The words for the first of them, if their kind has changed since the last call. An empty
    /// text if no verb is refused now.
    [[nodiscard]] std::optional<std::string> take_change()
    {
        const auto* const first = std::ranges::find_if(verbs_, is_refused);
        std::string words = first == verbs_.end() ? std::string() : first->words;
        if (kind_of(words) == told_)
            return std::nullopt;
        told_ = kind_of(words);
        return words;
    }

private:
    struct refused
    {
        std::string words;  ///< Empty if it isn't refused.
        time_point last_error;
    };

    static bool is_refused(const refused& each) noexcept { return !each.words.empty(); }

    static std::string_view kind_of(std::string_view words) noexcept
    {
        return words.substr(0, words.find(' '));
    }

    std::array<refused, verb_count> verbs_;
    std::string told_;  ///< The kind that was reported last.
};

}  // namespace redlock::detail

#endif
