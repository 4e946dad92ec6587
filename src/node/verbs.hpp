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

/// The arguments of a question, next to its key.
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

/// How a verb is put in one mode, and how its answers are read. A script says how many arguments it
/// has by `local common, own, more`: `common` is the end of the marker, if it takes that, `own`
/// counts `arguments` and `more` counts `shared`.
struct phrasing
{
    const char* script = nullptr;  ///< Null: it is a command by itself.
    argument_list arguments{};     ///< Of the script, for each question.

    /// More of them. If they are the same for all questions of a command, they are put once, in its
    /// head: see vote_each.lua.
    argument_list shared{};

    /// Adds the command of a verb without a script. Only the last reply is the answer.
    void (*put)(request& to, const question& asked) = nullptr;

    /// @param stamp Of the question, which the answer must repeat. Zero in plain mode.
    reply (*read)(const answer& from, std::uint64_t stamp) noexcept = nullptr;
};

/** All that is peculiar to one verb.

    Nothing else in src/node knows a verb by its name. A new one is an enumerator in node.hpp, which
    counts in `verb_count`; a row of the table and a place in `write_order`, both in verbs.cpp; its
    script, with a line in CMakeLists.txt; and a row of src/testing/fake_server.cpp. `rounds` puts
    it for the client, and `rounds::make` knows whether its stamp is a token or the time.
*/
struct verb_rules
{
    std::string_view name;

    /// A node in quarantine is not asked.
    bool votes = false;

    /// The guarded script compares the marker: it takes the end of what it has to be.
    bool compares_marker = false;

    /// Without an answer it is kept, and put again on the next link, until its ttl is over.
    bool outlives_link = false;

    bool for_queues = false;  ///< Only clients that wait in queues put it.
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

    Releases go before acquisitions: what is given back in a turn is free for an acquisition of that
    turn. No release may come before its own acquisition: what was given up is not asked for.
*/
extern const std::array<verb, verb_count> write_order;

/** What a reply counts as.

    @param asked The verb of the question.
    @param stamp The stamp of a guarded question, which the answer must repeat. Zero in plain mode.

    Only the exact shape of a success is a grant. An error reply is a refusal, for none of our
    commands writes before it can fail. Anything else is a failure: we do not know what happened.
*/
[[nodiscard]] reply interpret(verb asked, std::uint64_t stamp, const answer& from) noexcept;

/// A script, and the hash by which a server knows it.
struct lua_script
{
    std::string sha;
    std::string text;
};

[[nodiscard]] lua_script make_script(std::string text);

/// The scripts that a client puts, by verb. Empty: the verb has none in its mode.
using script_set = std::array<lua_script, verb_count>;

/// @param guarded Null in plain mode.
[[nodiscard]] script_set make_scripts(const guard* guarded);

[[nodiscard]] inline const lua_script& script_of(const script_set& all, verb what)
{
    return all[static_cast<std::size_t>(what)];
}

}  // namespace redlock::detail

#endif
