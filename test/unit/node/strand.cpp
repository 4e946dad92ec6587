#include "node/strand.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>

namespace redlock::test {
namespace {

namespace asio = boost::asio;
using detail::make_strand;

BOOST_AUTO_TEST_SUITE(test_strand)

BOOST_AUTO_TEST_CASE(a_context_that_one_thread_runs_needs_no_strand)
{
    asio::io_context context{1};
    const asio::any_io_executor given = context.get_executor();
    BOOST_TEST((make_strand(given) == given));
}

BOOST_AUTO_TEST_CASE(a_context_without_a_promise_gets_a_strand)
{
    asio::io_context context;
    const asio::any_io_executor given = context.get_executor();
    BOOST_TEST((make_strand(given).target<asio::strand<asio::io_context::executor_type>>()));
}

BOOST_AUTO_TEST_CASE(a_context_for_two_threads_gets_a_strand)
{
    asio::io_context context{2};
    const asio::any_io_executor given = context.get_executor();
    BOOST_TEST((make_strand(given).target<asio::strand<asio::io_context::executor_type>>()));
}

BOOST_AUTO_TEST_CASE(a_pool_of_one_thread_gets_a_strand_because_others_may_join)
{
    asio::thread_pool pool(1);
    const asio::any_io_executor given = pool.get_executor();
    BOOST_TEST((make_strand(given).target<asio::strand<asio::thread_pool::executor_type>>()));
}

BOOST_AUTO_TEST_CASE(a_strand_is_used_as_it_is)
{
    asio::io_context context;
    const asio::any_io_executor over_context = asio::make_strand(context);
    BOOST_TEST((make_strand(over_context) == over_context));
    const asio::any_io_executor erased =
        asio::make_strand(asio::any_io_executor(context.get_executor()));
    BOOST_TEST((make_strand(erased) == erased));
}

BOOST_AUTO_TEST_CASE(functions_given_to_a_pool_run_one_at_a_time)
{
    asio::thread_pool pool(2);
    const auto strand = make_strand(pool.get_executor());
    std::atomic<int> inside = 0;
    std::atomic<bool> overlapped = false;
    for (int i = 0; i < 1000; ++i)
    {
        asio::post(strand, [&] {
            if (++inside != 1)
                overlapped = true;
            --inside;
        });
    }
    pool.join();
    BOOST_TEST(!overlapped);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace redlock::test
