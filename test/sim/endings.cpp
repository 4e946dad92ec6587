#include "sim/endings.hpp"

#include "node/guard.hpp"
#include "node/verbs.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <span>

#include "support/old_scripts.hpp"

namespace redlock::sim {

namespace {

constexpr std::array
    releases{detail::verb::release, detail::verb::undo, detail::verb::finish, detail::verb::keep};

fencing_token read_token(const std::string& digits)
{
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return fencing_token::from_value(value);
}

}  // namespace

endings::endings(const plan& of)
{
    client_config config = of.config();
    // A name in queues would be drawn. The scripts do not depend on it.
    config.waiting.queue = false;
    const auto guard = detail::make_guard(config);
    if (!guard)
        return;
    std::vector<detail::script_set> sets{detail::make_scripts(&*guard)};
    if (of.old > 0)
        sets.push_back(test::make_old_script_set(config));
    for (const detail::verb what : releases)
    {
        // It leaves no tombstone against a proxy that repeats what came before it.
        if (what == detail::verb::undo && of.habits.replays > 0)
            continue;
        const detail::verb_rules& rules = detail::rules_of(what);
        const layout found{
            rules.compares_marker,
            rules.guarded.arguments.all().size(),
            rules.guarded.shared.all().size()
        };
        for (const detail::script_set& each : sets)
        {
            const detail::lua_script& script = detail::script_of(each, what);
            known_.emplace(script.sha, found);
            known_.emplace(script.text, found);
        }
    }
}

std::vector<ended_attempt> endings::read(const command_run& run) const
{
    std::vector<ended_attempt> list;
    const std::span<const std::string> words(run.command);
    if (words.size() < 4 || !words[0].starts_with("EVAL") || run.replied.is_error())
        return list;
    const auto found = known_.find(words[1]);
    if (found == known_.end())
        return list;
    const auto& [common, own, more] = found->second;
    std::size_t count = 0;
    std::from_chars(words[2].data(), words[2].data() + words[2].size(), count);
    const auto keys = words.subspan(3, count);
    const auto values = words.subspan(3 + count);
    const bool alike = values.size() == common + more + own * count;
    for (std::size_t i = 0; i < count; ++i)
    {
        if (count > 1 && run.replied.elements.at(i).is_error())
            continue;
        const std::size_t at = alike ? common + more + i * own : common + i * (own + more);
        list.push_back({keys[i], values[at], read_token(values[at + own - 1])});
    }
    return list;
}

}  // namespace redlock::sim
