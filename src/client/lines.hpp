#ifndef REDLOCK_SRC_CLIENT_LINES_HPP
#define REDLOCK_SRC_CLIENT_LINES_HPP

#include <redlock/detail/recycling.hpp>
#include <redlock/options.hpp>

#include "client/pause.hpp"
#include "node/node.hpp"

#include <boost/intrusive/list.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace redlock::detail {

class lines;

/// Where in a line somebody waits.
struct waiting_place
{
    std::size_t position;  ///< From 1.
    std::size_t length;
};

using waiter_hook = boost::intrusive::list_base_hook<
    boost::intrusive::tag<lines>,
    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/// An acquisition in the line for its resource. Leaves the line when it is destroyed.
class waiter : public waiter_hook
{
public:
    /// @param resource Must outlive the waiter.
    waiter(std::string_view resource, redlock::owner who, turn& end_of_turn) noexcept
        : resource_(resource), owner_(who), sleep_(end_of_turn)
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

    /// Whether it is the one of its line that asks the nodes, and no hold of this client is known.
    [[nodiscard]] bool may_ask() const noexcept { return is_head_ && !held_here_; }

    /// A node, by its position in the configuration, says that the resource may be free, or is
    /// reserved for this client. Wakes the waiter when `enough` nodes have.
    void on_wake(std::size_t by, std::size_t enough) noexcept;

    /// Whether enough nodes have since the last round began.
    [[nodiscard]] bool woken() const noexcept { return woken_; }

    /// Whether any node has.
    [[nodiscard]] bool heard() const noexcept { return woken_by_.any(); }

    /// A round begins. What was said before has led to it.
    void forget_wakes() noexcept
    {
        woken_by_.reset();
        woken_ = false;
    }

    /// Whether its owner is that of the head, which may be granted a hold for both of them.
    [[nodiscard]] bool follows_its_owner() const noexcept;

    [[nodiscard]] std::string_view resource() const noexcept { return resource_; }

    /// Its place in the line, from 1, and the length of that.
    [[nodiscard]] waiting_place place() const noexcept;

    /// What it sleeps in. Woken when something has changed, and by its deadline.
    [[nodiscard]] pause& sleep() noexcept { return sleep_; }

private:
    friend class lines;

    [[nodiscard]] const waiter& head() const noexcept;

    using list = boost::intrusive::list<
        waiter,
        boost::intrusive::base_hook<waiter_hook>,
        boost::intrusive::constant_time_size<false>>;

    std::string_view resource_;
    redlock::owner owner_;
    pause sleep_;
    lines* in_ = nullptr;
    bool is_head_ = false;
    bool held_here_ = false;  ///< A head that sleeps until a hold of this client is over.
    list behind_;             ///< Of a head: all others, in the order of their arrival.
    node_set woken_by_;
    bool woken_ = false;
};

/** Who of a client waits for what: a line for each resource that somebody acquires.

    Only the first of a line asks the nodes. So the acquisitions of one client neither take votes
    from each other nor overtake each other, and a thousand of them cost the nodes as much as one.

    An acquisition that nobody waits for costs one entry in a table. Used on the strand only.
*/
class lines
{
public:
    /// Puts a waiter at the end of its line.
    void enter(waiter& last);

    /// A hold of this client is over: lets the head ask at once.
    void on_hold_end(std::string_view resource) noexcept;

    /// The head of the line for a resource. Null: nobody waits for it.
    [[nodiscard]] waiter* head_of(std::string_view resource) noexcept;

    /// How many wait, those included that ask. Any thread.
    [[nodiscard]] std::size_t size() const noexcept
    {
        return size_.load(std::memory_order_relaxed);
    }

    /// Forgets everybody. For the end of the execution context.
    void clear() noexcept;

private:
    friend class waiter;

    /// @param held_here Whether the next one is to sleep.
    void remove(waiter& leaving, bool held_here) noexcept;

    /// Lets the others look that are of the same owner as a head.
    static void wake_owner(waiter& leaving) noexcept;

    void set_size(std::size_t size) noexcept { size_.store(size, std::memory_order_relaxed); }

    std::atomic<std::size_t> size_ = 0;
    std::unordered_map<
        std::string_view,
        waiter*,
        std::hash<std::string_view>,
        std::equal_to<>,
        recycling_allocator<std::pair<const std::string_view, waiter*>>>
        heads_;
};

}  // namespace redlock::detail

#endif
