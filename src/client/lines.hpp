#ifndef REDLOCK_SRC_CLIENT_LINES_HPP
#define REDLOCK_SRC_CLIENT_LINES_HPP

#include <redlock/detail/demand.hpp>
#include <redlock/options.hpp>

#include "loop/recycling.hpp"
#include "loop/suspension.hpp"
#include "node/node.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

namespace redlock::detail {

class lines;
class waiter;

/// Where in a line.
struct line_position
{
    std::size_t position;  ///< From 1.
    std::size_t length;
};

/// Those behind the head of a line, by arrival and by owner. See lines.cpp.
class followers;

struct delete_followers
{
    void operator()(followers* of) const noexcept;
};

/// The acquisitions of a client that wait for one resource.
struct line
{
    waiter* head;
    std::unique_ptr<followers, delete_followers> behind{};  ///< Null: nobody has waited there.
    std::uint64_t last_ticket = 0;
    std::uint64_t era = 0;  ///< Of the times below.

    /// The end of the client's last hold of the resource, as an arrival.
    std::uint64_t turn_began = 0;

    /// The arrival of a head that gave up, for those behind it, until the next grant. Zero: none.
    std::uint64_t left_behind = 0;

    /// Forgets the times of another era.
    void enter_era(std::uint64_t now) noexcept
    {
        if (std::exchange(era, now) != now)
            turn_began = left_behind = 0;
    }
};

/// An acquisition in the line for its resource. Leaves the line when it is destroyed.
class waiter
{
public:
    /// @param wanted Must outlive the waiter.
    waiter(const demand& wanted, turn& end_of_turn) noexcept
        : resource_(wanted.name()), owner_(wanted.options.owner), sleep_(end_of_turn)
    {
    }

    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;

    ~waiter() { leave(); }

    /// Ends the wait: the next one asks the nodes. Others of the same owner look whether they may
    /// take part in what a head was granted.
    void leave() noexcept;

    /// The same for a head that was granted the resource: the next one sleeps until the hold is
    /// over.
    void leave_to_hold() noexcept;

    /// Whether it's the one in its line that asks the nodes, and no hold of this client is known.
    [[nodiscard]] bool may_ask() const noexcept { return is_head() && !held_here_; }

    /** Since when it has waited, from the nodes' view. A head that is about to ask calls this.

        Clients take turns: an acquisition that waits behind others of its client counts, against
        other clients, as waiting since its client's last hold was over. A head that gives up leaves
        its arrival to those behind it at that time.

        @param own When it arrived here.
        @param era Of the client's time, see `stamps`. What the line knows of another one is
        forgotten.
    */
    [[nodiscard]] std::uint64_t waits_since(std::uint64_t own, std::uint64_t era) noexcept;

    /// A node, by its position in the configuration, says that the resource may be free, or is
    /// reserved for this client. Wakes the waiter when `enough` nodes have.
    void on_wake(std::size_t by, std::size_t enough) noexcept;

    /// A node says that this client is next, once a reservation for another one ends.
    /// @param reserved When it ends.
    /// @return Whether `enough` nodes have.
    [[nodiscard]] bool on_next(std::size_t by, std::size_t enough, time_point reserved) noexcept;

    /// When to ask, according to `on_next`.
    [[nodiscard]] time_point next() const noexcept { return next_; }

    /// Whether enough nodes have woken it since the last round began.
    [[nodiscard]] bool woken() const noexcept { return woken_; }

    /// Whether it must look at once: the nodes have woken it, or another waiter of its owner has.
    [[nodiscard]] bool is_called() const noexcept { return woken_ || told_to_look_; }

    /// Whether any node has woken it.
    [[nodiscard]] bool heard() const noexcept { return woken_by_.any(); }

    /// A round begins. Earlier wake-ups led to it and no longer count.
    void forget_wakes() noexcept
    {
        woken_by_.reset();
        next_by_.reset();
        next_ = time_point::max();
        woken_ = false;
    }

    /// It has been resumed. If the previous head told it to look, it tells the next one of its
    /// owner.
    void pass_on() noexcept;

    /// Whether its owner is that of the head, which may be granted a hold for both of them.
    [[nodiscard]] bool follows_its_owner() const noexcept;

    [[nodiscard]] std::string_view resource() const noexcept { return resource_.text(); }

    /// Its place in the line, from 1, and the line's length.
    [[nodiscard]] line_position position() const noexcept;

    /// What it sleeps in. Woken when something has changed, and by its deadline.
    [[nodiscard]] pause& sleep() noexcept { return sleep_; }

private:
    friend class lines;
    friend class followers;

    [[nodiscard]] bool is_head() const noexcept { return line_ && line_->head == this; }

    hashed_name resource_;
    redlock::owner owner_;
    pause sleep_;
    lines* in_ = nullptr;
    line* line_ = nullptr;       ///< Null: in none.
    std::uint64_t ticket_ = 0;   ///< In the order of arrival.
    std::uint64_t since_ = 0;    ///< What `waits_since` last returned. Zero: it hasn't asked.
    bool held_here_ = false;     ///< A head that sleeps until a hold of this client is over.
    bool told_to_look_ = false;  ///< By one of the same owner.
    node_set woken_by_;
    bool woken_ = false;
    node_set next_by_;
    time_point next_ = time_point::max();
};

/** The lines of a client: one for each resource that is being acquired.

    Only the first of a line asks the nodes. So the acquisitions of one client don't take votes from
    each other or overtake each other, and a thousand of them cost the nodes as much as one.

    An acquisition with nobody behind it costs one entry in a map. Nothing here takes longer
    because a line is long. Used on the strand only.
*/
class lines
{
public:
    /// Puts a waiter at the end of its line.
    void enter(waiter& last);

    /// A hold of this client is over: lets the head ask at once.
    /// @param now As an arrival.
    /// @param era Of that time.
    void on_hold_end(const hashed_name& resource, std::uint64_t now, std::uint64_t era) noexcept;

    /// The head of the line for a resource. Null: nobody waits for it.
    [[nodiscard]] waiter* head_of(const hashed_name& resource) noexcept;

    /// How many wait, including those that ask. Any thread.
    [[nodiscard]] std::size_t size() const noexcept
    {
        return size_.load(std::memory_order_relaxed);
    }

    /// Forgets all waiters. For the end of the execution context.
    void clear() noexcept;

private:
    friend class waiter;

    [[nodiscard]] line* find(const hashed_name& resource) noexcept;

    /// @param held_here Whether the next one must sleep.
    void remove(waiter& leaving, bool held_here) noexcept;
    void remove_head(waiter& leaving, line& from, bool held_here) noexcept;

    void set_size(std::size_t size) noexcept { size_.store(size, std::memory_order_relaxed); }

    std::atomic<std::size_t> size_ = 0;
    recycled_map<hashed_name, line> lines_;
};

}  // namespace redlock::detail

#endif
