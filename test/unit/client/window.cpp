#include "client/window.hpp"

#include "loop/strand.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/printing.hpp"

namespace window_tests {

using namespace redlock;
using namespace redlock::detail;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t first_size = 64;

struct turn_of_test
{
    void run()
    {
        context.restart();
        context.run();
    }

    boost::asio::io_context context;
    strand_type strand{context.get_executor()};
    std::shared_ptr<turn> end_of_turn = std::make_shared<turn>(context.get_executor(), strand);
};

struct acquisitions : turn_of_test
{
    using order = detail::window::order;

    acquisitions() { window.set_closed(false); }

    room_wait& wait(std::chrono::milliseconds arrived, order in = order::by_rank)
    {
        room_wait& made = all.emplace_back(*end_of_turn);
        window.wait(made, arrived, in);
        return made;
    }

    /// Rounds that take all the room there is.
    std::vector<room> fill()
    {
        std::vector<room> taken;
        while (window.has_room())
            taken.emplace_back(window);
        return taken;
    }

    /// These leave one after the other. @return By their arrival, who gets in.
    std::vector<std::size_t> served(std::vector<room>& taken)
    {
        std::vector<std::size_t> result;
        std::vector<room> kept;
        for (room& each : taken)
        {
            {
                const room left = std::move(each);
            }
            run();
            for (std::size_t i = 0; i < all.size(); ++i)
            {
                if (room got = all[i].take())
                {
                    result.push_back(i);
                    kept.push_back(std::move(got));
                }
            }
        }
        taken = std::move(kept);
        return result;
    }

    detail::window window{*end_of_turn, 100ms};
    std::deque<room_wait> all;
};

using numbers = std::vector<std::size_t>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(test_acquisition_window, acquisitions)

BOOST_AUTO_TEST_CASE(there_is_room_until_the_window_is_full)
{
    const auto taken = fill();
    BOOST_TEST(taken.size() == first_size);
    BOOST_TEST(window.under_way() == first_size);
    BOOST_TEST(window.capacity() == first_size);
}

BOOST_AUTO_TEST_CASE(who_finds_no_room_gets_in_when_the_next_one_leaves)
{
    auto taken = fill();
    room_wait& waits = wait(1ms);
    run();
    BOOST_TEST(window.waiting() == 1u);
    BOOST_TEST(!waits.take());

    taken.pop_back();
    run();

    BOOST_TEST(window.waiting() == 0u);
    BOOST_TEST(static_cast<bool>(waits.take()));
}

BOOST_AUTO_TEST_CASE(nobody_overtakes_who_waits)
{
    auto taken = fill();
    wait(1ms);
    taken.clear();
    BOOST_TEST(!window.has_room());
    run();
    BOOST_TEST(window.has_room());
}

BOOST_AUTO_TEST_CASE(room_is_left_once_though_it_was_handed_on)
{
    {
        room first(window);
        const room second(std::move(first));
        BOOST_TEST(window.under_way() == 1u);
    }
    BOOST_TEST(window.under_way() == 0u);
}

BOOST_AUTO_TEST_CASE(rounds_are_admitted_in_the_order_of_arrival)
{
    auto taken = fill();
    for (const auto arrived : {3ms, 1ms, 4ms, 2ms})
        wait(arrived);
    BOOST_TEST(served(taken) == numbers({1, 3, 0, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(who_was_woken_goes_first_but_for_every_second_time)
{
    auto taken = fill();
    for (const auto arrived : {1ms, 2ms, 3ms})
        wait(arrived);
    for (const auto arrived : {11ms, 12ms, 13ms, 14ms})
        wait(arrived, order::first);
    const numbers expected{3, 0, 4, 1, 5, 2, 6};
    BOOST_TEST(served(taken) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(who_gives_up_takes_no_room)
{
    auto taken = fill();
    room_wait& leaves = wait(1ms);
    room_wait& stays = wait(2ms);
    leaves.give_up();
    leaves.give_up();
    BOOST_TEST(window.waiting() == 1u);
    taken.pop_back();
    run();
    BOOST_TEST(!leaves.take());
    BOOST_TEST(static_cast<bool>(stays.take()));
}

BOOST_AUTO_TEST_CASE(room_that_nobody_takes_over_is_left)
{
    auto taken = fill();
    wait(1ms);
    taken.clear();
    run();
    BOOST_TEST(window.under_way() == 1u);
    all.clear();
    BOOST_TEST(window.under_way() == 0u);
}

BOOST_AUTO_TEST_CASE(a_closed_window_has_no_room_and_an_opened_one_lets_in_who_waits)
{
    window.set_closed(true);
    BOOST_TEST(!window.has_room());
    BOOST_TEST(window.capacity() == 0u);
    room_wait& waits = wait(1ms);
    run();
    BOOST_TEST(!waits.take());

    window.set_closed(false);
    run();

    BOOST_TEST(static_cast<bool>(waits.take()));
}

BOOST_AUTO_TEST_CASE(lost_rounds_leave_less_room_and_quick_ones_more)
{
    auto taken = fill();
    window.on_round(time_point(1s), time_point(1s + 1ms), true);
    BOOST_TEST(window.capacity() == first_size + 1);
    BOOST_TEST(window.has_room());
    window.on_round(time_point(2s), time_point(2s + 1ms), false);
    BOOST_TEST(window.capacity() == first_size);
    BOOST_TEST(!window.has_room());
}

BOOST_AUTO_TEST_CASE(a_window_that_opens_wide_lets_some_in_at_a_time)
{
    std::vector<room> taken;
    while (window.capacity() < 1000)
    {
        while (window.has_room())
            taken.emplace_back(window);
        window.on_round(time_point(1s), time_point(1s + 1ms), true);
    }
    taken.clear();
    for (std::size_t i = 0; i < 1000; ++i)
        wait(1ms);

    std::size_t handlers = 0;
    context.restart();
    while (context.run_one() > 0)
        ++handlers;

    BOOST_TEST(window.waiting() == 0u);
    BOOST_TEST(handlers >= 1000 / turn::max_tasks);
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct extensions : turn_of_test
{
    struct hold_of_test final : entrant
    {
        void on_admitted(room taken) override { got.emplace(std::move(taken)); }

        std::optional<room> got;
    };

    extensions() { window.set_closed(false); }

    detail::window window{*end_of_turn, 100ms};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(test_extension_window, extensions)

BOOST_AUTO_TEST_CASE(who_is_closest_to_its_deadline_goes_first)
{
    std::vector<room> taken;
    while (window.has_room())
        taken.emplace_back(window);
    hold_of_test late;
    hold_of_test soon;
    window.wait(late, 2s);
    window.wait(soon, 1s);

    taken.pop_back();
    run();
    BOOST_TEST(soon.got.has_value());
    BOOST_TEST(!late.got.has_value());

    taken.pop_back();
    run();
    BOOST_TEST(late.got.has_value());
}

BOOST_AUTO_TEST_CASE(what_is_over_waits_no_longer)
{
    std::vector<room> taken;
    while (window.has_room())
        taken.emplace_back(window);
    {
        hold_of_test over;
        window.wait(over, 1s);
        BOOST_TEST(window.waiting() == 1u);
    }
    BOOST_TEST(window.waiting() == 0u);
    taken.clear();
    run();
    BOOST_TEST(window.has_room());
}

BOOST_AUTO_TEST_CASE(rounds_that_fail_at_once_do_not_let_in_all_others_in_the_same_handler)
{
    struct fails_at_once final : entrant
    {
        void on_admitted(room /* is left */) override { ++admitted; }

        explicit fails_at_once(std::size_t& count) noexcept : admitted(count) {}

        std::size_t& admitted;
    };

    std::size_t admitted = 0;
    std::deque<fails_at_once> all;
    for (std::size_t i = 0; i < 8 * turn::max_tasks; ++i)
        window.wait(all.emplace_back(admitted), 1s);

    std::size_t most_at_once = 0;
    for (std::size_t before = 0; context.run_one() > 0; before = admitted)
        most_at_once = std::max(most_at_once, admitted - before);

    BOOST_TEST(admitted == all.size());
    BOOST_TEST(most_at_once <= turn::max_tasks);
}

BOOST_AUTO_TEST_CASE(who_gave_up_may_wait_again)
{
    hold_of_test held;
    window.wait(held, 1s);
    held.give_up();
    window.wait(held, 1s);
    BOOST_TEST(window.waiting() == 1u);
    run();
    BOOST_TEST(held.got.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace window_tests
