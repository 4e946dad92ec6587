#ifndef REDLOCK_TEST_CHAOS_WORKER_OPTIONS_HPP
#define REDLOCK_TEST_CHAOS_WORKER_OPTIONS_HPP

#include <redlock/time.hpp>

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>

#include "chaos/mode.hpp"
#include "chaos/named_values.hpp"

namespace redlock::test {

/** What a worker does: takes one of some resources, holds it for a moment, gives it back, again.

    While it holds a resource it reads from the store first and writes to it last, if there is one.

    Handed over as arguments of the program, a name and a value each.
*/
struct worker_options
{
    std::string nodes{};  ///< URLs separated by commas.
    protection how{};
    std::filesystem::path log{};     ///< Where its history goes. Nobody else writes there.
    std::uint32_t number = 0;        ///< One of its own. Ids of operations begin with it.
    std::uint32_t tasks = 1;         ///< Coroutines that do this at once, with one client.
    std::uint64_t acquisitions = 0;  ///< Each ends after so many. Zero: goes on until killed.
    std::uint32_t first_resource = 0;
    std::uint32_t resources = 4;  ///< How many there are from the first one on, at least one.
    milliseconds ttl{2'000};
    milliseconds node_timeout{200};

    /// For `acquire_options::wait`. Zero: one round at a time, and what was wrong with each round
    /// that was not granted is in the notes. Otherwise contention is no news.
    milliseconds wait{0};

    bool polls = false;  ///< Asks again and again, instead of waiting in queues.

    /// How long it holds a resource at most, and how long one time of so many.
    milliseconds hold{0};
    milliseconds long_hold{0};
    std::uint32_t one_long_of = 8;

    /// Extend some of the leases, by hand or automatically, and wait for their loss.
    bool extends = false;

    /// Extend all leases automatically, and hold each until it is lost.
    bool keeps = false;

    // In guarded mode some leases have these.
    milliseconds grace{0};
    milliseconds at_least{0};

    bool revokes = false;  ///< Revoke holds of whatever worker, now and then. In guarded mode.

    /// Give back by `DEL`, which compares nothing. For the control.
    bool deletes = false;

    std::uint16_t store = 0;   ///< Port of the store. Zero: there is none.
    bool store_checks = true;  ///< Whether the store compares tokens.
};

template <class Options, class F>
    requires std::same_as<std::remove_const_t<Options>, worker_options>
void each_option(Options& options, F what)
{
    what("nodes", options.nodes);
    what("mode", options.how.mode);
    what("ttl_max", options.how.ttl_max);
    what("durable_nodes", options.how.durable_nodes);
    what("log", options.log);
    what("number", options.number);
    what("tasks", options.tasks);
    what("acquisitions", options.acquisitions);
    what("first_resource", options.first_resource);
    what("resources", options.resources);
    what("ttl", options.ttl);
    what("node_timeout", options.node_timeout);
    what("wait", options.wait);
    what("polls", options.polls);
    what("hold", options.hold);
    what("long_hold", options.long_hold);
    what("one_long_of", options.one_long_of);
    what("extends", options.extends);
    what("keeps", options.keeps);
    what("grace", options.grace);
    what("at_least", options.at_least);
    what("revokes", options.revokes);
    what("deletes", options.deletes);
    what("store", options.store);
    what("store_checks", options.store_checks);
}

/// How a resource is called that a claim has the number of.
[[nodiscard]] inline std::string resource_name(std::uint32_t number)
{
    return "chaos:" + std::to_string(number);
}

[[nodiscard]] inline std::uint32_t resource_number(std::string_view name)
{
    return read_number<std::uint32_t>(name.substr(name.rfind(':') + 1));
}

}  // namespace redlock::test

#endif
