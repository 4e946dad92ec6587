#ifndef REDLOCK_SRC_CLIENT_HOLD_HPP
#define REDLOCK_SRC_CLIENT_HOLD_HPP

#include <redlock/lease.hpp>
#include <redlock/options.hpp>

#include "client/round.hpp"
#include "client/window.hpp"
#include "core/extension_schedule.hpp"
#include "core/instant.hpp"
#include "core/queue_place.hpp"
#include "loop/suspension.hpp"

#include <boost/intrusive/set.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace redlock::detail {

class client_impl;

class hold;
class share;

/// When to look at a hold, and what an extension of it is to ask for. Used on the strand only.
struct upkeep : boost::intrusive::set_base_hook<>
{
    std::shared_ptr<hold> kept;    ///< Itself, until it is over.
    core::nanoseconds look_at{0};  ///< When to look at it next, by the time of `holds`.
    core::extension_schedule schedule;
    milliseconds extended_by{0};    ///< The ttl of an automatic extension. Zero: there is none.
    milliseconds longest_ttl{0};    ///< That was asked for: the keys may outlive an extension so.
    bool extension_tried = false;   ///< So keys may outlive the deadline.
    bool extending = false;         ///< An automatic extension is under way, or waits for room.
    bool at_limit = false;          ///< `hold_max` lets no further extension be.
    suspension::list lost_waiting;  ///< Operations that wait for its loss.
    suspension::list prolonging;    ///< Operations that extend it. Its end ends them.
};

/** A resource that a quorum granted to one owner, until a deadline.

    The deadline, the end and the number of leases are published under a mutex, for a lease may be
    asked from any thread. The rest never changes, or belongs to the strand.

    | state | how it gets there | changes |
    |---|---|---|
    | held | granted | the deadline moves forward with each extension |
    | over | the deadline was reached or a majority denied (lost); the last lease has left | none |
*/
class hold final : public upkeep, private entrant
{
public:
    hold(
        std::shared_ptr<client_impl> client,
        const vote_round& granted_by,
        core::queue_place queued,
        core::instant valid_until
    );

    [[nodiscard]] const std::shared_ptr<client_impl>& client() const noexcept { return client_; }
    [[nodiscard]] const demand& wanted() const noexcept { return *granted_by_->about()->of; }
    [[nodiscard]] std::string_view resource() const noexcept { return wanted().resource(); }
    [[nodiscard]] fencing_token fence() const noexcept { return granted_by_->about()->token; }
    [[nodiscard]] vote_round& granted_by() const noexcept { return *granted_by_; }

    /// Whether an extension to `until` would exceed `hold_max`.
    [[nodiscard]] bool beyond_limit(core::instant until) const noexcept;

    // Any thread.
    [[nodiscard]] core::instant valid_until() const noexcept;

    /// Once true it stays so, whatever an extension brings that was seen at the same time.
    [[nodiscard]] bool over_at(core::instant now) const noexcept;

    /// Why the hold ended. Empty: it lives, or was given back.
    [[nodiscard]] error_code loss() const noexcept;

    /// Whether its deadline has passed, or it was lost before.
    [[nodiscard]] bool lost_at(core::instant now) const noexcept;

    [[nodiscard]] error_code last_extension() const noexcept;

    /// Whether more than one lease has a share in it.
    [[nodiscard]] bool is_shared() const noexcept;

    // Strand only.

    /// That of its acquisition in the queues of the nodes.
    [[nodiscard]] const core::queue_place& queued() const noexcept { return queued_; }

    void begin_extension(milliseconds ttl) noexcept;
    void note_extension(error_code outcome) noexcept;

    /// Moves the deadline forward, unless the hold is over at `now`. Never moves it back.
    /// @return Whether the resource is still held.
    bool prolong(core::instant now, core::instant valid_until) noexcept;

    /// Ends the hold. @return Whether it had not ended before.
    /// @param loss Why. Empty: it is given back.
    bool end(error_code loss = {}) noexcept;

    /// Gives the hold back, unless somebody attends to it. @return Whether it was that.
    bool end_unattended() noexcept;

    /// Waits for a place among the extensions under way, and is extended then.
    void wait_for_extension(window& in) { in.wait(*this, valid_until().boot); }

    /// Is not extended, should it wait.
    void forget_extension() noexcept { entrant::give_up(); }

    /// Ends the operations that wait for its loss or extend it, with `operation_aborted`.
    void interrupt();

    /// Lets the operations look again that wait for its loss: a lease of it has ended.
    void on_lease_end();

    /// Whether nobody has begun to release the keys. From now on somebody has.
    [[nodiscard]] bool begin_release() noexcept { return !std::exchange(release_begun_, true); }

private:
    friend class share;

    void on_admitted(place taken) override;

    /// Adds a lease. @return False if the hold is over.
    [[nodiscard]] bool join(core::instant now) noexcept;

    /// Takes a lease away, and ends the hold with the last one. @return Whether it was that.
    bool leave(share& left) noexcept;

    /// Whether a lease was lost before its owner ended it.
    [[nodiscard]] bool lost_at(core::instant now, const share& of) const noexcept;

    /// Somebody more, or less, attends to a lease.
    void begin_attention(share& to) noexcept;
    void end_attention(share& to) noexcept;

    // The same as `over_at` and `lost_at`, with the mutex locked.
    bool is_over(core::instant now) const noexcept;
    bool is_lost(core::instant now) const noexcept;

    std::shared_ptr<client_impl> client_;
    std::shared_ptr<vote_round> granted_by_;
    core::queue_place queued_;
    core::instant limit_;  ///< Acquired plus hold_max.
    bool release_begun_ = false;

    mutable std::mutex mutex_;
    core::instant valid_until_;
    std::size_t leases_ = 0;
    std::size_t attending_ = 0;     ///< To any of its leases.
    mutable bool expired_ = false;  ///< Somebody has seen the deadline pass.
    bool ended_ = false;
    error_code loss_;
    error_code last_extension_;
};

/// The part of one lease in a hold.
class share
{
public:
    /// @param held Has been joined for this. See `join`.
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

    /// What a lease has. Null if it is empty.
    [[nodiscard]] static const std::shared_ptr<share>& of(const lease& held) noexcept
    {
        return held.share_;
    }

    [[nodiscard]] const std::shared_ptr<hold>& held() const noexcept { return hold_; }

    /// What was asked for when this lease was acquired.
    [[nodiscard]] milliseconds ttl() const noexcept { return ttl_; }

    // Any thread.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] bool over_at(core::instant now) const noexcept
    {
        return ended_ || hold_->over_at(now);
    }
    [[nodiscard]] bool lost_at(core::instant now) const noexcept
    {
        return hold_->lost_at(now, *this);
    }

    /// How a lease was ended by its owner.
    enum class end_of
    {
        nothing,  ///< Its owner had ended it before.
        lease,    ///< Other leases share the hold.
        hold,     ///< It was the last one.
    };

    /// Ends the lease, and the hold with the last one.
    end_of end() noexcept;

    /// Releases what a lease had that is going away.
    static void release_in_background(std::shared_ptr<share> left) noexcept;

    /// Leaves the keys of a lease to their ttl.
    static void abandon(std::shared_ptr<share> left) noexcept;

    class attention;

private:
    friend class hold;

    std::shared_ptr<hold> hold_;
    milliseconds ttl_;
    std::atomic<bool> ended_ = false;

    // Guarded by the mutex of the hold.
    std::size_t attending_ = 0;  ///< So many attend to it.
    bool left_ = false;
    /// When it left. If nobody attended to it then, a loss that nobody has seen is not known.
    bool was_lost_ = false;
};

/** Somebody attends to a lease: waits for its loss, from the call on and not only when the strand
    has come to it, or works under it. A client that closes takes nothing away from them.

    Any thread.
*/
class share::attention
{
public:
    explicit attention(std::shared_ptr<share> to) noexcept : to_(std::move(to))
    {
        to_->hold_->begin_attention(*to_);
    }

    attention(attention&&) noexcept = default;
    attention& operator=(attention&&) = delete;

    ~attention()
    {
        if (to_)
            to_->hold_->end_attention(*to_);
    }

    [[nodiscard]] const share& lease() const noexcept { return *to_; }

private:
    std::shared_ptr<share> to_;
};

}  // namespace redlock::detail

#endif
