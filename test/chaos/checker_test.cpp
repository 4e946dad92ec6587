// The checker, with violations planted: before a clean history is believed, a foul one must have
// been named.

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "chaos/checker.hpp"
#include "support/contains.hpp"

namespace checker_tests {

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

moment at(int time)
{
    return moment(std::chrono::milliseconds(1'000 + time));
}

/// A history of resource 7 that a test tells step by step. Times are milliseconds.
class story
{
public:
    /// @return The number of the attempt.
    std::uint64_t acquire(int invoked, int returned, int deadline, std::uint64_t token = 0)
    {
        operation& one = add(action::acquire, ++attempts_, invoked, returned);
        one.id = one.attempt;
        one.token = fencing_token::from_value(token);
        one.ttl = 1'000ms;
        one.deadline = at(deadline);
        return one.attempt;
    }

    operation& add(
        action what,
        std::uint64_t attempt,
        int invoked,
        int returned,
        outcome result = outcome::ok
    )
    {
        operation one;
        one.what = what;
        one.result = result;
        one.resource = 7;
        one.id = 1'000 + all_.operations.size();
        one.attempt = attempt;
        one.invoked = at(invoked);
        one.returned = at(returned);
        for (const operation& other : all_.operations)
        {
            if (other.id == attempt)
                one.token = other.token;
        }
        return all_.operations.emplace_back(one);
    }

    operation& read(std::uint64_t attempt, int invoked, std::uint64_t version)
    {
        operation& one = add(action::read, attempt, invoked, invoked + 1);
        one.version = version;
        return one;
    }

    /// A write that the store accepts.
    void write(std::uint64_t attempt, int invoked, std::uint64_t base, std::uint64_t version)
    {
        operation& one = add(action::write, attempt, invoked, invoked + 1);
        one.version = base;
        one.written = version;
        all_.store.push_back({7, one.id, one.token, base, version});
    }

    [[nodiscard]] std::vector<breach> breaches(tokens expected = tokens::increasing) const
    {
        std::vector<breach> all;
        for (const violation& one : check(all_, expected))
            all.push_back(one.what);
        return all;
    }

    /// Gives the last acquisition a grace.
    void give_grace(milliseconds grace) { all_.operations.back().grace = grace; }

    [[nodiscard]] const history& all() const { return all_; }

private:
    history all_;
    std::uint64_t attempts_ = 0;
};

void expect(const story& told, std::initializer_list<breach> what)
{
    const std::vector<breach> found = told.breaches();
    BOOST_TEST(
        std::ranges::is_permutation(found, what),
        describe(check(told.all(), tokens::increasing), told.all())
    );
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_checker)

BOOST_AUTO_TEST_CASE(leases_one_after_the_other_are_clean)
{
    story told;
    const auto first = told.acquire(0, 1, 100, 5);
    told.read(first, 2, 0);
    told.write(first, 4, 0, 1);
    told.add(action::release, first, 10, 11);
    const auto second = told.acquire(2, 10, 100, 6);
    told.read(second, 11, 1);
    told.write(second, 13, 1, 2);
    told.acquire(21, 101, 200, 9);

    expect(told, {});
}

BOOST_AUTO_TEST_CASE(two_at_the_same_time_are_named)
{
    story told;
    told.acquire(0, 1, 10, 5);
    told.acquire(2, 9, 20, 6);

    const auto found = check(told.all(), tokens::none);

    BOOST_TEST_REQUIRE(found.size() == 1u);
    const auto& operations = told.all().operations;
    BOOST_TEST((found[0] == violation{breach::overlap, operations[0], operations[1]}));
}

BOOST_AUTO_TEST_CASE(a_claim_within_another_overlaps_it)
{
    story told;
    told.acquire(0, 1, 30);
    told.acquire(2, 3, 4);
    told.acquire(5, 6, 7);
    told.acquire(0, 31, 32);

    BOOST_TEST(told.breaches(tokens::none).size() == 2u);
}

BOOST_AUTO_TEST_CASE(claims_granted_in_the_same_instant_overlap)
{
    story told;
    told.acquire(0, 1, 2);
    told.acquire(0, 1, 2);

    BOOST_TEST(told.breaches(tokens::none).size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_extended_lease_overlaps_what_comes_after_its_first_deadline)
{
    story told;
    const auto first = told.acquire(0, 1, 100, 5);
    operation& longer = told.add(action::extend, first, 50, 51);
    longer.ttl = 1'000ms;
    longer.deadline = at(200);
    told.acquire(2, 150, 200, 6);

    expect(told, {breach::overlap});
}

BOOST_AUTO_TEST_CASE(a_lease_that_was_told_to_be_lost_claims_nothing_more)
{
    story told;
    const auto first = told.acquire(0, 1, 100, 5);
    told.add(action::lose, first, 1, 50);
    told.acquire(2, 50, 200, 6);

    expect(told, {});
}

BOOST_AUTO_TEST_CASE(a_lost_lease_claims_its_grace_unless_it_is_released)
{
    story told;
    const auto first = told.acquire(0, 5, 500, 1);
    told.give_grace(200ms);
    told.add(action::lose, first, 500, 501);
    told.acquire(600, 650, 1'500, 2);
    expect(told, {breach::overlap});

    story released;
    const auto one = released.acquire(0, 5, 500, 1);
    released.give_grace(200ms);
    released.add(action::release, one, 600, 610);
    released.acquire(600, 650, 1'500, 2);
    expect(released, {});
}

BOOST_AUTO_TEST_CASE(other_resources_do_not_matter)
{
    story told;
    told.acquire(0, 1, 10, 5);
    operation other = told.all().operations.front();
    other.resource = 8;
    other.id = other.attempt = 77;
    history both = told.all();
    both.operations.push_back(other);

    BOOST_TEST(check(both, tokens::increasing).empty());
}

BOOST_AUTO_TEST_CASE(a_claim_granted_after_its_own_deadline_claims_nothing)
{
    story told;
    told.acquire(0, 1, 10);
    told.acquire(0, 5, 4);
    told.acquire(0, 6, 6);

    BOOST_TEST(told.breaches(tokens::none).empty());
}

BOOST_AUTO_TEST_CASE(a_token_lower_than_one_granted_before_the_request_is_named)
{
    story told;
    told.acquire(0, 5, 4, 6);  // It claims nothing, and yet its token counts.
    told.acquire(6, 11, 20, 5);

    expect(told, {breach::lower_token});
}

BOOST_AUTO_TEST_CASE(a_lower_token_of_a_later_claim_is_named)
{
    story told;
    told.acquire(0, 5, 10, 6);
    told.acquire(4, 11, 20, 5);

    expect(told, {breach::token_order});
}

BOOST_AUTO_TEST_CASE(the_same_token_twice_is_named_once)
{
    story told;
    told.acquire(0, 1, 2, 5);
    told.acquire(3, 4, 5, 5);

    expect(told, {breach::same_token});
}

BOOST_AUTO_TEST_CASE(a_missing_token_is_named_where_tokens_are_expected)
{
    story told;
    told.acquire(0, 1, 2, 0);

    expect(told, {breach::missing_token});
    BOOST_TEST(told.breaches(tokens::none).empty());
}

BOOST_AUTO_TEST_CASE(a_deadline_beyond_the_ttl_is_named)
{
    story told;
    told.acquire(0, 1, 990, 5);

    expect(told, {breach::long_deadline});
}

BOOST_AUTO_TEST_CASE(an_extension_that_shortens_is_named)
{
    story told;
    const auto first = told.acquire(0, 1, 500, 5);
    told.add(action::extend, first, 10, 11).deadline = at(400);

    expect(told, {breach::shortened});
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_valid_after_its_release_is_named)
{
    story told;
    const auto first = told.acquire(0, 1, 500, 5);
    told.add(action::release, first, 10, 11);
    told.add(action::check, first, 20, 21).deadline = at(500);

    expect(told, {breach::revived});
}

BOOST_AUTO_TEST_CASE(an_extension_after_the_deadline_is_named)
{
    story told;
    const auto first = told.acquire(0, 1, 500, 5);
    told.add(action::extend, first, 501, 502).deadline = at(900);

    expect(told, {breach::revived});
}

BOOST_AUTO_TEST_CASE(an_extension_that_reports_a_revocation_may_have_moved_the_deadline)
{
    story told;
    const auto first = told.acquire(0, 1, 500, 5);
    told.add(action::extend, first, 10, 11, outcome::unknown).deadline = at(700);
    told.add(action::check, first, 600, 601).deadline = at(700);
    told.add(action::extend, first, 610, 0, outcome::unknown).returned = never;
    told.add(action::release, first, 620, 621);
    told.acquire(602, 699, 900, 6);

    expect(told, {});
}

BOOST_AUTO_TEST_CASE(a_lost_update_is_named)
{
    story told;
    const auto first = told.acquire(0, 1, 100, 5);
    told.write(first, 2, 0, 1);
    const auto second = told.acquire(101, 102, 200, 6);
    told.write(second, 103, 0, 2);

    expect(told, {breach::lost_update});
}

BOOST_AUTO_TEST_CASE(a_late_write_that_the_store_accepts_is_named)
{
    story told;
    const auto first = told.acquire(0, 1, 100, 5);
    const auto second = told.acquire(101, 102, 200, 6);
    told.write(second, 103, 0, 1);
    told.write(first, 105, 1, 2);

    expect(told, {breach::lower_write, breach::stale_access});
}

BOOST_AUTO_TEST_CASE(a_confirmed_write_that_is_not_there_is_named)
{
    story told;
    const auto first = told.acquire(0, 1, 100, 5);
    told.add(action::write, first, 2, 3).written = 1;

    expect(told, {breach::missing_write});
}

BOOST_AUTO_TEST_CASE(a_write_without_an_answer_may_be_there_or_not)
{
    story told;
    const auto first = told.acquire(0, 1, 100, 5);
    told.add(action::write, first, 2, 3, outcome::unknown);

    expect(told, {});
}

BOOST_AUTO_TEST_CASE(a_read_that_misses_a_write_is_named)
{
    story told;
    const auto first = told.acquire(0, 1, 100, 5);
    told.write(first, 2, 0, 1);
    told.read(first, 4, 0);

    expect(told, {breach::stale_read});
}

BOOST_AUTO_TEST_CASE(a_refusal_without_a_higher_token_is_named)
{
    story told;
    const auto first = told.acquire(0, 1, 100, 5);
    told.add(action::read, first, 2, 3, outcome::refused);

    expect(told, {breach::unfounded});
}

BOOST_AUTO_TEST_CASE(the_use_of_a_lease_that_was_not_granted_is_named)
{
    story told;
    told.read(33, 4, 0);

    expect(told, {breach::not_granted});
}

BOOST_AUTO_TEST_CASE(the_description_names_the_first_violations)
{
    story told;
    told.acquire(0, 1, 10);
    told.acquire(2, 9, 20);
    told.acquire(2, 11, 20);

    const std::string text = describe(check(told.all(), tokens::none), told.all(), 1);

    BOOST_TEST(
        text ==
        "2 violations in 3 operations\n"
        "two at the same time, resource 7:\n"
        "    worker 0: acquire ok, id 1, attempt 1, token none, called at 0.000 ms, returned at "
        "1.000 ms, deadline 10.000 ms\n"
        "    worker 0: acquire ok, id 2, attempt 2, token none, called at 2.000 ms, returned at "
        "9.000 ms, deadline 20.000 ms\n"
    );
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(test_worker_log)

BOOST_AUTO_TEST_CASE(what_was_written_is_read_back)
{
    operation what;
    what.what = action::acquire;
    what.result = outcome::ok;
    what.resource = 7;
    what.id = what.attempt = std::uint64_t(3) << 32 | 9;
    what.invoked = at(1);
    what.returned = at(2);
    what.token = fencing_token::from_value(12);
    what.ttl = 500ms;
    what.deadline = at(400);
    what.version = 4;
    what.written = 5;
    what.rounds = 3;
    what.automatic = true;
    history read;

    read_log(invoked_line(what) + note_line(1, "a b") + returned_line(what), read);

    BOOST_TEST_REQUIRE(read.operations.size() == 1u);
    BOOST_TEST((read.operations[0] == what));
    BOOST_TEST(worker_of(what.id) == 3u);
    BOOST_TEST(read.notes == std::vector<std::string>{"1: a b"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_operation_without_an_answer_never_returned)
{
    operation what;
    what.what = action::release;
    what.invoked = at(1);
    history read;

    read_log(invoked_line(what) + returned_line(what).substr(0, 9), read);

    BOOST_TEST((read.operations.at(0).returned == never));
    BOOST_TEST((read.operations.at(0).result == outcome::unknown));
}

BOOST_AUTO_TEST_CASE(a_line_of_somebody_else_is_an_error)
{
    history read;

    BOOST_CHECK_THROW(read_log("call acquire 1 2\n", read), std::invalid_argument);
    BOOST_CHECK_THROW(read_log("hello\n", read), std::invalid_argument);
    BOOST_CHECK_THROW(read_log(returned_line({}), read), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace checker_tests
