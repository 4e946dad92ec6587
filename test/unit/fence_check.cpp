#include <redlock/fence_check.hpp>

#include "fencing/local_stock.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdint>
#include <latch>
#include <limits>
#include <thread>
#include <vector>

BOOST_AUTO_TEST_SUITE(test_fence_check)

using namespace redlock;

namespace {

constexpr fencing_token none;
constexpr fencing_token first = fencing_token::from_value(1'790'000'000'000'000);
constexpr fencing_token second = fencing_token::from_value(1'790'000'000'000'001);

/// Accepts ascending tokens from one counter, and counts the answers that cannot be right.
int count_wrong_answers(fence_check& fence, std::atomic<std::uint64_t>& counter, int calls)
{
    int wrong = 0;
    for (int call = 0; call < calls; ++call)
    {
        const auto token = fencing_token::from_value(++counter);
        const bool accepted = fence.accept(token);
        const fencing_token after = fence.highest();
        if (accepted ? after < token : after <= token)
            ++wrong;
    }
    return wrong;
}

/// What the resource would look like if it asked for tokens when it is written only.
struct checks_writes_only
{
    std::int64_t read() const { return amount; }

    void write(fencing_token token, std::int64_t value)
    {
        if (!fence.accept(token))
            throw recipes::stale_token(fence.highest());
        amount = value;
    }

    fence_check fence;
    std::int64_t amount = 0;
};

BOOST_AUTO_TEST_CASE(any_token_is_accepted_first)
{
    fence_check fence;

    BOOST_TEST(fence.highest() == none);
    BOOST_TEST(fence.accept(first));
    BOOST_TEST(fence.highest() == first);
}

BOOST_AUTO_TEST_CASE(a_lower_token_is_refused_and_leaves_no_trace)
{
    fence_check fence;
    BOOST_TEST(fence.accept(second));

    BOOST_TEST(!fence.accept(first));
    BOOST_TEST(fence.highest() == second);
}

BOOST_AUTO_TEST_CASE(the_same_token_is_accepted_again)
{
    fence_check fence;

    for (int access = 0; access < 3; ++access)
        BOOST_TEST(fence.accept(first));
}

BOOST_AUTO_TEST_CASE(an_empty_token_is_always_refused)
{
    fence_check fresh;
    fence_check used(first);

    BOOST_TEST(!fresh.accept(none));
    BOOST_TEST(!used.accept(none));
    BOOST_TEST(used.highest() == first);
}

BOOST_AUTO_TEST_CASE(it_goes_on_from_a_token_that_was_kept)
{
    fence_check fence(second);

    BOOST_TEST(fence.highest() == second);
    BOOST_TEST(!fence.accept(first));
    BOOST_TEST(fence.accept(second));
}

BOOST_AUTO_TEST_CASE(every_value_but_zero_is_a_token)
{
    constexpr auto highest = std::numeric_limits<std::uint64_t>::max();
    fence_check fence;

    BOOST_TEST(fence.accept(fencing_token::from_value(1)));
    BOOST_TEST(fence.accept(fencing_token::from_value(highest)));
    BOOST_TEST(!fence.accept(fencing_token::from_value(highest - 1)));
}

BOOST_AUTO_TEST_CASE(the_highest_token_never_falls_however_many_threads_ask)
{
    constexpr int threads = 4;
    constexpr int calls = 5'000'000;
    fence_check fence;
    std::atomic<std::uint64_t> counter = 0;
    std::latch start(threads);
    std::atomic<int> wrong = 0;

    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread)
    {
        all.emplace_back([&] {
            start.arrive_and_wait();
            wrong += count_wrong_answers(fence, counter, calls);
        });
    }
    for (std::thread& each : all)
        each.join();

    BOOST_TEST(wrong == 0);
    BOOST_TEST(fence.highest().value() == std::uint64_t{threads} * calls);
}

BOOST_AUTO_TEST_CASE(a_stale_holders_write_is_refused_after_its_successors_first_read)
{
    recipes::local_stock stock;
    stock.write(first, 10);

    BOOST_TEST(stock.read(second) == 10);

    BOOST_CHECK_THROW(stock.write(first, 11), recipes::stale_token);
    BOOST_CHECK_THROW(stock.read(first), recipes::stale_token);
    BOOST_CHECK_THROW(stock.write(none, 11), recipes::stale_token);
    BOOST_TEST(stock.read(second) == 10);
}

// Why reads are checked too. The first holder reads and stalls, the second one takes over.
BOOST_AUTO_TEST_CASE(an_update_is_lost_where_only_writes_are_checked)
{
    checks_writes_only stock;
    const std::int64_t seen_by_first = stock.read();
    const std::int64_t seen_by_second = stock.read();

    stock.write(first, seen_by_first + 1);  // Late, and accepted: nothing has told the resource.
    stock.write(second, seen_by_second + 1);

    BOOST_TEST(stock.read() == 1);  // Two were told that they had added one.
}

BOOST_AUTO_TEST_CASE(no_update_is_lost_where_the_first_access_is_checked)
{
    recipes::local_stock stock;
    const std::int64_t seen_by_first = stock.read(first);
    const std::int64_t seen_by_second = stock.read(second);

    BOOST_CHECK_THROW(stock.write(first, seen_by_first + 1), recipes::stale_token);
    stock.write(second, seen_by_second + 1);

    BOOST_TEST(stock.read(second) == 1);  // One was told so.
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
