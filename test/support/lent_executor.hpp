#ifndef REDLOCK_TEST_SUPPORT_LENT_EXECUTOR_HPP
#define REDLOCK_TEST_SUPPORT_LENT_EXECUTOR_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>

namespace redlock::test {

/// A completion token that starts nothing: the result is the executor that the operation has for
/// tokens that need one, as `cancel_after` does for its timer.
struct lent_executor
{
};

}  // namespace redlock::test

template <class Signature>
struct boost::asio::async_result<redlock::test::lent_executor, Signature>
{
    template <class Initiation, class... Args>
    static any_io_executor initiate(
        const Initiation& initiation,
        redlock::test::lent_executor,
        const Args&...
    )
    {
        return get_associated_executor(initiation);
    }
};

#endif
