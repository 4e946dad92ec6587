#ifndef REDLOCK_SRC_CLIENT_HOLD_HPP
#define REDLOCK_SRC_CLIENT_HOLD_HPP

#include <redlock/lease.hpp>
#include <redlock/options.hpp>

#include "client/round.hpp"
#include "core/instant.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string_view>

namespace redlock::detail {

class client_impl;

/** What a lease stands for: a resource that a quorum granted, until a deadline.

    The deadline and the end are published under a mutex, for a lease may be asked from any thread.
    Everything else never changes, except the round and the longest ttl, which belong to the strand.
*/
class hold
{
public:
    hold(
        std::shared_ptr<client_impl> client,
        const acquire_options& options,
        std::shared_ptr<round> granted_by,
        core::instant valid_until
    );

    [[nodiscard]] static lease make_lease(std::shared_ptr<hold> held) noexcept;

    [[nodiscard]] const std::shared_ptr<client_impl>& client() const noexcept { return client_; }
    [[nodiscard]] std::string_view resource() const noexcept
    {
        return granted_by_->about()->resource();
    }
    [[nodiscard]] fencing_token fence() const noexcept { return granted_by_->about()->token; }
    [[nodiscard]] milliseconds ttl() const noexcept { return ttl_; }
    [[nodiscard]] round& granted_by() const noexcept { return *granted_by_; }

    /// The longest ttl that was asked for: how long the keys may outlive an extension.
    [[nodiscard]] milliseconds longest_ttl() const noexcept { return longest_ttl_; }
    void note_ttl(milliseconds ttl) noexcept { longest_ttl_ = std::max(longest_ttl_, ttl); }

    /// Whether an extension to `until` would exceed `hold_max`.
    [[nodiscard]] bool beyond_limit(core::instant until) const noexcept;

    [[nodiscard]] core::instant valid_until() const noexcept;
    [[nodiscard]] bool over_at(core::instant now) const noexcept;

    /// Moves the deadline forward, unless the lease is over at `now`. Never moves it back.
    /// @return Whether the lease is still held.
    bool prolong(core::instant now, core::instant valid_until) noexcept;

    /// Ends the lease before its deadline. @return Whether it had not been ended before.
    bool end() noexcept;

private:
    std::shared_ptr<client_impl> client_;
    milliseconds ttl_;
    milliseconds longest_ttl_;
    std::shared_ptr<round> granted_by_;
    core::instant limit_;  ///< Acquired plus hold_max.

    mutable std::mutex mutex_;
    core::instant valid_until_;
    bool ended_ = false;
};

}  // namespace redlock::detail

#endif
