#ifndef REDLOCK_SRC_TESTING_LOOP_HPP
#define REDLOCK_SRC_TESTING_LOOP_HPP

#include <boost/asio/io_context.hpp>

#include <functional>

#include "testing/manual_time.hpp"

namespace redlock::testing {

/// Runs what is ready, and what that makes ready. Throws if there is no end to it.
void run_until_idle(boost::asio::io_context& context);

/// Lets time pass, going from event to event. Calls `settle` before and after each.
void advance(manual_time& time, nanoseconds by, const std::function<void()>& settle);

/// The same, and runs what each event makes ready.
void advance(boost::asio::io_context& context, manual_time& time, nanoseconds by);

}  // namespace redlock::testing

#endif
