#include "support/old_scripts.hpp"

#include "core/quarantine.hpp"
#include "old_scripts/scripts.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace redlock::test {

namespace {

/** Makes of the arguments of today, see vote_each.lua, those that clients of that time sent.

    They had neither the run id (since 13f7fce) nor places of clients that are far away (e25e760),
    and each question brought all of its own.

    @param each What they sent of the arguments `q` of a question, in Lua.
*/
std::string translation(int common, int own, int more, const std::string& each)
{
    const auto number = [](int of) { return std::to_string(of); };
    return R"(
local function place(of, leaver)
    if of == '-' then
        return nil
    end
    local name_alone = of ~= '' and not string.find(of, ':', 1, true)
    return name_alone and of .. leaver or (string.gsub(of, '^(%x+:%d+):%d+$', '%1'))
end
local ARGV = (function(sent, common, own, more)
    local made = {}
    local alike = #sent == common + more + own * #KEYS
    local at = common + (alike and more or 0)
    for _ = 1, #KEYS do
        local q = {unpack(sent, at + 1, at + own)}
        for i = 1, more do
            q[own + i] = alike and sent[common + i] or sent[at + own + i]
        end
        at = at + own + (alike and 0 or more)
        for _, each in ipairs()" +
           each + R"() do
            made[#made + 1] = each
        end
    end
    return made
end)(ARGV, )" +
           number(common) + ", " + number(own) + ", " + number(more) + ")\n";
}

/// As guard.cpp of c70efbe made them. Nothing of ours has to be quoted.
std::string make_constants(const client_config& config)
{
    const std::chrono::microseconds window = config.clock_window;
    constexpr milliseconds most(50);
    const auto number = [](auto of) { return std::to_string(of.count()); };
    return "local marker_key = 'redlock:marker'\nlocal quarantine_key = 'redlock:quarantine'"
           "\nlocal quarantine_length = " +
           number(core::quarantine_for(config.ttl_max, config.clock_window)) +
           "\nlocal fingerprint = 'redlock 1;databases=0;nodes=" +
           std::to_string(config.nodes.size()) + ";ttl_max=" + number(config.ttl_max) +
           ";clock_window=" + number(config.clock_window) + ";'\nlocal window = " + number(window) +
           "\nlocal fence_prefix = 'redlock:fence:'\nlocal fence_ttl = '" +
           number(config.fence_ttl) + "'\nlocal queue_prefix = 'redlock:queue:'" +
           "\nlocal queue_max = 1024\nlocal queue_ttl = 60000" +
           "\nlocal waits_prefix = 'redlock:waits:'" +
           "\nlocal reserved_prefix = 'redlock:reserved:'" +
           "\nlocal channel_prefix = 'redlock:'\nlocal reservation = " +
           number(std::max(config.node_timeout / 4, std::min(config.node_timeout, most))) +
           "\nlocal longest_reservation = 15000\n";
}

}  // namespace

old_scripts make_old_scripts(const client_config& config)
{
    const std::string constants = make_constants(config);
    return {
        scripts_c70efbe::admit_script.text,
        constants + scripts_c70efbe::guarded_acquire_script.text,
        constants + scripts_c70efbe::guarded_extend_script.text,
        constants + scripts_c70efbe::guarded_release_script.text,
        constants + scripts_c70efbe::guarded_leave_script.text,
    };
}

detail::script_set make_old_script_set(const client_config& config)
{
    using detail::verb;

    const old_scripts old = make_old_scripts(config);
    detail::script_set made;
    const auto put = [&made](verb what, std::string text) {
        made[static_cast<std::size_t>(what)] = detail::make_script(std::move(text));
    };
    put(verb::acquire, translation(1, 2, 4, "{q[1], q[2], q[3], place(q[4], '')}") + old.acquire);
    put(verb::extend, translation(1, 3, 3, "{q[1], q[2], q[4], q[3]}") + old.extend);
    // Their releases are all alike.
    for (const verb each : {verb::release, verb::finish})
        put(each, translation(0, 2, 1, "{q[1], q[2], place(q[3], ':0')}") + old.release);
    put(verb::leave, translation(0, 0, 1, "q") + old.leave);
    // They neither inspect nor revoke nor keep. Those of a test that do are asked as today.
    const auto guarded = detail::make_guard(config);
    const detail::script_set today = detail::make_scripts(&*guarded);
    for (const verb each : {verb::inspect, verb::revoke, verb::keep, verb::free})
        put(each, script_of(today, each).text);
    return made;
}

}  // namespace redlock::test
