#ifndef REDLOCK_SRC_CLIENT_ROSTER_HPP
#define REDLOCK_SRC_CLIENT_ROSTER_HPP

#include <redlock/node_status.hpp>
#include <redlock/time.hpp>

#include "core/electorate.hpp"
#include "core/instant.hpp"
#include "node/node.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace redlock::detail {

/// The nodes of a client, and what each of them says about its state. Used on the strand only,
/// except where noted.
class roster
{
public:
    explicit roster(node_list nodes);

    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] core::electorate voters() const noexcept { return core::electorate(size()); }
    [[nodiscard]] node& operator[](std::size_t index) const noexcept { return *nodes_[index]; }

    [[nodiscard]] std::size_t ready() const;
    [[nodiscard]] bool has_quorum() const { return ready() >= voters().quorum(); }

    /// The round trip of a quorum without waiting: that of the farthest among the nearest nodes.
    /// Zero if fewer have answered.
    [[nodiscard]] core::nanoseconds distance() const noexcept;

    /// Whether a node hasn't yet had its chance to connect.
    [[nodiscard]] bool any_untried(time_point now) const;

    /// When all have had it, whatever they say.
    [[nodiscard]] time_point chance_ends() const noexcept { return chance_ends_; }

    /// Whether a node may soon answer a release.
    [[nodiscard]] bool owes_release() const;

    /// Starts the sessions.
    /// @param chance_ends Until then a node may connect before it counts as absent.
    void start(std::weak_ptr<node::owner> told, time_point chance_ends);
    void stop() noexcept;

    /// Whom the nodes tell. Empty before the start.
    [[nodiscard]] const std::weak_ptr<node::owner>& owner() const noexcept { return owner_; }

    /// A session has ended. @return Whether it was the last one.
    bool on_stopped() noexcept { return --sessions_ == 0; }
    [[nodiscard]] bool stopped() const noexcept { return sessions_ == 0; }

    /// What has changed since the last call.
    struct changes
    {
        std::vector<node_status> all;  ///< The nodes whose state has.
        node_set ready;                ///< Those that have become ready.
    };
    [[nodiscard]] changes take_changes();

    /// How often a node has become ready.
    [[nodiscard]] std::size_t connections() const noexcept { return connections_; }

    /// Any thread.
    [[nodiscard]] std::vector<node_status> status() const;

private:
    const node_list nodes_;
    std::weak_ptr<node::owner> owner_;
    std::size_t sessions_ = 0;
    std::size_t connections_ = 0;
    time_point chance_ends_ = time_point::max();

    mutable std::mutex mutex_;
    std::vector<node_status> status_;
};

}  // namespace redlock::detail

#endif
