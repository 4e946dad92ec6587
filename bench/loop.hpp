#ifndef REDLOCK_BENCH_LOOP_HPP
#define REDLOCK_BENCH_LOOP_HPP

#include <boost/asio/config.hpp>
#include <boost/asio/io_context.hpp>

#include <string>

namespace bench {

/// The context under the library, run by one thread. See docs/threading.md, Make one thread fast.
class loop : public boost::asio::io_context
{
public:
    enum class kind : unsigned char
    {
        fast,        ///< Configured for speed, as told there.
        one_thread,  ///< `io_context{1}`.
        plain,       ///< `io_context`, which several threads could run.
    };

    /// What those are that are made from now on.
    static void use(kind chosen) { kind_ = chosen; }

    loop() : io_context(boost::asio::config_from_string(configuration())) {}

private:
    static std::string configuration()
    {
        switch (kind_)
        {
        case kind::fast:
            return "scheduler.concurrency_hint=1\nreactor.reset_edge_on_partial_read=1";
        case kind::one_thread: return "scheduler.concurrency_hint=1";
        case kind::plain: break;
        }
        return "";
    }

    inline static kind kind_ = kind::fast;
};

}  // namespace bench

#endif
