#ifndef REDLOCK_SRC_NODE_REPLY_SHAPE_HPP
#define REDLOCK_SRC_NODE_REPLY_SHAPE_HPP

#include "node/node.hpp"

#include <cstdint>
#include <string>

namespace redlock::detail {

/// One reply of a server as far as we care: none of our commands gets anything nested.
struct reply_shape
{
    enum class kind : std::uint8_t
    {
        other,  ///< Anything that none of our commands gets.
        ok,     ///< The simple string "OK".
        null,
        number,
        error,
    };

    kind what = kind::other;
    std::int64_t number = 0;
    std::string text;  ///< Of an error.

    [[nodiscard]] bool is_noscript() const noexcept
    {
        return what == kind::error && text.starts_with("NOSCRIPT");
    }
};

/** What a reply to `asked` counts as.

    Only the exact shape of a success is a grant. An error reply is a refusal, for none of our
    commands writes before it can fail. Anything else is a failure: we do not know what happened.

    @return A reply whose text refers to `from`.
*/
[[nodiscard]] reply interpret(verb asked, const reply_shape& from) noexcept;

}  // namespace redlock::detail

#endif
