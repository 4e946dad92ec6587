#ifndef REDLOCK_SRC_CLIENT_OBSERVATION_HPP
#define REDLOCK_SRC_CLIENT_OBSERVATION_HPP

#include <redlock/detail/demand.hpp>
#include <redlock/fencing.hpp>
#include <redlock/holding.hpp>
#include <redlock/time.hpp>

#include "core/views.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace redlock::detail {

class client_impl;

/// Distinguishes a lasting `undecided` from one in the middle of a change.
class doubt
{
public:
    /// How long a view must stay undecided before it's reported: during a change of holders, nodes
    /// disagree for a moment.
    static constexpr milliseconds longest{20};

    /// @return Whether a view may still be the middle of a change.
    bool goes_on(const holding& seen, time_point now) noexcept
    {
        if (seen.state != holding_state::undecided)
            since_.reset();
        else if (!since_)
            since_ = now;
        return since_ && now < *since_ + longest;
    }

    [[nodiscard]] time_point end() const noexcept { return *since_ + longest; }

private:
    std::optional<time_point> since_;
};

/// What a watcher has reported. Used on the strand only, except for what never changes.
class observation
{
public:
    observation(std::shared_ptr<client_impl> by, std::shared_ptr<const demand> about) noexcept
        : client_(std::move(by)), about_(std::move(about))
    {
    }

    [[nodiscard]] const std::shared_ptr<client_impl>& client() const noexcept { return client_; }

    /// The resource, as an acquisition of it that is never made.
    [[nodiscard]] const std::shared_ptr<const demand>& about() const noexcept { return about_; }

    /// Takes a view, and completes it with what is known. @return Whether it's new.
    [[nodiscard]] bool take(core::joint_view& seen);

    void begin_look(time_point now) noexcept { last_look_ = now; }
    [[nodiscard]] time_point last_look() const noexcept { return last_look_; }
    [[nodiscard]] doubt& doubts() noexcept { return doubts_; }

    /// A wait for a new view. There is one at a time.
    class wait
    {
    public:
        explicit wait(observation& of) noexcept : of_(of), alone_(!std::exchange(of.waits_, true))
        {
        }

        wait(const wait&) = delete;
        wait& operator=(const wait&) = delete;

        ~wait()
        {
            if (alone_)
                of_.waits_ = false;
        }

        [[nodiscard]] bool alone() const noexcept { return alone_; }

    private:
        observation& of_;
        bool alone_;
    };

private:
    const std::shared_ptr<client_impl> client_;
    const std::shared_ptr<const demand> about_;
    bool waits_ = false;
    std::optional<core::joint_view> told_;
    fencing_token highest_;
    time_point last_look_{};
    doubt doubts_;
};

}  // namespace redlock::detail

#endif
