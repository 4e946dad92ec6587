#include "node/commands.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

namespace redlock::detail {

namespace {

constexpr encoded_argument eval{"$4\r\nEVAL\r\n"};
constexpr encoded_argument evalsha{"$7\r\nEVALSHA\r\n"};

/// Adds a question's arguments.
void add(request& to, const argument_list& what, const question& asked, const guard* guarded)
{
    for (const argument each : what.all())
        each(to, asked, guarded);
}

/// Whether arguments are the same for all questions of a command.
bool are_alike(const argument_list& what, std::span<const question_ptr> asked, const guard* guarded)
{
    request first;
    add(first, what, *asked.front(), guarded);
    request other;
    return std::ranges::all_of(asked.subspan(1), [&](const auto& each) {
        other.clear();
        add(other, what, *each, guarded);
        return other.payload() == first.payload();
    });
}

/// If a question has several commands, only the reply to the last one matters.
void push_single(encoded_questions& to, const question& asked, const phrasing& how)
{
    how.put(to.request, asked);
    to.commands.resize(to.request.size() - 1, {0, script_form::none});
    to.commands.push_back({1, script_form::none});
}

}  // namespace

bool is_worth_another(const command& put, const answer& said) noexcept
{
    if (put.script != script_form::hash || (put.is_list() && !said.of_all))
        return false;
    // The scripts were flushed. Or the list has a key that the user may not touch, and the others
    // must not fail because of it.
    return said.is_error("NOSCRIPT") || (put.is_list() && said.is_error("NOPERM"));
}

command_encoder::command_encoder(
    std::shared_ptr<const guard> guarded,
    bool single_keys,
    script_set scripts
)
    : guarded_(std::move(guarded)),
      scripts_(std::move(scripts)),
      max_list_(single_keys ? 1 : max_list)
{
}

command_encoder::command_encoder(std::shared_ptr<const guard> guarded, bool single_keys)
    : command_encoder(guarded, single_keys, make_scripts(guarded.get()))
{
}

void command_encoder::push_script(
    encoded_questions& to,
    std::span<const question_ptr> asked,
    script_form form
) const
{
    const verb what = asked.front()->what();
    const verb_rules& rules = rules_of(what);
    const phrasing& how = phrasing_of(rules, guarded_.get());
    const lua_script& script = script_of(scripts_, what);
    const bool has_marker_end = guarded_ && rules.compares_marker;
    const bool alike = are_alike(how.shared, asked, guarded_.get());
    const std::size_t shared_by = alike ? 1 : asked.size();
    const std::size_t shared = how.shared.all().size() * shared_by;
    const std::size_t own = (1 + how.arguments.all().size()) * asked.size();

    request& commands = to.request;
    commands.begin(3 + has_marker_end + shared + own);
    const bool whole = form == script_form::text;
    commands.add(whole ? eval : evalsha);
    commands.add(std::string_view(whole ? script.text : script.sha));
    commands.add(asked.size());
    for (const auto& each : asked)
        commands.add(each->key());
    if (has_marker_end)
        commands.add_gap();
    if (alike)
        add(commands, how.shared, *asked.front(), guarded_.get());
    for (const auto& each : asked)
    {
        add(commands, how.arguments, *each, guarded_.get());
        if (!alike)
            add(commands, how.shared, *each, guarded_.get());
    }
    to.commands.push_back({asked.size(), form});
}

const encoded_questions& command_encoder::encode(std::span<const question_ptr> asked)
{
    const verb what = asked.front()->what();
    encoded_questions& kept = kept_.at(static_cast<std::size_t>(what));
    const auto serial = [](const auto& each) { return each->serial(); };
    if (std::ranges::equal(asked, kept.serials, {}, serial))
        return kept;

    // Without serials it matches no question, so an encoding that failed halfway is never used.
    kept.serials.clear();
    kept.serials.reserve(asked.size());
    kept.request.clear();
    kept.commands.clear();
    const phrasing& how = phrasing_of(rules_of(what), guarded_.get());
    if (how.script)
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
            push_single(kept, *each, how);
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
