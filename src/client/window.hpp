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

class place;
class window;

/// Something that waits for a place. Stops waiting when it's destroyed.
class entrant : public boost::intrusive::set_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
{
public:
    entrant() = default;
    entrant(const entrant&) = delete;
    entrant& operator=(const entrant&) = delete;

    /// Stops waiting, if it waits.
    void give_up() noexcept;

    /// It has a place and no longer waits.
    virtual void on_admitted(place taken) = 0;

protected:
    ~entrant() { give_up(); }

private:
    friend class window;

    window* in_ = nullptr;
    core::nanoseconds rank_{0};
};

/** The rounds of one kind that a client has under way, and what waits for a place among them.

    A round takes a place before it is sent. It leaves its place when a quorum has really answered
    or no node owes an answer, not when it's given up. So a client never sends more than the nodes
    can answer, and what must wait waits here, where it sends nothing.

    Places are given by rank, lowest first: acquisitions in order of arrival, extensions by
    deadline. A round that answers a wake-up from a node goes before all ranks, because its
    reservation ends soon. But every second place goes by rank, so that steady hand-overs don't
    leave anything waiting.

    Without a quorum of ready nodes the window is closed: there are no places. Places are given at
    the end of a turn. Used on the strand only, except where noted.
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

    /// Takes a place, even if none is free. See `place`.
    void enter() noexcept { count(under_way_, 1); }

    /// A round has left its place.
    void leave() noexcept;

    /// Waits for a place.
    void wait(entrant& added, core::nanoseconds rank, order in = order::by_rank);

    /// A round has ended. See `core::round_window`.
    void on_round(time_point started, time_point now, bool answered) noexcept;

    /// @param closed No quorum of nodes is ready.
    void set_closed(bool closed) noexcept;
    [[nodiscard]] bool closed() const noexcept { return closed_; }

    // Any thread.
    [[nodiscard]] std::size_t under_way() const noexcept { return read(under_way_); }
    [[nodiscard]] std::size_t waiting() const noexcept { return read(waiting_); }
    [[nodiscard]] std::size_t places() const noexcept { return read(places_); }

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

    /// Whether one that waits can have a place.
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
    bool was_first_ = false;  ///< The last place went to one of `first_`.
    core::round_window size_;
    counter under_way_ = 0;
    counter waiting_ = 0;
    counter places_ = 0;
    bool closed_ = true;
};

/// The place of a round that is about to be sent. Left when it is destroyed.
class place
{
public:
    place() = default;

    /// Takes one, even if none is free.
    explicit place(window& of) noexcept : of_(&of) { of.enter(); }

    place(place&& other) noexcept : of_(other.release()) {}
    place& operator=(place&&) = delete;

    ~place()
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

/// An operation that waits for a place.
class place_wait final : public entrant
{
public:
    explicit place_wait(turn& end_of_turn) noexcept : sleep(end_of_turn) {}

    /// What it got. Empty: no place.
    [[nodiscard]] place take() noexcept { return taken_ ? std::move(*taken_) : place(); }

    pause sleep;  ///< Woken when it has a place.

private:
    void on_admitted(place taken) override;

    std::optional<place> taken_;
};

}  // namespace redlock::detail

#endif
