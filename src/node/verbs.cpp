#include "node/verbs.hpp"

#include "core/limits.hpp"
#include "core/token_clock.hpp"
#include "scripts.hpp"

#include <boost/uuid/detail/sha1.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <optional>
#include <utility>

namespace redlock::detail {

namespace {

// Arguments.

void id(request& to, const question& asked, const guard*)
{
    to.add(asked.id());
}

/// The token of an acquisition, the time of an extension.
void stamp(request& to, const question& asked, const guard*)
{
    to.add(asked.stamp());
}

void token(request& to, const question& asked, const guard*)
{
    to.add(asked.attempt()->token.value());
}

void ttl(request& to, const question& asked, const guard*)
{
    to.add(asked.ttl());
}

void at_least(request& to, const question& asked, const guard*)
{
    to.add(asked.says().at_least);
}

void queue_name(request& to, const question&, const guard* guarded)
{
    to.add(guarded->queue_name);
}

/// See queue.lua.
void place_to_keep(request& to, const question& asked, const guard* guarded)
{
    const queue_entry& entry = asked.entry();
    if (guarded->queue_name.empty())
        return to.add("-");
    if (entry.move == core::queue_move::none)
        return to.add("");
    if (entry.move == core::queue_move::leave)
        return to.add(guarded->queue_name);
    std::string place = guarded->queue_name + ':' + std::to_string(entry.arrival);
    if (entry.reservation > milliseconds(0))
        place += ':' + std::to_string(entry.reservation.count());
    to.add(place);
}

/// In the usual case the acquisition has just arrived, and its token says when.
void place_to_take(request& to, const question& asked, const guard* guarded)
{
    const queue_entry& entry = asked.entry();
    const bool is_new = entry.move == core::queue_move::keep && entry.arrival == asked.stamp() &&
                        entry.reservation == milliseconds(0);
    if (is_new && !guarded->queue_name.empty())
        return to.add(guarded->queue_name);
    place_to_keep(to, asked, guarded);
}

void client_name(request& to, const question&, const guard* guarded)
{
    to.add(guarded->queue_name.empty() ? std::string_view("-") : guarded->queue_name);
}

void note(request& to, const question& asked, const guard*)
{
    to.add(asked.attempt()->of->options.note.text());
}

/// What a lock key is set to: see ours.lua. Whole, because joining texts costs a server more than
/// reading them.
void value(request& to, const question& asked, const guard* guarded)
{
    std::array<char, 20> digits{};
    char* const end = std::to_chars(digits.begin(), digits.end(), asked.stamp()).ptr;
    const std::string_view token(digits.data(), static_cast<std::size_t>(end - digits.data()));
    const std::string_view client =
        guarded->queue_name.empty() ? std::string_view("-") : guarded->queue_name;
    const std::string_view note = asked.attempt()->of->options.note.text();
    to.add_joined({asked.id(), " ", token, " ", client, " 0 ", token, " ", note});
}

/// The last note, and since when the holder has it.
void last_stamp(request& to, const question& asked, const guard*)
{
    const auto& announced = asked.says().announced;
    to.add(announced ? announced->stamp : asked.attempt()->token.value());
}

void last_note(request& to, const question& asked, const guard* guarded)
{
    const auto& announced = asked.says().announced;
    announced ? to.add(announced->text.text()) : note(to, asked, guarded);
}

/// Zero if it announces nothing.
void announced_stamp(request& to, const question& asked, const guard*)
{
    const auto& announced = asked.says().announced;
    to.add(announced ? announced->stamp : 0);
}

void announced_note(request& to, const question& asked, const guard*)
{
    const auto& announced = asked.says().announced;
    to.add(announced ? announced->text.text() : std::string_view());
}

// Commands.

namespace word {

constexpr encoded_argument set{"$3\r\nSET\r\n"};
constexpr encoded_argument pttl{"$4\r\nPTTL\r\n"};
constexpr encoded_argument nx{"$2\r\nNX\r\n"};
constexpr encoded_argument px{"$2\r\nPX\r\n"};

}  // namespace word

void put_set(request& to, const question& asked)
{
    to.push(word::set, asked.key(), asked.id(), word::nx, word::px, asked.ttl());
}

void put_pttl(request& to, const question& asked)
{
    to.push(word::pttl, asked.key());
}

/// Makes the server report changes of the keys that the next command reads. If it doesn't support
/// that, this gets an error, and the next command is answered anyway.
void put_track(request& to, const question& asked)
{
    to.push("CLIENT", "CACHING", "YES");
    put_pttl(to, asked);
}

// Answers.

reply unexpected() noexcept
{
    return {vote::unknown, reason::unexpected_reply};
}

reply granted() noexcept
{
    return {vote::granted, reason::none};
}

/// A plain acquisition.
reply read_set(const answer& from, std::uint64_t) noexcept
{
    if (from.what == answer::kind::ok)
        return granted();
    if (from.what == answer::kind::null)
        return {vote::denied, reason::held};
    return unexpected();
}

/// The reply is 1 if the key was ours, or is ours again, 0 if not.
reply read_comparison(const answer& from, std::uint64_t) noexcept
{
    if (from.what == answer::kind::scalar && from.number() == 1)
        return granted();
    if (from.what == answer::kind::scalar && from.number() == 0)
        return {vote::denied, reason::gone};
    return unexpected();
}

/// PTTL: milliseconds, -1 for a key without a ttl, -2 for no key.
std::optional<milliseconds> to_time_left(std::optional<std::int64_t> pttl) noexcept
{
    if (!pttl || *pttl < -2)
        return std::nullopt;
    return *pttl == -1 ? forever : milliseconds(std::max<std::int64_t>(*pttl, 0));
}

reply read_pttl(const answer& from, std::uint64_t) noexcept
{
    const auto remaining =
        from.what == answer::kind::scalar ? to_time_left(from.number()) : std::nullopt;
    if (!remaining)
        return unexpected();
    reply result = granted();
    result.held_for = remaining;
    return result;
}

/// A time that a server's clock can show: microseconds since the epoch.
bool is_time(std::optional<std::int64_t> from) noexcept
{
    return from > 0 && static_cast<std::uint64_t>(*from) < core::token_end;
}

/// The refusals of all guarded scripts that vote. See guarded_acquire.lua.
reply read_refusal(const answer& from) noexcept
{
    reply result;
    switch (from.count == 4 ? from.number(0).value_or(0) : 0)
    {
    case -2: return {vote::refused, reason::clock};
    case -3: return {vote::refused, reason::unmarked};
    case -4:
        result = reply{vote::refused, reason::quarantined};
        result.ready_in = to_time_left(from.number(2));
        return result.ready_in ? result : unexpected();
    default: return unexpected();
    }
}

/// The stamp for a grant, else {code, stamp, number, the node's time}, and perhaps more.
/// @param read_code Reads the answer, from the code on.
reply read_vote(
    const answer& from,
    std::uint64_t stamp,
    reply (*read_code)(const answer& from) noexcept
) noexcept
{
    const auto echo = static_cast<std::int64_t>(stamp);
    if (from.what == answer::kind::scalar && from.number() == echo)
        return granted();
    const auto time = from.number(3);
    if (from.what != answer::kind::list || from.number(1) != echo || !from.number(2) ||
        !is_time(time))
        return unexpected();

    reply result = read_code(from);
    if (result.vote != vote::unknown)
        result.node_time = std::chrono::microseconds(*time);
    return result;
}

/// A fifth number says how many are before the client in the queue: -1 if that is full, which
/// counts as the place behind it, and -2 if the client isn't in it for another reason.
reply read_held(const answer& from) noexcept
{
    reply result{vote::denied, reason::held};
    result.held_for = to_time_left(from.number(2));
    const auto before = from.number(4);
    if (!result.held_for || !before || *before > static_cast<std::int64_t>(core::max_queue))
        return unexpected();
    if (*before >= -1)
        result.position =
            *before == -1 ? core::max_queue + 1 : static_cast<std::size_t>(*before) + 1;
    return result;
}

reply read_fence(const answer& from) noexcept
{
    const std::int64_t recorded = from.number(2).value_or(0);
    reply result{vote::refused, reason::fence};
    result.fence = fencing_token::from_value(static_cast<std::uint64_t>(recorded));
    return from.count == 4 && recorded > 0 ? result : unexpected();
}

reply read_acquisition(const answer& from, std::uint64_t stamp) noexcept
{
    return read_vote(from, stamp, [](const answer& other) noexcept {
        if (other.number(0) == 0)
            return read_held(other);
        return other.number(0) == -1 ? read_fence(other) : read_refusal(other);
    });
}

/// A grant whose key was gone is one too: the node has taken the hold again.
reply read_extension(const answer& from, std::uint64_t stamp) noexcept
{
    return read_vote(from, stamp, [](const answer& other) noexcept {
        switch (other.count == 4 ? other.number(0).value_or(2) : 2)
        {
        case 1: return reply{vote::granted, reason::gone};
        case 0: return reply{vote::denied, reason::gone};
        case -5: return reply{vote::refused, reason::revoked};
        default: return read_refusal(other);
        }
    });
}

/// See guarded_keep.lua.
reply read_keeping(const answer& from, std::uint64_t stamp) noexcept
{
    return read_vote(from, stamp, [](const answer& other) noexcept {
        const bool gone = other.count == 4 && other.number(0) == 0;
        return gone ? reply{vote::denied, reason::gone} : read_refusal(other);
    });
}

/// See guarded_revoke.lua.
reply read_revocation(const answer& from, std::uint64_t stamp) noexcept
{
    reply result = read_vote(from, stamp, [](const answer& other) noexcept {
        reply said;
        switch (other.count == 4 ? other.number(0).value_or(-3) : -3)
        {
        case 1: said = granted(); break;
        case 0: said = {vote::granted, reason::gone}; break;
        case -1: said = {vote::denied, reason::held}; break;
        default: return read_refusal(other);
        }
        said.held_for = to_time_left(other.number(2));
        return said.held_for ? said : unexpected();
    });
    const bool tells = result.vote != vote::granted || result.held_for;
    return tells ? result : unexpected();
}

/// What a node knows about a key.
reply view(
    std::optional<std::int64_t> pttl,
    std::int64_t waiting,
    std::optional<std::string_view> value
) noexcept
{
    reply result = granted();
    result.held_for = to_time_left(pttl);
    if (!result.held_for || !value || waiting < 0)
        return unexpected();
    result.text = *value;
    result.waiting = static_cast<std::size_t>(waiting);
    return result;
}

/// -2 left means that there is no key.
reply read_view(const answer& from, std::uint64_t) noexcept
{
    const bool complete = from.what == answer::kind::list && from.count == 2;
    return complete ? view(from.number(0), 0, from.text(1)) : unexpected();
}

reply read_guarded_view(const answer& from, std::uint64_t stamp) noexcept
{
    reply result = read_vote(from, stamp, [](const answer& other) noexcept {
        if (other.number(0) != 1)
            return read_refusal(other);
        return view(other.number(2), other.number(4).value_or(-1), other.text(5));
    });
    const bool tells = result.vote != vote::granted || result.held_for;
    return tells ? result : unexpected();
}

// The table, in the order of the enumeration.

constexpr phrasing by_pttl{.put = put_pttl, .read = read_pttl};
constexpr phrasing by_tracking{.put = put_track, .read = read_pttl};

constexpr std::array<verb_rules, verb_count> table{{
    {
        .name = "acquire",
        .votes = true,
        .compares_marker = true,
        .plain = {.put = put_set, .read = read_set},
        .guarded =
            {.script = guarded_acquire_script.text,
             .arguments = {value},
             .shared = {ttl, place_to_take},
             .read = read_acquisition},
    },
    {
        .name = "extend",
        .votes = true,
        .compares_marker = true,
        .plain =
            {.script = extend_script.text,
             .arguments = {id},
             .shared = {ttl},
             .read = read_comparison},
        .guarded =
            {.script = guarded_extend_script.text,
             .arguments = {id, stamp, token},
             .shared = {ttl, announced_stamp, announced_note},
             .read = read_extension},
    },
    {
        .name = "restore",
        .plain = {},
        .guarded =
            {.script = guarded_restore_script.text,
             .arguments = {id, token},
             .shared = {client_name, last_stamp, last_note},
             .read = read_comparison},
    },
    {
        .name = "release",
        .gives_back = true,
        .outlives_link = true,
        .plain = {.script = release_script.text, .arguments = {id}, .read = read_comparison},
        .guarded =
            {.script = guarded_release_script.text,
             .arguments = {id, token},
             .shared = {place_to_keep},
             .read = read_comparison},
    },
    {
        .name = "undo",
        .gives_back = true,
        .plain = {},
        .guarded =
            {.script = guarded_undo_script.text,
             .arguments = {id, token},
             .shared = {place_to_keep},
             .read = read_comparison},
    },
    {
        .name = "finish",
        .gives_back = true,
        .outlives_link = true,
        .plain = {.script = release_script.text, .arguments = {id}, .read = read_comparison},
        .guarded =
            {.script = guarded_finish_script.text,
             .arguments = {id, token},
             .shared = {place_to_keep},
             .read = read_comparison},
    },
    {.name = "holder", .plain = by_pttl, .guarded = by_pttl},
    {.name = "track", .plain = by_tracking, .guarded = by_tracking},
    {
        .name = "leave",
        .for_queues = true,
        .plain = {},
        .guarded =
            {.script = guarded_leave_script.text, .shared = {queue_name}, .read = read_comparison},
    },
    {
        .name = "inspect",
        .votes = true,
        .compares_marker = true,
        .plain = {.script = inspect_script.text, .read = read_view},
        .guarded =
            {.script = guarded_inspect_script.text, .arguments = {stamp}, .read = read_guarded_view
            },
    },
    {
        .name = "revoke",
        .compares_marker = true,
        .plain = {},
        .guarded =
            {.script = guarded_revoke_script.text,
             .arguments = {stamp, token},
             .read = read_revocation},
    },
    {
        .name = "keep",
        .compares_marker = true,
        .gives_back = true,
        .outlives_link = true,
        .plain = {},
        .guarded =
            {.script = guarded_keep_script.text,
             .arguments = {id, stamp, token},
             .shared = {place_to_keep, at_least},
             .read = read_keeping},
    },
    {
        .name = "free",
        .plain = {},
        .guarded =
            {.script = guarded_free_script.text, .arguments = {token}, .read = read_comparison},
    },
}};

/// @tparam Number Boost returns five of 32 bits, and since 1.86 twenty bytes.
template <class Number, std::size_t count>
std::string in_hex(const Number (&digest)[count])
{
    std::string made;
    for (const Number each : digest)
    {
        std::array<char, 9> part{};
        std::snprintf(part.data(), part.size(), "%0*x", int{2 * sizeof each}, unsigned{each});
        made += part.data();
    }
    return made;
}

}  // namespace

const std::array<verb, verb_count> write_order{
    verb::extend,
    verb::restore,
    verb::release,
    verb::undo,
    verb::finish,
    verb::keep,
    verb::leave,
    verb::acquire,
    verb::holder,
    verb::track,
    verb::inspect,  // Tracking comes before it, so every change after a view is reported.
    verb::revoke,
    verb::free,
};

const verb_rules& rules_of(verb what) noexcept
{
    return table[static_cast<std::size_t>(what)];
}

reply interpret(verb asked, std::uint64_t stamp, const answer& from) noexcept
{
    const verb_rules& rules = rules_of(asked);
    if (from.what != answer::kind::error)
        return (stamp != 0 ? rules.guarded : rules.plain).read(from, stamp);
    reply result{vote::refused, reason::error_reply};
    if (from.is_error("NOREPLICAS"))
        result.why = reason::too_few_replicas;
    result.text = from.text().value_or("");
    return result;
}

lua_script make_script(std::string text)
{
    boost::uuids::detail::sha1 of;
    of.process_bytes(text.data(), text.size());
    boost::uuids::detail::sha1::digest_type digest;
    of.get_digest(digest);
    return {in_hex(digest), std::move(text)};
}

script_set make_scripts(const guard* guarded)
{
    script_set made;
    for (std::size_t what = 0; what < verb_count; ++what)
    {
        const verb_rules& rules = table[what];
        const char* const text = phrasing_of(rules, guarded).script;
        const bool queues = guarded && !guarded->queue_name.empty();
        if (text && (queues || !rules.for_queues))
            made[what] = make_script((guarded ? guarded->constants : std::string()) + text);
    }
    return made;
}

}  // namespace redlock::detail
