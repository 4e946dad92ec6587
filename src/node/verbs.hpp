#ifndef REDLOCK_SRC_NODE_VERBS_HPP
#define REDLOCK_SRC_NODE_VERBS_HPP

#include "node/answer.hpp"
#include "node/guard.hpp"
#include "node/node.hpp"
#include "wire/request.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace redlock::detail {

/// Adds one argument of a question to its command.
using argument = void (*)(request& to, const question& asked, const guard* guarded);

/// The arguments of a question, besides its key.
class argument_list
{
public:
    template <class... Arguments>
    constexpr argument_list(Arguments... each) noexcept : all_{each...}, size_(sizeof...(each))
    {
    }

    [[nodiscard]] constexpr std::span<const argument> all() const noexcept
    {
        return {all_.data(), size_};
    }

private:
    std::array<argument, 4> all_;
    std::size_t size_;
};

/// How a verb is put in one mode, and how its answers are read. A script declares the number of its
/// arguments by `local common, own, more`: `common` is the end of the marker, if it takes that,
/// `own` counts `arguments` and `more` counts `shared`.
struct phrasing
{
    const char* script = nullptr;  ///< Null if it is a plain command.
    argument_list arguments{};     ///< Of the script, for each question.

    /// More arguments. If they are the same for all questions of a command, they are put once, in
    /// its head: see vote_each.lua.
    argument_list shared{};

    /// Adds the command of a verb without a script. Only the last reply is the answer.
    void (*put)(request& to, const question& asked) = nullptr;

    /// @param stamp Of the question, which the answer must repeat. Zero in plain mode.
    reply (*read)(const answer& from, std::uint64_t stamp) noexcept = nullptr;
};

/** Everything that is specific to one verb.

    Nothing else in src/node refers to a verb by name. A new verb needs an enumerator in node.hpp,
    counted in `verb_count`; a row of the table and a place in `write_order`, both in verbs.cpp; its
    script, with a line in CMakeLists.txt; and a row of src/testing/fake_server.cpp. `rounds` puts
    it for the client, and `rounds::make` knows whether its stamp is a token or the time.
*/
struct verb_rules
{
    std::string_view name;

    /// Whether it's a vote, which a node in quarantine isn't asked for.
    bool votes = false;

    /// The guarded script compares the marker: it takes the end of the expected one.
    bool compares_marker = false;

    /// It releases. A client that closes waits for the answer.
    bool gives_back = false;

    /// Without an answer it is kept and put again on the next link, until its ttl is over.
    bool outlives_link = false;

    bool for_queues = false;  ///< Put only by clients that wait in queues.
    phrasing plain;
    phrasing guarded;
};

[[nodiscard]] const verb_rules& rules_of(verb what) noexcept;

/// @param guarded Null in plain mode.
[[nodiscard]] inline const phrasing& phrasing_of(const verb_rules& rules, const guard* guarded)
{
    return guarded ? rules.guarded : rules.plain;
}

/** The order in which the questions of a turn are written.

    Releases go before acquisitions, so a resource released in a turn is free for an acquisition in
    that turn. A release never precedes its own acquisition, because a question that was given up
    isn't put.
*/
extern const std::array<verb, verb_count> write_order;

/** How a reply counts.

    @param asked The verb of the question.
    @param stamp The stamp of a guarded question, which the answer must repeat. Zero in plain mode.

    Only the exact shape of a success is a grant. An error reply is a refusal, because none of our
    commands writes before it can fail. Anything else is a failure: we don't know what happened.
*/
[[nodiscard]] reply interpret(verb asked, std::uint64_t stamp, const answer& from) noexcept;

/// A script, and the hash by which a server knows it. No secret depends on that.
struct lua_script
{
    std::string sha;  ///< In 40 lower-case hexadecimal digits.
    std::string text;
};

[[nodiscard]] lua_script make_script(std::string text);

/// The scripts that a client uses, by verb. Empty if the verb has none in its mode.
using script_set = std::array<lua_script, verb_count>;

/// @param guarded Null in plain mode.
[[nodiscard]] script_set make_scripts(const guard* guarded);

[[nodiscard]] inline const lua_script& script_of(const script_set& all, verb what)
{
    return all[static_cast<std::size_t>(what)];
}

}  // namespace redlock::detail

#endif
