// The checker, with violations planted: who trusts a clean history must have seen a foul one.

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "chaos/checker.hpp"

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{};

/// A claim of worker 1 on resource 7, in milliseconds.
claim made(int invoked, int granted, int end, std::uint64_t token = 0)
{
    claim result;
    result.worker = 1;
    result.resource = 7;
    result.invoked = start + milliseconds(invoked);
    result.granted = start + milliseconds(granted);
    result.end = start + milliseconds(end);
    result.token = fencing_token::from_value(token);
    return result;
}

/// A correct history: three resources, each held by one after the other, with queues before them.
std::vector<claim> correct_history(std::mt19937& random, std::size_t count)
{
    const auto draw = [&random](int most) { return static_cast<int>(random() % most) + 1; };
    std::vector<claim> claims;
    int now[3] = {0, 0, 0};
    int token[3] = {0, 0, 0};
    while (claims.size() < count)
    {
        const std::size_t resource = random() % 3;
        const int granted = now[resource] + draw(5);
        const int end = granted + draw(20);
        token[resource] += draw(3);
        claims.push_back(made(granted - draw(30), granted, end, token[resource]));
        claims.back().resource = static_cast<std::uint32_t>(resource);
        now[resource] = end;
    }
    std::ranges::shuffle(claims, random);
    return claims;
}

std::vector<breach> breaches(const std::vector<claim>& claims)
{
    std::vector<breach> all;
    for (const violation& one : check(claims, tokens::increasing))
        all.push_back(one.what);
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_checker)

BOOST_AUTO_TEST_CASE(claims_one_after_the_other_are_clean)
{
    const std::vector<claim> claims{made(0, 1, 10, 5), made(2, 10, 20, 6), made(21, 22, 30, 9)};

    BOOST_TEST(check(claims, tokens::increasing).empty());
}

BOOST_AUTO_TEST_CASE(two_at_the_same_time_are_named)
{
    const claim first = made(0, 1, 10);
    const claim second = made(2, 9, 20);

    const auto found = check({second, first}, tokens::none);

    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST((found[0] == violation{breach::overlap, first, second}));
}

BOOST_AUTO_TEST_CASE(a_claim_within_another_overlaps_it)
{
    const std::vector<claim> claims{made(0, 1, 30), made(2, 3, 4), made(5, 6, 7), made(0, 31, 32)};

    BOOST_TEST(check(claims, tokens::none).size() == 2u);
}

BOOST_AUTO_TEST_CASE(claims_granted_in_the_same_instant_overlap)
{
    BOOST_TEST(check({made(0, 1, 2), made(0, 1, 2)}, tokens::none).size() == 1u);
}

BOOST_AUTO_TEST_CASE(other_resources_do_not_matter)
{
    claim other = made(0, 2, 9, 3);
    other.resource = 8;

    BOOST_TEST(check({made(0, 1, 10, 5), other}, tokens::increasing).empty());
}

BOOST_AUTO_TEST_CASE(a_claim_granted_after_its_own_deadline_claims_nothing)
{
    const std::vector<claim> claims{made(0, 1, 10), made(0, 5, 4), made(0, 6, 6)};

    BOOST_TEST(check(claims, tokens::none).empty());
}

BOOST_AUTO_TEST_CASE(a_token_lower_than_one_granted_before_the_request_is_named)
{
    const claim first = made(0, 1, 10, 6);
    const claim second = made(12, 13, 20, 7);
    const claim third = made(21, 22, 30, 5);

    const auto found = check({first, second, third}, tokens::increasing);

    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST((found[0] == violation{breach::lower_token, second, third}));
}

// It was asked for before the other one was granted, and tokens promise nothing then.
BOOST_AUTO_TEST_CASE(a_lower_token_of_a_request_made_before_is_allowed)
{
    const std::vector<claim> claims{made(0, 5, 10, 6), made(4, 11, 20, 5)};

    BOOST_TEST(check(claims, tokens::increasing).empty());
}

BOOST_AUTO_TEST_CASE(a_token_is_compared_also_after_its_claim_was_over_at_once)
{
    const std::vector<claim> claims{made(0, 5, 4, 6), made(6, 11, 20, 5)};

    BOOST_TEST((breaches(claims) == std::vector{breach::lower_token}));
}

BOOST_AUTO_TEST_CASE(the_same_token_twice_is_named_once)
{
    BOOST_TEST((breaches({made(0, 1, 2, 5), made(0, 3, 4, 5)}) == std::vector{breach::same_token}));
    BOOST_TEST((breaches({made(0, 1, 2, 5), made(3, 4, 5, 5)}) == std::vector{breach::same_token}));
}

BOOST_AUTO_TEST_CASE(a_missing_token_is_named_where_tokens_are_expected)
{
    const std::vector<claim> claims{made(0, 1, 2, 0), made(3, 4, 5, 5), made(6, 7, 8, 0)};

    const std::vector<breach> found = breaches(claims);

    BOOST_TEST((found == std::vector{breach::missing_token, breach::missing_token}));
    BOOST_TEST(check(claims, tokens::none).empty());
}

BOOST_AUTO_TEST_CASE(correct_histories_are_clean_and_each_planted_breach_is_found)
{
    for (unsigned seed = 0; seed < 200; ++seed)
    {
        std::mt19937 random(seed);
        const std::vector<claim> correct = correct_history(random, 100);
        const auto second = std::ranges::max_element(correct, {}, [](const claim& one) {
            return one.resource == 0 ? one.granted : time_point::min();
        });
        const auto index = static_cast<std::size_t>(second - correct.begin());
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            BOOST_TEST(breaches(correct).empty());

            auto early = correct;
            early[index].granted -= 6ms;  // Gaps are shorter than that.
            BOOST_TEST(!check(early, tokens::none).empty());

            auto low = correct;
            low[index].invoked = low[index].granted;
            const std::uint64_t less =
                low[index].token.value() - 4;  // Steps are shorter than that.
            low[index].token = fencing_token::from_value(less);
            BOOST_TEST(!breaches(low).empty());
        }
    }
}

BOOST_AUTO_TEST_CASE(the_description_names_the_first_violations)
{
    const std::vector<claim> claims{made(0, 1, 10), made(2, 9, 20), made(2, 11, 20)};

    const std::string text = describe(check(claims, tokens::none), claims, 1);

    BOOST_TEST(
        text ==
        "2 violations in 3 claims\n"
        "two at the same time, resource 7:\n"
        "    worker 1 asked at -1.000 ms, had it from 0.000 to 9.000 ms, token none\n"
        "    worker 1 asked at 1.000 ms, had it from 8.000 to 19.000 ms, token none\n"
    );
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(test_worker_log)

BOOST_AUTO_TEST_CASE(what_was_written_is_read_back)
{
    claim what = made(1, 2, 30, 12);
    what.rounds = 3;
    history read;

    read_log(granted_line(what) + released_line(start + 9ms) + note_line(1, "a b"), read);

    what.end = start + 9ms;
    BOOST_TEST_REQUIRE(read.claims.size() == 1u);
    BOOST_TEST((read.claims[0] == what));
    BOOST_TEST(read.notes == std::vector<std::string>{"1: a b"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_release_after_the_deadline_ends_nothing)
{
    history read;

    read_log(granted_line(made(1, 2, 30)) + released_line(start + 40ms), read);

    BOOST_TEST((read.claims.at(0).end == start + 30ms));
}

BOOST_AUTO_TEST_CASE(a_claim_without_a_release_lasts_until_the_deadline)
{
    history read;

    read_log(granted_line(made(1, 2, 30)) + "releas", read);

    BOOST_TEST((read.claims.at(0).end == start + 30ms));
}

BOOST_AUTO_TEST_CASE(a_line_of_somebody_else_is_an_error)
{
    history read;

    BOOST_CHECK_THROW(read_log("granted 1 2\n", read), std::invalid_argument);
    BOOST_CHECK_THROW(read_log("hello\n", read), std::invalid_argument);
    BOOST_CHECK_THROW(read_log(released_line(start), read), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
