#ifndef REDLOCK_SRC_CLIENT_WINDOW_HPP
#define REDLOCK_SRC_CLIENT_WINDOW_HPP

#include "core/instant.hpp"
#include "core/round_window.hpp"
#include "loop/suspension.hpp"

#include <boost/intrusive/set.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace redlock::detail {

class room;
class window;

/// Something that waits for room. Stops waiting when it's destroyed.
class entrant : public boost::intrusive::set_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
{
public:
    entrant() = default;
    entrant(const entrant&) = delete;
    entrant& operator=(const entrant&) = delete;

    /// Stops waiting, if it waits.
    void give_up() noexcept;

    /// It no longer waits.
    virtual void on_admitted(room taken) = 0;

protected:
    ~entrant() { give_up(); }

private:
    friend class window;

    window* in_ = nullptr;
    core::nanoseconds rank_{0};
};

/** The rounds of one kind that a client has under way, and what waits to be one.

    A round is admitted before it is sent. It leaves when a quorum has really answered or no node
    owes an answer, not when it's given up. So a client never sends more than the nodes can answer,
    and what must wait waits here, where it sends nothing.

    Rounds are admitted by rank, lowest first: acquisitions in order of arrival, extensions by
    deadline. A round that answers a wake-up from a node goes before all ranks, because its
    reservation ends soon. But every second one goes by rank, so that steady hand-overs don't
    leave anything waiting.

    Without a quorum of ready nodes the window is closed and admits nothing. It admits at the end of
    a turn. Used on the strand only, except where noted.
*/
class window final : private deferred
{
public:
    enum class order : std::uint8_t
    {
        by_rank,
        first,  ///< A node has woken it.
    };

    /// @param patience See `core::round_window`.
    window(turn& end_of_turn, core::nanoseconds patience) noexcept
        : turn_(end_of_turn), size_(patience)
    {
    }

    window(const window&) = delete;
    window& operator=(const window&) = delete;

    /// Whether a round may be sent now. If not, it must wait.
    [[nodiscard]] bool has_room() const noexcept
    {
        return !closed_ && under_way() < size_.size() && !anybody_waits();
    }

    /// Admits a round, even if there is no room. See `room`.
    void enter() noexcept { count(under_way_, 1); }

    /// A round has left.
    void leave() noexcept;

    /// Waits for room.
    void wait(entrant& added, core::nanoseconds rank, order in = order::by_rank);

    /// A round has ended. See `core::round_window`.
    void on_round(time_point started, time_point now, bool answered) noexcept;

    /// @param closed No quorum of nodes is ready.
    void set_closed(bool closed) noexcept;
    [[nodiscard]] bool closed() const noexcept { return closed_; }

    // Any thread.
    [[nodiscard]] std::size_t under_way() const noexcept { return read(under_way_); }
    [[nodiscard]] std::size_t waiting() const noexcept { return read(waiting_); }
    [[nodiscard]] std::size_t capacity() const noexcept { return read(capacity_); }

private:
    /// As an unsigned change.
    static constexpr auto one_less = static_cast<std::size_t>(-1);

    using counter = std::atomic<std::size_t>;

    static std::size_t read(const counter& from) noexcept
    {
        return from.load(std::memory_order_relaxed);
    }

    /// Only one thread writes at a time.
    static void count(counter& to, std::size_t change) noexcept
    {
        to.store(read(to) + change, std::memory_order_relaxed);
    }

    [[nodiscard]] bool anybody_waits() const noexcept { return read(waiting_) > 0; }

    /// Whether one that waits can be admitted.
    [[nodiscard]] bool may_admit() const noexcept
    {
        return !closed_ && anybody_waits() && under_way() < size_.size();
    }

    struct lower
    {
        bool operator()(const entrant& a, const entrant& b) const noexcept
        {
            return a.rank_ < b.rank_;
        }
    };

    using entrants = boost::intrusive::multiset<
        entrant,
        boost::intrusive::compare<lower>,
        boost::intrusive::constant_time_size<false>>;

    friend class entrant;

    void admit_soon() noexcept;
    void admit_next();
    void on_turn_end() override;

    turn& turn_;
    entrants first_;
    entrants others_;
    bool was_first_ = false;  ///< The last room went to one of `first_`.
    core::round_window size_;
    counter under_way_ = 0;
    counter waiting_ = 0;
    counter capacity_ = 0;
    bool closed_ = true;
};

/// Lets a round be sent. The round leaves when this is destroyed.
class room
{
public:
    room() = default;

    /// Even if there is none.
    explicit room(window& of) noexcept : of_(&of) { of.enter(); }

    room(room&& other) noexcept : of_(other.release()) {}
    room& operator=(room&&) = delete;

    ~room()
    {
        if (of_)
            of_->leave();
    }

    [[nodiscard]] explicit operator bool() const noexcept { return of_ != nullptr; }

    /// The caller must leave it from now on.
    window* release() noexcept { return std::exchange(of_, nullptr); }

private:
    window* of_ = nullptr;
};

/// An operation that waits for room.
class room_wait final : public entrant
{
public:
    explicit room_wait(turn& end_of_turn) noexcept : sleep(end_of_turn) {}

    /// What it got. Empty: it wasn't admitted.
    [[nodiscard]] room take() noexcept { return taken_ ? std::move(*taken_) : room(); }

    pause sleep;  ///< Woken when it's admitted.

private:
    void on_admitted(room taken) override;

    std::optional<room> taken_;
};

}  // namespace redlock::detail

#endif
