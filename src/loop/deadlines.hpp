#ifndef REDLOCK_SRC_LOOP_DEADLINES_HPP
#define REDLOCK_SRC_LOOP_DEADLINES_HPP

#include "loop/clock.hpp"

#include <boost/intrusive/set.hpp>

#include <cstddef>
#include <memory>

namespace redlock::detail {

/// Something that happens at a set time unless it is destroyed or taken out before.
class deadline : public boost::intrusive::set_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
{
public:
    /// The time has come. The deadline is out of the queue, and the call may destroy it.
    virtual void on_deadline() = 0;

    /// Whether it limits the wait for input. If the loop was busy or stood still, that may be here
    /// by now, unread.
    [[nodiscard]] virtual bool awaits_input() const noexcept { return false; }

    [[nodiscard]] time_point due() const noexcept { return due_; }

    /// Sets the time, before the deadline is put in.
    void set_due(time_point due) noexcept { due_ = due; }

    /// Takes the deadline out, if it is in.
    void forget() noexcept { unlink(); }

protected:
    ~deadline() = default;

private:
    friend class deadlines;

    time_point due_;
    bool was_put_off_ = false;
};

/** All deadlines of a client, on one timer.

    Most rounds are decided long before their deadline. So adding and removing one must be cheap,
    and the timer may fire early: it is then set again to the next deadline. Used on the strand
    only.
*/
class deadlines : public std::enable_shared_from_this<deadlines>
{
public:
    explicit deadlines(std::shared_ptr<clock> time);

    /// Calls `entry.on_deadline()` at `due`.
    void add(deadline& entry, time_point due);

    /// Stops keeping the loop busy. The remaining deadlines are called if another one is added.
    void stop() noexcept;

private:
    /// The most that one handler calls.
    static constexpr std::size_t max_at_once = 1024;

    struct earlier
    {
        bool operator()(const deadline& a, const deadline& b) const noexcept
        {
            return a.due() < b.due();
        }
    };

    using entry_set = boost::intrusive::multiset<
        deadline,
        boost::intrusive::compare<earlier>,
        boost::intrusive::constant_time_size<false>>;

    void arm();
    void on_timer();
    [[nodiscard]] bool put_off(deadline& entry, time_point now);

    std::shared_ptr<clock> time_;
    std::unique_ptr<alarm> alarm_;
    entry_set entries_;
    time_point armed_for_ = time_point::max();  ///< max: not armed.
};

}  // namespace redlock::detail

#endif
