#include "support/old_scripts.hpp"

#include "core/quarantine.hpp"
#include "old_scripts/scripts.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace redlock::test {

namespace {

/// The run id is the first argument of scripts that compare the marker, since 13f7fce.
constexpr const char* drop_run_id = "table.remove(ARGV, 1)\n";

/// A client that is far away says since e25e760 how long it needs a resource reserved.
constexpr const char* drop_reservations =
    "for i = 1, #ARGV do ARGV[i] = string.gsub(ARGV[i], '^(%x+:%d+):%d+$', '%1') end\n";

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
    put(verb::acquire, drop_run_id + (drop_reservations + old.acquire));
    put(verb::extend, drop_run_id + old.extend);
    put(verb::release, drop_reservations + old.release);
    put(verb::leave, old.leave);
    return made;
}

}  // namespace redlock::test
