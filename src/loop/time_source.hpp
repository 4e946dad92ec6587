#ifndef REDLOCK_SRC_LOOP_TIME_SOURCE_HPP
#define REDLOCK_SRC_LOOP_TIME_SOURCE_HPP

#include "core/instant.hpp"
#include "loop/strand.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/system/error_code.hpp>

#include <memory>

namespace redlock::detail {

/** The client's only way to know the time and to wait for it.

    Tests replace it, so that a client with virtual time runs the same compiled code.
*/
class time_source
{
public:
    virtual ~time_source() = default;

    /// Both clocks, read now.
    [[nodiscard]] virtual core::instant now() const noexcept = 0;

    /// The wall clock, since the epoch. Nothing depends on its being right: see `token_clock`.
    [[nodiscard]] virtual std::chrono::microseconds wall() const noexcept = 0;

    /// Completes on the strand when the steady clock reaches `at`, or when called again or
    /// cancelled, with operation_aborted. One wait at a time.
    virtual void async_wait_until(
        time_point at,
        asio::any_completion_handler<void(boost::system::error_code)> handler
    ) = 0;

    virtual void cancel() noexcept = 0;
};

/// The clocks of this machine, and one Asio timer on `strand`.
[[nodiscard]] std::unique_ptr<time_source> make_system_time(const strand_type& strand);

}  // namespace redlock::detail

#endif
