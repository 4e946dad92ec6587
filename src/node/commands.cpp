#include "node/commands.hpp"

#include "scripts.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace redlock::detail {

namespace {

constexpr encoded_argument set{"$3\r\nSET\r\n"};
constexpr encoded_argument pttl{"$4\r\nPTTL\r\n"};
constexpr encoded_argument eval{"$4\r\nEVAL\r\n"};
constexpr encoded_argument evalsha{"$7\r\nEVALSHA\r\n"};
constexpr encoded_argument nx{"$2\r\nNX\r\n"};
constexpr encoded_argument px{"$2\r\nPX\r\n"};

/// A script of either mode.
struct script_view
{
    std::string_view sha;
    std::string_view text;
};

template <class Script>
script_view view(const Script& from)
{
    return {from.sha, from.text};
}

/// @param guarded Null in plain mode, which has no script that acquires.
script_view script_for(verb what, const guard* guarded)
{
    switch (what)
    {
    case verb::acquire: return view(guarded->acquire);
    case verb::extend: return guarded ? view(guarded->extend) : view(extend_script);
    case verb::leave: return view(guarded->leave);
    case verb::release:
    case verb::holder:
    case verb::watch: break;
    }
    return guarded ? view(guarded->release) : view(release_script);
}

void push_single(encoded_questions& to, const question& asked)
{
    if (asked.what() == verb::watch)
    {
        // The server tells of the keys that the next command reads. Where it does not, this is an
        // error, and the next command answers all the same.
        to.request.push("CLIENT", "CACHING", "YES");
        to.commands.push_back({0, script_form::none});
    }
    if (asked.what() == verb::acquire)
        to.request.push(set, asked.key(), asked.id(), nx, px, asked.ttl());
    else
        to.request.push(pttl, asked.key());
    to.commands.push_back({1, script_form::none});
}

}  // namespace

bool is_worth_another(const command& put, const reply_shape& answer) noexcept
{
    if (put.script != script_form::hash || (put.is_list() && !answer.of_all))
        return false;
    // Somebody flushed the scripts. Or there is one key in the list that the user may not touch,
    // for which the others must not pay.
    return answer.is_noscript() || (put.is_list() && answer.is_noperm());
}

bool command_encoder::needs_script(verb what) const noexcept
{
    return what == verb::extend || what == verb::release || what == verb::leave ||
           (what == verb::acquire && guarded_);
}

bool command_encoder::needs_marker(verb what) const noexcept
{
    return guarded_ && (what == verb::acquire || what == verb::extend);
}

void command_encoder::push_arguments(request& to, const question& asked) const
{
    const verb what = asked.what();
    if (what == verb::leave)
        return to.add(guarded_->waiter);
    to.add(asked.id());
    if (guarded_)
        to.add(what == verb::release ? asked.about()->token.value() : asked.stamp());
    if (what != verb::release)
        to.add(asked.ttl());
    if (guarded_ && what == verb::extend)
        to.add(asked.about()->token.value());
    if (has_place(what))
        push_place(to, asked);
}

/// See queue.lua. Who has just arrived is the usual case.
void command_encoder::push_place(request& to, const question& asked) const
{
    const auto arrival = asked.arrival();
    const bool is_far = asked.reservation() > milliseconds(0);
    if (!arrival)
        return to.add(std::string_view());
    if (asked.what() == verb::acquire && *arrival == asked.stamp() && !is_far)
        return to.add(guarded_->waiter);
    std::string place = guarded_->waiter + ':' + std::to_string(*arrival);
    if (is_far)
        place += ':' + std::to_string(asked.reservation().count());
    to.add(place);
}

std::size_t command_encoder::argument_count(verb what) const noexcept
{
    if (what == verb::leave)
        return 1;
    const bool has_ttl = what != verb::release;
    const bool has_token = guarded_ && what == verb::extend;
    return 1U + (guarded_ ? 1U : 0U) + has_ttl + has_token + has_place(what);
}

/// Whether it may take a place in a queue, or give it up.
bool command_encoder::has_place(verb what) const noexcept
{
    return guarded_ && !guarded_->waiter.empty() &&
           (what == verb::acquire || what == verb::release);
}

void command_encoder::push_script(
    encoded_questions& to,
    std::span<const question_ptr> asked,
    script_form form
) const
{
    const verb what = asked.front()->what();
    const script_view script = script_for(what, guarded_.get());

    request& commands = to.request;
    const bool whole = form == script_form::text;
    const bool has_run_id = needs_marker(what);
    commands.begin(3 + has_run_id + (1 + argument_count(what)) * asked.size());
    commands.add(whole ? eval : evalsha);
    commands.add(whole ? script.text : script.sha);
    commands.add(asked.size());
    for (const auto& each : asked)
        commands.add(each->key());
    if (has_run_id)
        commands.add_gap();
    for (const auto& each : asked)
        push_arguments(commands, *each);
    to.commands.push_back({asked.size(), form});
}

const encoded_questions& command_encoder::encode(std::span<const question_ptr> asked)
{
    const verb what = asked.front()->what();
    encoded_questions& kept = kept_.at(static_cast<std::size_t>(what));
    const auto serial = [](const auto& each) { return each->serial(); };
    if (std::ranges::equal(asked, kept.serials, {}, serial))
        return kept;

    // Without serials it is kept for no question, so nothing is taken for what failed half way.
    kept.serials.clear();
    kept.serials.reserve(asked.size());
    kept.request.clear();
    kept.commands.clear();
    if (needs_script(what))
    {
        for (std::size_t at = 0; at < asked.size(); at += max_list_)
        {
            const std::size_t size = std::min(max_list_, asked.size() - at);
            push_script(kept, asked.subspan(at, size), script_form::hash);
        }
    }
    else
    {
        for (const auto& each : asked)
            push_single(kept, *each);
    }
    std::ranges::transform(asked, std::back_inserter(kept.serials), serial);
    return kept;
}

encoded_questions command_encoder::encode_whole(const question_ptr& asked) const
{
    encoded_questions made;
    push_script(made, {&asked, 1}, script_form::text);
    return made;
}

}  // namespace redlock::detail
