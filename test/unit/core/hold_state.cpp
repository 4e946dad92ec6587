#include "core/hold_state.hpp"

#include "unit/core/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <vector>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_hold_state)

using namespace std::chrono_literals;
using redlock::core::hold_end;
using redlock::core::hold_phase;
using redlock::core::hold_state;
using redlock::core::instant;
using redlock::core::key_fate;
using redlock::core::lease_end;
using redlock::core::lease_part;
using redlock::core::leaving;
using redlock::core::shifted;

namespace {

constexpr instant start{redlock::time_point(1h), 5h};
constexpr instant deadline = shifted(start, 9000ms);
constexpr instant before = shifted(deadline, -1ns);
constexpr instant later = shifted(deadline, redlock::milliseconds(1h));

/// A hold with one lease.
struct held
{
    explicit held(redlock::milliseconds grace = 0ms) : state(deadline, grace)
    {
        BOOST_TEST_REQUIRE(state.join(start));
    }

    hold_state state;
    lease_part lease;
};

/// A way to one of the states.
struct way
{
    const char* to;
    std::function<void(held&)> go;
    hold_end end;
    bool over;           ///< Before the deadline.
    bool lost;           ///< The same.
    bool lost_if_ended;  ///< By its owner, before the deadline and with nobody that attends.
};

const std::vector<way> ways{
    {"held", [](held&) {}, hold_end::none, false, false, false},
    {"expired",
     [](held& of) { BOOST_TEST(of.state.over_at(deadline)); },
     hold_end::none,
     true,
     false,
     true},
    {"lost",
     [](held& of) { BOOST_TEST(of.state.finish(hold_end::lost)); },
     hold_end::lost,
     true,
     true,
     true},
    {"lost at the limit",
     [](held& of) { BOOST_TEST(of.state.finish(hold_end::at_limit)); },
     hold_end::at_limit,
     true,
     true,
     true},
    {"given back",
     [](held& of) { BOOST_TEST(of.state.give_back_unattended()); },
     hold_end::given_back,
     true,
     false,
     false},
};

/// Does `check` with a hold in each state.
void in_each_state(const std::function<void(held&, const way&)>& check)
{
    for (const way& each : ways)
        BOOST_TEST_CONTEXT(each.to)
        {
            held of;
            each.go(of);
            check(of, each);
        }
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_state_says_whether_the_hold_is_over_and_whether_it_was_lost)
{
    in_each_state([](held& of, const way& how) {
        BOOST_TEST(of.state.end() == how.end);
        BOOST_TEST(of.state.over_at(before) == how.over);
        BOOST_TEST(of.state.lost_at(before) == how.lost);
        BOOST_TEST(of.state.lost_at(before, of.lease) == how.lost);
    });
}

BOOST_AUTO_TEST_CASE(at_its_deadline_every_hold_is_over_and_lost)
{
    for (const instant end :
         {deadline,
          instant{deadline.steady, before.boot},
          instant{before.steady, deadline.boot},
          later})
        in_each_state([end](held& of, const way&) {
            BOOST_TEST(of.state.lost_at(end));
            BOOST_TEST(of.state.over_at(end));
        });
}

BOOST_AUTO_TEST_CASE(only_what_is_held_can_be_prolonged_or_joined)
{
    in_each_state([](held& of, const way& how) {
        BOOST_TEST(of.state.join(before) == !how.over);
        BOOST_TEST(of.state.extend(before, later) == !how.over);
        BOOST_TEST((of.state.valid_until() == later) == !how.over);
    });
}

BOOST_AUTO_TEST_CASE(an_extension_that_was_seen_at_the_deadline_is_too_late)
{
    held of;

    BOOST_TEST(!of.state.extend(deadline, later));
    BOOST_TEST(of.state.over_at(before));
}

BOOST_AUTO_TEST_CASE(an_extension_moves_neither_clock_back)
{
    held of;

    BOOST_TEST(of.state.extend(start, {later.steady, before.boot}));
    BOOST_TEST(of.state.valid_until() == (instant{later.steady, deadline.boot}));
    BOOST_TEST(of.state.extend(start, {before.steady, later.boot}));
    BOOST_TEST(of.state.valid_until() == later);
}

BOOST_AUTO_TEST_CASE(a_hold_ends_once_and_keeps_its_first_reason)
{
    in_each_state([](held& of, const way& how) {
        const bool first = how.end == hold_end::none;
        BOOST_TEST(of.state.finish(hold_end::at_limit) == first);
        BOOST_TEST(of.state.end() == (first ? hold_end::at_limit : how.end));
        BOOST_TEST(!of.state.finish(hold_end::lost));
        BOOST_TEST(!of.state.give_back_unattended());
        BOOST_TEST((of.state.leave(of.lease, {}) == lease_end::hold));
        BOOST_TEST(of.state.end() == (first ? hold_end::at_limit : how.end));
    });
}

BOOST_AUTO_TEST_CASE(the_last_lease_that_ends_gives_the_hold_back)
{
    held of;
    lease_part second;
    BOOST_TEST(of.state.join(start));
    BOOST_TEST(of.state.leases() == 2u);

    BOOST_TEST((of.state.leave(of.lease, {}) == lease_end::lease));
    BOOST_TEST((of.state.leave(of.lease, {}) == lease_end::nothing));
    BOOST_TEST(!of.state.over_at(before));
    BOOST_TEST((of.state.leave(second, {}) == lease_end::hold));

    BOOST_TEST(of.state.over_at(before));
    BOOST_TEST(of.state.end() == hold_end::given_back);
}

BOOST_AUTO_TEST_CASE(a_lease_that_was_ended_in_time_stays_not_lost)
{
    in_each_state([](held& of, const way& how) {
        static_cast<void>(of.state.leave(of.lease, {}));
        BOOST_TEST(of.state.lost_at(later, of.lease) == how.lost_if_ended);
    });
}

BOOST_AUTO_TEST_CASE(what_attends_to_a_lease_learns_of_a_loss_that_was_not_seen)
{
    for (const instant now : {before, deadline})
    {
        held of;
        of.state.begin_attention(of.lease);

        BOOST_TEST((of.state.leave(of.lease, now) == lease_end::hold));

        BOOST_TEST(of.state.lost_at(before, of.lease) == (now == deadline));
    }
}

BOOST_AUTO_TEST_CASE(what_is_attended_to_is_not_given_back_by_its_client)
{
    held of;
    lease_part second;
    BOOST_TEST(of.state.join(start));
    of.state.begin_attention(of.lease);
    of.state.begin_attention(of.lease);
    of.state.begin_attention(second);

    of.state.end_attention(of.lease);
    static_cast<void>(of.state.leave(of.lease, start));
    of.state.end_attention(of.lease);  // It has left already, and takes nothing from the other.
    BOOST_TEST(!of.state.give_back_unattended());

    of.state.end_attention(second);
    BOOST_TEST(of.state.give_back_unattended());
}

BOOST_AUTO_TEST_CASE(a_lease_that_has_ended_gets_no_attention)
{
    held of;
    BOOST_TEST(of.state.join(start));
    static_cast<void>(of.state.leave(of.lease, {}));

    of.state.begin_attention(of.lease);

    BOOST_TEST(of.state.give_back_unattended());
}

BOOST_AUTO_TEST_CASE(a_revoked_hold_is_joined_no_more_but_can_be_given_back)
{
    held of;
    BOOST_TEST((of.state.phase_at(before) == hold_phase::held));
    BOOST_TEST(of.state.revoke(before));
    BOOST_TEST(!of.state.revoke(before));

    BOOST_TEST((of.state.phase_at(before) == hold_phase::revoked));
    BOOST_TEST(!of.state.join(before));
    BOOST_TEST(!of.state.lost_at(before));
    BOOST_TEST((of.state.leave(of.lease, {}) == lease_end::hold));
    BOOST_TEST((of.state.phase_at(before) == hold_phase::over));
}

BOOST_AUTO_TEST_CASE(the_keys_of_what_was_given_back_in_time_are_deleted_or_kept)
{
    for (const auto how : {leaving::release, leaving::drop})
        for (const auto at_least : {0ms, 1ms})
        {
            held of(1h);
            of.state.keep_for(at_least);
            BOOST_TEST((of.state.leave(of.lease, before, how) == lease_end::hold));
            BOOST_TEST(
                (of.state.keys_after() == (at_least > 0ms ? key_fate::kept : key_fate::deleted))
            );
        }
}

BOOST_AUTO_TEST_CASE(
    a_grace_leaves_the_keys_of_what_was_lost_until_its_owner_says_that_it_has_stopped
)
{
    for (const auto grace : {0ms, 1ms})
    {
        const key_fate lost = grace > 0ms ? key_fate::left : key_fate::deleted;
        held of(grace);
        of.state.keep_for(1h);
        BOOST_TEST(of.state.finish(hold_end::lost));
        BOOST_TEST((of.state.keys_after() == lost));
        held dropped = of;

        static_cast<void>(of.state.leave(of.lease, {}, leaving::release));
        BOOST_TEST((of.state.keys_after() == key_fate::deleted));
        static_cast<void>(dropped.state.leave(dropped.lease, {}, leaving::drop));
        BOOST_TEST((dropped.state.keys_after() == lost));
    }
}

BOOST_AUTO_TEST_CASE(the_end_of_one_lost_lease_does_not_end_the_grace_of_another)
{
    held of(1ms);
    lease_part second;
    BOOST_TEST(of.state.join(start));

    static_cast<void>(of.state.leave(of.lease, deadline, leaving::drop));
    static_cast<void>(of.state.leave(second, deadline, leaving::release));
    BOOST_TEST((of.state.keys_after() == key_fate::left));
}

BOOST_AUTO_TEST_SUITE_END()
