#include <redlock/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <type_traits>

#include "support/printing.hpp"

BOOST_AUTO_TEST_SUITE(test_error)

using namespace redlock;

namespace {

/// Every enumerator, in order.
constexpr std::array all_errors{
    error::contended,
    error::quorum_unreachable,
    error::node_rejected,
    error::validity_exhausted,
    error::lease_lost,
    error::hold_limit_reached,
    error::not_running,
    error::already_running,
    error::invalid_argument,
    error::quarantined,
    error::config_mismatch,
    error::already_initialized,
    error::overloaded,
    error::revoked,
    error::no_such_hold,
};

constexpr std::array all_conditions{condition::not_acquired, condition::nodes_unavailable};

}  // namespace

BOOST_AUTO_TEST_CASE(the_enumerators_count_from_one_without_gaps)
{
    for (std::size_t i = 0; i < all_errors.size(); ++i)
        BOOST_TEST(static_cast<int>(all_errors[i]) == static_cast<int>(i) + 1);
    // One that this file does not know would have a message.
    const auto next = static_cast<error>(all_errors.size() + 1);
    BOOST_TEST(error_code(next).message() == "unknown redlock error");
}

BOOST_AUTO_TEST_CASE(every_error_has_a_message_of_its_own_in_lower_case_without_full_stop)
{
    std::set<std::string> messages;
    for (const error each : all_errors)
    {
        const std::string message = error_code(each).message();

        BOOST_TEST(message.find("unknown") == message.npos, message);
        BOOST_TEST(std::islower(static_cast<unsigned char>(message.front())), message);
        BOOST_TEST(!message.ends_with('.'), message);
        BOOST_TEST(messages.insert(message).second, message);
    }
}

BOOST_AUTO_TEST_CASE(every_condition_has_a_message)
{
    for (const condition each : all_conditions)
    {
        const std::string message = make_error_condition(each).message();
        BOOST_TEST(message.find("unknown") == message.npos, message);
    }
    BOOST_TEST(
        make_error_condition(static_cast<condition>(3)).message() == "unknown redlock condition"
    );
}

BOOST_AUTO_TEST_CASE(the_categories_are_named)
{
    BOOST_TEST(std::string(error_category().name()) == "redlock");
    BOOST_TEST(std::string(condition_category().name()) == "redlock.condition");
}

BOOST_AUTO_TEST_CASE(errors_turn_into_codes_and_conditions_by_themselves)
{
    const error_code code = error::contended;
    const boost::system::error_condition group = condition::not_acquired;

    BOOST_TEST(code.failed());
    BOOST_TEST(code.value() == 1);
    BOOST_TEST((code.category() == error_category()));
    BOOST_TEST((group.category() == condition_category()));
    static_assert(!std::is_convertible_v<error, int>);
}

BOOST_AUTO_TEST_CASE(conditions_match_the_errors_that_they_document)
{
    struct
    {
        error code;
        bool not_acquired;
        bool nodes_unavailable;
    } const table[] = {
        {error::contended, true, false},
        {error::quorum_unreachable, true, true},
        {error::node_rejected, true, true},
        {error::validity_exhausted, true, false},
        {error::lease_lost, false, false},
        {error::hold_limit_reached, false, false},
        {error::not_running, false, false},
        {error::already_running, false, false},
        {error::invalid_argument, false, false},
        {error::quarantined, true, true},
        {error::config_mismatch, true, true},
        {error::already_initialized, false, false},
        {error::overloaded, true, false},
        {error::revoked, false, false},
        {error::no_such_hold, false, false},
    };
    static_assert(std::size(table) == all_errors.size());

    for (const auto& row : table)
        BOOST_TEST_CONTEXT(error_code(row.code).message())
        {
            const error_code code = row.code;
            BOOST_TEST((code == condition::not_acquired) == row.not_acquired);
            BOOST_TEST((code == condition::nodes_unavailable) == row.nodes_unavailable);
        }
}

BOOST_AUTO_TEST_CASE(no_condition_matches_success_cancellation_or_another_category)
{
    const error_code others[] = {
        error_code(),
        boost::asio::error::operation_aborted,
        boost::system::errc::make_error_code(boost::system::errc::operation_not_permitted),
        error_code(1, boost::system::generic_category()),
        error_code(2, boost::system::system_category()),
    };

    for (const error_code& code : others)
        for (const condition each : all_conditions)
            BOOST_TEST((code != each), code.message());
}

BOOST_AUTO_TEST_CASE(an_unknown_condition_matches_nothing)
{
    for (const error each : all_errors)
        BOOST_TEST((error_code(each) != make_error_condition(static_cast<condition>(3))));
}

BOOST_AUTO_TEST_SUITE_END()
