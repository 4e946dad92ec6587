#ifndef REDLOCK_BENCH_ONE_THREAD_HPP
#define REDLOCK_BENCH_ONE_THREAD_HPP

#include <boost/asio/config.hpp>
#include <boost/asio/io_context.hpp>

namespace bench {

/// A context that one thread runs, configured for speed as docs/threading.md tells.
class one_thread : public boost::asio::io_context
{
public:
    /// Leaves those that are made from now on at `io_context{1}`.
    static void use_hint_only() { configuration_ = "scheduler.concurrency_hint=1"; }

    one_thread() : io_context(boost::asio::config_from_string(configuration_)) {}

private:
    inline static const char* configuration_ =
        "scheduler.concurrency_hint=1\n"
        "reactor.reset_edge_on_partial_read=1";
};

}  // namespace bench

#endif
