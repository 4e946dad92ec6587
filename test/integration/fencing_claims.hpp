#ifndef REDLOCK_TEST_INTEGRATION_FENCING_CLAIMS_HPP
#define REDLOCK_TEST_INTEGRATION_FENCING_CLAIMS_HPP

#include <redlock/fencing.hpp>

#include "fencing/stale_token.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>

/** What every recipe of docs/fencing.md promises, whatever the resource is.

    A fixture is a resource that nobody has touched, with two holders `a` and `b`, their `read` and
    `write`, and `peek`, which reads without a token.
*/
namespace redlock::test::fencing {

inline constexpr fencing_token none;
inline constexpr fencing_token first = fencing_token::from_value(1'790'000'000'000'000);
inline constexpr fencing_token second = fencing_token::from_value(1'790'000'000'000'001);

template <class Fixture>
void what_is_written_is_read_with_the_same_token_any_number_of_times()
{
    Fixture f;

    BOOST_TEST(f.read(*f.a, first) == 0);
    for (const std::int64_t amount : {10, 20, 20})
    {
        f.write(*f.a, first, amount);
        BOOST_TEST(f.read(*f.a, first) == amount);
        BOOST_TEST(f.read(*f.b, first) == amount);
    }
}

template <class Fixture>
void a_stale_holders_write_is_refused_after_its_successors_first_read()
{
    Fixture f;
    f.write(*f.a, first, 10);

    BOOST_TEST(f.read(*f.b, second) == 10);

    const auto names_second = [](const recipes::stale_token& refusal) {
        return refusal.highest() == second;
    };
    BOOST_CHECK_EXCEPTION(f.write(*f.a, first, 11), recipes::stale_token, names_second);
    BOOST_CHECK_THROW(f.read(*f.a, first), recipes::stale_token);
    BOOST_TEST(f.read(*f.b, second) == 10);
}

/// Why reads are checked too. The first holder reads and stalls, the second one takes over.
template <class Fixture>
void an_update_is_lost_where_only_writes_are_checked()
{
    Fixture f;
    const std::int64_t seen_by_first = f.peek();
    const std::int64_t seen_by_second = f.peek();

    f.write(*f.a, first, seen_by_first + 1);  // Late, and accepted: nothing has told the resource.
    f.write(*f.b, second, seen_by_second + 1);

    BOOST_TEST(f.peek() == 1);  // Two were told that they had added one.
}

template <class Fixture>
void no_update_is_lost_where_the_first_access_is_checked()
{
    Fixture f;
    const std::int64_t seen_by_first = f.read(*f.a, first);
    const std::int64_t seen_by_second = f.read(*f.b, second);

    BOOST_CHECK_THROW(f.write(*f.a, first, seen_by_first + 1), recipes::stale_token);
    f.write(*f.b, second, seen_by_second + 1);

    BOOST_TEST(f.peek() == 1);  // One was told so.
}

template <class Fixture>
void an_empty_token_is_always_refused()
{
    Fixture f;

    BOOST_CHECK_THROW(f.read(*f.a, none), recipes::stale_token);
    BOOST_CHECK_THROW(f.write(*f.a, none, 1), recipes::stale_token);
    BOOST_TEST(f.peek() == 0);

    f.write(*f.a, first, 10);
    BOOST_CHECK_THROW(f.read(*f.a, none), recipes::stale_token);
    BOOST_CHECK_THROW(f.write(*f.a, none, 1), recipes::stale_token);
    BOOST_TEST(f.peek() == 10);
}

}  // namespace redlock::test::fencing

/// The claims as test cases of the suite that this is in.
#define REDLOCK_TEST_FENCING_CLAIM(fixture, claim)                                                 \
    BOOST_AUTO_TEST_CASE(claim)                                                                    \
    {                                                                                              \
        redlock::test::fencing::claim<fixture>();                                                  \
    }
#define REDLOCK_TEST_FENCING_CLAIMS(fixture)                                                       \
    REDLOCK_TEST_FENCING_CLAIM(                                                                    \
        fixture, what_is_written_is_read_with_the_same_token_any_number_of_times                   \
    )                                                                                              \
    REDLOCK_TEST_FENCING_CLAIM(                                                                    \
        fixture, a_stale_holders_write_is_refused_after_its_successors_first_read                  \
    )                                                                                              \
    REDLOCK_TEST_FENCING_CLAIM(fixture, an_update_is_lost_where_only_writes_are_checked)           \
    REDLOCK_TEST_FENCING_CLAIM(fixture, no_update_is_lost_where_the_first_access_is_checked)       \
    REDLOCK_TEST_FENCING_CLAIM(fixture, an_empty_token_is_always_refused)

#endif
