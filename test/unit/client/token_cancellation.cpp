#include <boost/asio/error.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/version.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "support/fixture.hpp"

#if BOOST_VERSION >= 108600
#include <boost/asio/cancel_after.hpp>
#endif

BOOST_AUTO_TEST_SUITE(test_token_cancellation)

/// Tokens and groups that cancel operations: see tokens.cpp.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using asio::error::operation_aborted;
using detail::verb;

namespace {

struct bench : running_client
{
    /// Takes note of how operations end.
    struct taker
    {
        bench& to;

        void operator()(error_code ec)
        {
            BOOST_TEST(!to.on_strand());
            to.codes.push_back(ec);
        }

        void operator()(error_code ec, lease) { (*this)(ec); }

        void operator()(std::array<std::size_t, 2>, error_code first, error_code second, lease)
        {
            (*this)(first);
            (*this)(second);
        }
    };

    lease held = acquire("held");
    std::vector<error_code> codes;

    /// An extension and an acquisition.
    template <class Condition>
    void start_group(Condition until)
    {
        asio::experimental::make_parallel_group(
            held.async_extend(20s), locks().async_acquire("orders:42", 10s)
        )
            .async_wait(until, taker{*this});
    }

    /// Runs the context in real time until something is done. Virtual time goes on, too slowly for
    /// any timeout of a node.
    template <class Done>
    void run_in_real_time(Done done)
    {
        for (int turn = 0; turn < 5000 && !done(); ++turn)
        {
            context().restart();
            context().run_one_for(1ms);
            time().advance(1us);
        }
        BOOST_TEST_REQUIRE(done());
    }
};

}  // namespace

#if BOOST_VERSION >= 108600  // Before, Asio had no cancel_after.
BOOST_FIXTURE_TEST_CASE(cancel_after_ends_it, bench)
{
    silence(verb::acquire);
    silence(verb::extend);

    held.async_extend(20s, asio::cancel_after(1ms, taker{*this}));
    locks().async_acquire("orders:42", 10s, asio::cancel_after(1ms, taker{*this}));
    run_in_real_time([&] { return codes.size() == 2; });

    for (const error_code& ec : codes)
        BOOST_TEST(ec == operation_aborted);
}

BOOST_FIXTURE_TEST_CASE(cancel_after_leaves_alone_what_is_faster, bench)
{
    held.async_extend(20s, asio::cancel_after(1h, taker{*this}));
    locks().async_acquire("orders:42", 10s, asio::cancel_after(1h, taker{*this}));
    advance(100ms);

    BOOST_TEST_REQUIRE(codes.size() == 2u);
    for (const error_code& ec : codes)
        BOOST_TEST(ec == error_code());
}
#endif

BOOST_FIXTURE_TEST_CASE(a_parallel_group_waits_for_all, bench)
{
    start_group(asio::experimental::wait_for_all());
    advance(100ms);

    BOOST_TEST_REQUIRE(codes.size() == 2u);
    for (const error_code& ec : codes)
        BOOST_TEST(ec == error_code());
}

BOOST_FIXTURE_TEST_CASE(a_parallel_group_cancels_the_loser, bench)
{
    for (const verb loser : {verb::acquire, verb::extend})
    {
        be_honest();
        silence(loser);
        codes.clear();

        start_group(asio::experimental::wait_for_one());
        run_until_idle();

        BOOST_TEST_REQUIRE(codes.size() == 2u);
        BOOST_TEST((codes[0] == operation_aborted) == (loser == verb::extend));
        BOOST_TEST((codes[1] == operation_aborted) == (loser == verb::acquire));
        BOOST_TEST((codes[0] == codes[1]) == false);
    }
}

BOOST_AUTO_TEST_SUITE_END()
