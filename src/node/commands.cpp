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

/// Commands that are not the last one of a question have replies that do not matter.
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
    // Somebody flushed the scripts. Or there is one key in the list that the user may not touch,
    // for which the others must not pay.
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
    const bool has_run_id = guarded_ && rules.votes;
    const bool has_place = how.place && !guarded_->waiter.empty();
    const std::size_t each_has = 1 + how.arguments.all().size() + has_place;

    request& commands = to.request;
    commands.begin(3 + has_run_id + each_has * asked.size());
    const bool whole = form == script_form::text;
    commands.add(whole ? eval : evalsha);
    commands.add(std::string_view(whole ? script.text : script.sha));
    commands.add(asked.size());
    for (const auto& each : asked)
        commands.add(each->key());
    if (has_run_id)
        commands.add_gap();
    for (const auto& each : asked)
    {
        for (const argument add : how.arguments.all())
            add(commands, *each, guarded_.get());
        if (has_place)
            how.place(commands, *each, guarded_.get());
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

    // Without serials it is kept for no question, so nothing is taken for what failed half way.
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
