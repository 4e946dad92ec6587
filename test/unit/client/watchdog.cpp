#include <boost/test/unit_test.hpp>

#include <chrono>
#include <thread>

#include "support/eventually.hpp"
#include "support/late_term.hpp"
#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_watchdog)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(an_overrun_is_told_once_on_a_thread_that_no_body_can_block)
{
    const auto before = std::chrono::steady_clock::now();
    late_term term(50ms);

    BOOST_TEST(eventually([] { return ended > 0; }));
    BOOST_TEST((std::chrono::steady_clock::now() >= before + 50ms));
    BOOST_TEST((told_on.load() != std::this_thread::get_id()));
    std::this_thread::sleep_for(100ms);
    BOOST_TEST(begun == 1);
}

BOOST_AUTO_TEST_CASE(a_term_is_watched_after_a_time_without_any)
{
    {
        const late_term first(1ms);
        BOOST_TEST_REQUIRE(eventually([] { return ended > 0; }));
    }
    // The watchdog looks once more within half a second, and then sleeps until it is woken.
    std::this_thread::sleep_for(700ms);
    const late_term second(1ms);
    BOOST_TEST(eventually([] { return ended > 0; }));
}

BOOST_AUTO_TEST_CASE(a_term_that_ends_in_time_is_told_of_no_more)
{
    {
        const late_term term(50ms);
    }
    std::this_thread::sleep_for(100ms);
    BOOST_TEST(begun == 0);
}

BOOST_AUTO_TEST_CASE(a_term_that_ends_while_its_overrun_is_told_waits_for_that)
{
    late_term term(1ms);
    blocks = true;
    BOOST_TEST_REQUIRE(eventually([] { return begun > 0; }));
    std::thread later([] {
        std::this_thread::sleep_for(50ms);
        blocks = false;
    });

    term.entry.reset();

    BOOST_TEST(ended == 1);
    later.join();
}

BOOST_AUTO_TEST_SUITE_END()
