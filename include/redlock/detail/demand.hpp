#ifndef REDLOCK_DETAIL_DEMAND_HPP
#define REDLOCK_DETAIL_DEMAND_HPP

#include <redlock/detail/hashed_name.hpp>
#include <redlock/options.hpp>
#include <redlock/time.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::detail {

/** What an acquisition asks for: one value from the call to the wire.

    Made when the function is called, so it owns what the caller's arguments refer to, except the
    report. The operation and its attempts share it, and the code that encodes a question reads it.
*/
struct demand
{
    demand(std::string_view resource, const acquire_options& how) : key(resource), options(how) {}

    /// For one round. A resource that another owner holds yields an empty lease.
    [[nodiscard]] static demand to_try(std::string_view resource, const acquire_options& how)
    {
        demand made(resource, how);
        made.options.wait = milliseconds(0);
        made.tries = true;
        return made;
    }

    /// Completes the key. Called once, by the client.
    void put_in_front(std::string_view prefix)
    {
        key.insert(0, prefix);
        prefix_size = prefix.size();
        hash = hashed_name(resource()).hash();
    }

    [[nodiscard]] std::string_view resource() const noexcept
    {
        return std::string_view(key).substr(prefix_size);
    }

    [[nodiscard]] hashed_name name() const noexcept { return {hash, resource()}; }

    /// Whether one round is all it gets.
    [[nodiscard]] bool once() const noexcept { return options.wait == milliseconds(0); }

    std::string key;  ///< The prefix and the resource.
    std::size_t prefix_size = 0;
    std::size_t hash = 0;  ///< Of the resource, once the key is complete.
    acquire_options options;
    bool tries = false;
    bool by_its_holder = false;  ///< Asked by the function that holds it through `with_lock`.
};

}  // namespace redlock::detail

#endif
