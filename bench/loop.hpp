#ifndef REDLOCK_BENCH_LOOP_HPP
#define REDLOCK_BENCH_LOOP_HPP

#include <boost/asio/io_context.hpp>

namespace bench {

/// The context under the library, run by one thread.
class loop : public boost::asio::io_context
{
public:
    enum class kind : unsigned char
    {
        one_thread,  ///< `io_context{1}`.
        plain,       ///< `io_context`, which several threads could run.
    };

    /// What those are that are made from now on.
    static void use(kind chosen) { kind_ = chosen; }

    loop() : io_context(kind_ == kind::one_thread ? 1 : BOOST_ASIO_CONCURRENCY_HINT_DEFAULT) {}

private:
    inline static kind kind_ = kind::plain;
};

}  // namespace bench

#endif
