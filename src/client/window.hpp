#ifndef REDLOCK_SRC_CLIENT_WINDOW_HPP
#define REDLOCK_SRC_CLIENT_WINDOW_HPP

#include "core/instant.hpp"
#include "core/round_window.hpp"
#include "loop/pause.hpp"

#include <boost/intrusive/set.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace redlock::detail {

/** The rounds of one kind that a client has under way, and what waits for a place among them.

    A round takes a place before it is sent. It leaves its place when a quorum has really answered,
    or nobody owes an answer: not when it is given up. So a client never sends more than the nodes
    answer, and what has to wait waits here, where it sends nothing.

    Without a quorum of ready nodes the window is closed: nobody gets a place.

    Places are given at the end of a turn. Used on the strand only, except where noted.
*/
class window : private turn_task
{
public:
    /// @param patience See `core::round_window`.
    window(turn& end_of_turn, core::nanoseconds patience) noexcept
        : turn_(end_of_turn), size_(patience)
    {
    }

    window(const window&) = delete;
    window& operator=(const window&) = delete;

    /// Whether a round may be sent now. If not, who wants it has to wait.
    [[nodiscard]] bool has_room() const noexcept
    {
        return !closed_ && under_way() < size_.size() && !anybody_waits();
    }

    /// Takes a place, whether there is one or not. See `place`.
    void enter() noexcept { count(under_way_, 1); }

    /// A round has left its place.
    void leave() noexcept;

    /// A round has ended. See `core::round_window`.
    void on_round(time_point started, time_point now, bool answered) noexcept;

    /// @param closed No quorum of nodes is ready.
    void set_closed(bool closed) noexcept;
    [[nodiscard]] bool closed() const noexcept { return closed_; }

    [[nodiscard]] const core::round_window& size() const noexcept { return size_; }

    // Any thread.
    [[nodiscard]] std::size_t under_way() const noexcept { return read(under_way_); }
    [[nodiscard]] std::size_t waiting() const noexcept { return read(waiting_); }
    [[nodiscard]] std::size_t places() const noexcept { return read(places_); }

protected:
    ~window() = default;

    /// Something more waits.
    void on_wait();

    /// It waits no longer.
    void on_give_up() noexcept { count(waiting_, one_less); }

private:
    /// As an unsigned change.
    static constexpr auto one_less = static_cast<std::size_t>(-1);

    using counter = std::atomic<std::size_t>;

    static std::size_t read(const counter& from) noexcept
    {
        return from.load(std::memory_order_relaxed);
    }

    /// One thread at a time writes.
    static void count(counter& to, std::size_t change) noexcept
    {
        to.store(read(to) + change, std::memory_order_relaxed);
    }

    [[nodiscard]] bool anybody_waits() const noexcept { return read(waiting_) > 0; }

    /// Whether somebody who waits can have a place.
    [[nodiscard]] bool may_admit() const noexcept
    {
        return !closed_ && anybody_waits() && under_way() < size_.size();
    }

    void admit_soon() noexcept;
    void on_turn_end() override;

    /// Takes the next one out of those who wait, and gives it a place.
    virtual void admit_next() = 0;

    turn& turn_;
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

    /// Takes one, whether there is one or not.
    explicit place(window& of) noexcept : of_(&of) { of.enter(); }

    place(place&& other) noexcept : of_(other.release()) {}
    place& operator=(place&&) = delete;

    ~place()
    {
        if (of_)
            of_->leave();
    }

    [[nodiscard]] explicit operator bool() const noexcept { return of_ != nullptr; }

    /// The caller leaves it from now on.
    window* release() noexcept { return std::exchange(of_, nullptr); }

private:
    window* of_ = nullptr;
};

/** The window of acquisitions.

    Places go round in the order of arrival. A round that answers a wake-up from a node goes first,
    for its reservation ends soon; but every second place goes in the order of arrival, so that
    steady hand-overs leave nobody waiting.
*/
class acquisition_window final : public window
{
public:
    using window::window;

    /// An acquisition that waits for a place. Stops to wait when it is destroyed.
    class entrant : public boost::intrusive::set_base_hook<
                        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
    {
    public:
        entrant(acquisition_window& in, turn& end_of_turn, time_point arrived) noexcept
            : in_(in), sleep_(end_of_turn), arrived_(arrived)
        {
        }

        entrant(const entrant&) = delete;
        entrant& operator=(const entrant&) = delete;
        ~entrant() { give_up(); }

        /// Stops to wait.
        void give_up() noexcept;

        /// What it has got. Empty: no place.
        [[nodiscard]] place take() noexcept { return place_ ? std::move(*place_) : place(); }

        /// What it sleeps in. Woken when it has a place.
        [[nodiscard]] pause& sleep() noexcept { return sleep_; }

    private:
        friend class acquisition_window;

        acquisition_window& in_;
        pause sleep_;
        time_point arrived_;
        std::optional<place> place_;
    };

    enum class order : std::uint8_t
    {
        of_arrival,
        first,  ///< A node has woken it.
    };

    void wait(entrant& last, order in);

private:
    struct earlier
    {
        bool operator()(const entrant& a, const entrant& b) const noexcept
        {
            return a.arrived_ < b.arrived_;
        }
    };

    using entrants = boost::intrusive::multiset<
        entrant,
        boost::intrusive::compare<earlier>,
        boost::intrusive::constant_time_size<false>>;

    void admit_next() override;

    entrants first_;
    entrants others_;
    bool was_first_ = false;  ///< The last place went to one of `first_`.
};

/** The window of extensions: who is closest to its deadline goes first.

    Apart from that of acquisitions, so that these are never in their way.
*/
class extension_window final : public window
{
public:
    using window::window;

    /// Something that waits for a place. Stops to wait when it is destroyed.
    class entrant : public boost::intrusive::set_base_hook<
                        boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
    {
    public:
        entrant() = default;
        entrant(const entrant&) = delete;
        entrant& operator=(const entrant&) = delete;

        /// Stops to wait, if it waits.
        void give_up() noexcept;

        /// It has got a place, and waits no longer.
        virtual void on_admitted(place taken) = 0;

    protected:
        ~entrant() { give_up(); }

    private:
        friend class extension_window;

        extension_window* in_ = nullptr;
        core::nanoseconds deadline_{0};
    };

    /// @param deadline When what is extended ends, on the clock that never stops.
    void wait(entrant& added, core::nanoseconds deadline);

private:
    struct sooner
    {
        bool operator()(const entrant& a, const entrant& b) const noexcept
        {
            return a.deadline_ < b.deadline_;
        }
    };

    void admit_next() override;

    boost::intrusive::multiset<
        entrant,
        boost::intrusive::compare<sooner>,
        boost::intrusive::constant_time_size<false>>
        waiting_;
};

}  // namespace redlock::detail

#endif
