#ifndef REDLOCK_SRC_CLIENT_HOLD_HPP
#define REDLOCK_SRC_CLIENT_HOLD_HPP

#include <redlock/lease.hpp>
#include <redlock/options.hpp>

#include "client/round.hpp"
#include "client/window.hpp"
#include "core/extension_schedule.hpp"
#include "core/hold_state.hpp"
#include "core/instant.hpp"
#include "core/later_votes.hpp"
#include "core/queue_place.hpp"
#include "loop/suspension.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace redlock::detail {

class client_impl;

class hold;
class holds;

/// A value that a mutex guards, locked as long as this lives.
template <class T>
class locked
{
public:
    locked(std::mutex& by, T& value) noexcept : lock_(by), value_(value) {}

    [[nodiscard]] T& operator*() const noexcept { return value_; }
    [[nodiscard]] T* operator->() const noexcept { return &value_; }

private:
    std::unique_lock<std::mutex> lock_;
    T& value_;
};

/// What the caller gets. Empty: it wasn't lost.
[[nodiscard]] error_code to_error(core::hold_end how) noexcept;

/// Of a hold that is found by its resource.
using named_hook = boost::intrusive::set_base_hook<boost::intrusive::tag<struct by_name>>;

/// When to look at a hold, and what an extension of it asks for. Used on the strand only.
struct upkeep : boost::intrusive::set_base_hook<>, named_hook, boost::intrusive::list_base_hook<>
{
    hashed_name name;              ///< Of the resource.
    std::shared_ptr<hold> kept;    ///< Itself, until it is over.
    holds* kept_by = nullptr;      ///< Where it is or was kept: late answers need it.
    core::nanoseconds look_at{0};  ///< When to look at it next, by the time of `holds`.
    core::extension_schedule schedule;
    milliseconds extended_by{0};   ///< The ttl of an automatic extension. Zero: none.
    milliseconds longest_ttl{0};   ///< The longest that the keys were given.
    bool extension_tried = false;  ///< So keys may outlive the deadline.
    bool extending = false;        ///< An automatic extension is under way, or waits for room.
    bool at_limit = false;         ///< `hold_max` allows no further extension.

    core::later_votes votes;

    /// One more node's loss would end it, as far as is known.
    bool at_risk = false;

    /// By the time of `holds`, since when an extension has found fewer than all nodes. Zero: it
    /// hasn't.
    core::nanoseconds lacking_since{0};

    /// A node may take it again: to be extended soon, up to its own deadline if not automatically.
    bool may_be_taken_again = false;

    /// The latest note. Each extension brings it to nodes that missed it. Null: that of the
    /// acquisition.
    std::shared_ptr<const announcement> announced;

    /// How it ends if the deadline passes.
    [[nodiscard]] core::hold_end end_at_deadline() const noexcept
    {
        return at_limit ? core::hold_end::at_limit : core::hold_end::lost;
    }

    suspension::list lost_waiting;     ///< Operations that wait for its loss.
    suspension::list extending_waits;  ///< Operations that extend it. Its end ends them.
};

/** A resource that a quorum granted to one owner, until a deadline.

    Leases ask on any thread what has become of it; a mutex guards that: see `core::hold_state`. The
    rest never changes or belongs to the strand.
*/
class hold final : public upkeep, private entrant
{
public:
    hold(
        std::shared_ptr<client_impl> client,
        const round& granted_by,
        core::queue_place queued,
        const core::lifetime& lives
    );

    [[nodiscard]] const std::shared_ptr<client_impl>& client() const noexcept { return client_; }
    [[nodiscard]] const demand& wanted() const noexcept { return *granted_by_->attempt()->of; }
    [[nodiscard]] std::string_view resource() const noexcept { return wanted().resource(); }
    [[nodiscard]] fencing_token fence() const noexcept { return granted_by_->attempt()->token; }
    [[nodiscard]] round& granted_by() const noexcept { return *granted_by_; }

    /// The place of its acquisition in the queues of the nodes.
    [[nodiscard]] const core::queue_place& queued() const noexcept { return queued_; }

    /// As of its acquisition, but with this ttl.
    [[nodiscard]] core::lifetime lives(milliseconds ttl) const noexcept
    {
        return {ttl, lives_.grace, lives_.drift_rate};
    }

    /// Whether an extension to `until` would exceed `hold_max`.
    [[nodiscard]] bool beyond_limit(core::instant until) const noexcept;

    // Any thread.

    /// Locked as long as the result lives.
    [[nodiscard]] locked<core::hold_state> state() const noexcept { return {mutex_, state_}; }
    [[nodiscard]] core::instant valid_until() const noexcept { return state()->valid_until(); }
    [[nodiscard]] bool over_at(core::instant now) const noexcept { return state()->over_at(now); }
    [[nodiscard]] bool lost_at(core::instant now) const noexcept { return state()->lost_at(now); }
    [[nodiscard]] bool revoked() const noexcept { return state()->revoked(); }

    /// The nodes that have it, as far as their last answers say.
    [[nodiscard]] node_set standing() const noexcept
    {
        return votes.standing(granted_by_->granters());
    }

    /// Why the hold was lost. Empty: it lives or was given back.
    [[nodiscard]] error_code loss() const noexcept { return to_error(state()->end()); }
    [[nodiscard]] error_code last_extension() const noexcept
    {
        return *locked(mutex_, last_extension_);
    }

    // Strand only.
    void begin_extension(milliseconds ttl) noexcept;

    /// The next extension brings another note.
    /// @param now By the time of the nodes.
    void announce(const note& text, std::uint64_t now);

    void note_extension(error_code outcome) noexcept { *locked(mutex_, last_extension_) = outcome; }

    /// Waits to be one of the extensions under way and is then extended.
    void wait_for_extension(window& in) { in.wait(*this, valid_until().boot); }

    /// If it's waiting, it won't be extended.
    void forget_extension() noexcept { entrant::give_up(); }

    /// Ends the operations that wait for its loss or extend it, with `operation_aborted`.
    void interrupt();

    /// Lets the operations that wait for its loss look again, because one of its leases has ended.
    void on_lease_end();

    /// Whether the release of the keys hasn't begun. After this call it has.
    [[nodiscard]] bool begin_release() noexcept { return !std::exchange(release_begun_, true); }

private:
    void on_admitted(room taken) override;

    std::shared_ptr<client_impl> client_;
    std::shared_ptr<round> granted_by_;
    core::queue_place queued_;
    core::lifetime lives_;
    core::instant limit_;  ///< Acquired plus hold_max.
    bool release_begun_ = false;

    mutable std::mutex mutex_;
    mutable core::hold_state state_;
    mutable error_code last_extension_;
};

/// The part of one lease in a hold. Any thread.
class share
{
public:
    /// @param held Already joined for this share. See `join`.
    share(std::shared_ptr<hold> held, milliseconds ttl) noexcept : hold_(std::move(held)), ttl_(ttl)
    {
    }

    /// Takes part in a hold. @return Null if it is over.
    [[nodiscard]] static std::shared_ptr<share> join(
        std::shared_ptr<hold> held,
        milliseconds ttl,
        core::instant now
    );

    [[nodiscard]] static lease make_lease(std::shared_ptr<share> of) noexcept;

    /// The share of a lease. Null if it's empty.
    [[nodiscard]] static const std::shared_ptr<share>& of(const lease& held) noexcept
    {
        return held.share_;
    }

    [[nodiscard]] const std::shared_ptr<hold>& held() const noexcept { return hold_; }

    /// What was asked for when this lease was acquired.
    [[nodiscard]] milliseconds ttl() const noexcept { return ttl_; }

    [[nodiscard]] bool ended() const noexcept
    {
        const auto locked = hold_->state();
        return part_.ended;
    }
    [[nodiscard]] bool over_at(core::instant now) const noexcept
    {
        const auto locked = hold_->state();
        return part_.ended || locked->over_at(now);
    }
    [[nodiscard]] bool lost_at(core::instant now) const noexcept
    {
        return hold_->state()->lost_at(now, part_);
    }

    /// Ends the lease, and the hold with the last one.
    core::lease_end end(core::leaving how) noexcept;

    /// Releases what a lease had that is being destroyed.
    static void release_in_background(std::shared_ptr<share> leaving) noexcept;

    /// Leaves the keys of a lease to their ttl.
    static void abandon(std::shared_ptr<share> leaving) noexcept;

    class attention;

private:
    std::shared_ptr<hold> hold_;
    milliseconds ttl_;
    core::lease_part part_;  ///< Guarded by the mutex of the hold.
};

/** Attends to a lease: waits for its loss or works under it.

    Begins with the call, not only when the strand gets to it. A closing client takes nothing away
    from what attends. Any thread.
*/
class share::attention
{
public:
    explicit attention(std::shared_ptr<share> to) noexcept : to_(std::move(to))
    {
        to_->hold_->state()->begin_attention(to_->part_);
    }

    attention(attention&&) noexcept = default;
    attention& operator=(attention&&) = delete;

    ~attention()
    {
        if (to_)
            to_->hold_->state()->end_attention(to_->part_);
    }

    [[nodiscard]] const share& lease() const noexcept { return *to_; }

private:
    std::shared_ptr<share> to_;
};

}  // namespace redlock::detail

#endif
