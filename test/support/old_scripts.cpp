#include "support/old_scripts.hpp"

#include "core/quarantine.hpp"
#include "old_scripts/9f1c7e8.hpp"
#include "old_scripts/c70efbe.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace redlock::test {

namespace {

/** Makes of the arguments of today, see vote_each.lua, those that clients of c70efbe sent.

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

std::string number(milliseconds of)
{
    return std::to_string(of.count());
}

std::string quarantine_length(const client_config& config)
{
    return number(core::quarantine_for(config.ttl_max, config.clock_window));
}

/// What guard.cpp made of both. Nothing of ours has to be quoted.
std::string make_constants(const client_config& config)
{
    const std::chrono::microseconds window = config.clock_window;
    constexpr milliseconds most(50);
    return "local marker_key = 'redlock:marker'\nlocal quarantine_key = 'redlock:quarantine'"
           "\nlocal window = " +
           std::to_string(window.count()) +
           "\nlocal fence_prefix = 'redlock:fence:'\nlocal fence_ttl = '" +
           number(config.fence_ttl) +
           "'\nlocal queue_prefix = 'redlock:queue:'"
           "\nlocal queue_max = 1024\nlocal queue_ttl = 60000"
           "\nlocal waits_prefix = 'redlock:waits:'"
           "\nlocal reserved_prefix = 'redlock:reserved:'"
           "\nlocal channel_prefix = 'redlock:'\nlocal reservation = " +
           number(std::max(config.node_timeout / 4, std::min(config.node_timeout, most))) +
           "\nlocal longest_reservation = 15000\n";
}

std::string make_constants_of_c70efbe(const client_config& config)
{
    return make_constants(config) + "local quarantine_length = " + quarantine_length(config) +
           "\nlocal fingerprint = '" + make_old_marker(config).fingerprint + "'\n";
}

std::string make_constants_of_9f1c7e8(const client_config& config)
{
    return make_constants(config) + "local longest_quarantine = " + quarantine_length(config) +
           "\nlocal marker_begin = '" + make_old_marker(config).begin +
           "'\nlocal far_prefix = 'redlock:far:'\nlocal next_suffix = ':next'"
           "\nlocal revoked_suffix = ':revoked'\n";
}

}  // namespace

old_marker make_old_marker(const client_config& config)
{
    old_marker made;
    made.begin = "redlock 1;databases=0;nodes=" + std::to_string(config.nodes.size()) + ";ttl_max=";
    made.fingerprint =
        made.begin + number(config.ttl_max) + ";clock_window=" + number(config.clock_window) + ";";
    return made;
}

old_scripts make_old_scripts(const client_config& config)
{
    const std::string constants = make_constants_of_c70efbe(config);
    return {
        .admit = scripts_c70efbe::admit_script.text,
        .acquire = constants + scripts_c70efbe::guarded_acquire_script.text,
        .extend = constants + scripts_c70efbe::guarded_extend_script.text,
        .release = constants + scripts_c70efbe::guarded_release_script.text,
        .leave = constants + scripts_c70efbe::guarded_leave_script.text,
    };
}

old_scripts make_scripts_of_9f1c7e8(const client_config& config)
{
    const std::string constants = make_constants_of_9f1c7e8(config);
    return {
        .admit = scripts_9f1c7e8::admit_script.text,
        .acquire = constants + scripts_9f1c7e8::guarded_acquire_script.text,
        .extend = constants + scripts_9f1c7e8::guarded_extend_script.text,
        .release = constants + scripts_9f1c7e8::guarded_release_script.text,
        .leave = constants + scripts_9f1c7e8::guarded_leave_script.text,
        .keep = constants + scripts_9f1c7e8::guarded_keep_script.text,
        .revoke = constants + scripts_9f1c7e8::guarded_revoke_script.text,
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
    // Their values were the id alone.
    const std::string of_value = "string.match(q[1], '^(%x+)'), string.match(q[1], ' (%d+) ')";
    put(verb::acquire,
        translation(1, 1, 2, "{" + of_value + ", q[2], place(q[3], '')}") + old.acquire);
    put(verb::extend, translation(1, 3, 3, "{q[1], q[2], q[4], q[3]}") + old.extend);
    // Their releases are all alike.
    for (const verb each : {verb::release, verb::undo, verb::finish})
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
