#include <redlock/config.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/error.hpp>
#include <redlock/holding.hpp>
#include <redlock/node_status.hpp>
#include <redlock/options.hpp>
#include <redlock/release_outcome.hpp>
#include <redlock/vote.hpp>

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <string>

BOOST_AUTO_TEST_SUITE(test_names)

using namespace redlock;

namespace {

template <class T>
std::string printed(const T& value)
{
    std::ostringstream out;
    out << value;
    return out.str();
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_public_enumeration_prints_its_name)
{
    BOOST_TEST(printed(vote::granted) == "granted");
    BOOST_TEST(printed(vote::unknown) == "unknown");
    BOOST_TEST(printed(holding_state::kept) == "kept");
    BOOST_TEST(printed(release_outcome::barely_kept) == "barely kept");
    BOOST_TEST(printed(reason::config_mismatch) == to_string(reason::config_mismatch));
    BOOST_TEST(printed(node_state::quarantined) == "quarantined");
    BOOST_TEST(printed(release_outcome::still_held) == to_string(release_outcome::still_held));
    BOOST_TEST(printed(mode::guarded) == "guarded");
    BOOST_TEST(printed(mode::plain) == "plain");
    BOOST_TEST(printed(log_level::info) == "info");
    BOOST_TEST(printed(log_level::warning) == "warning");
    BOOST_TEST(printed(log_level::error) == "error");
}

BOOST_AUTO_TEST_CASE(errors_print_their_message)
{
    BOOST_TEST(printed(error::contended) == make_error_code(error::contended).message());
    BOOST_TEST(
        printed(condition::not_acquired) == make_error_condition(condition::not_acquired).message()
    );
}

BOOST_AUTO_TEST_CASE(an_owner_prints_its_number)
{
    BOOST_TEST(printed(owner{42}) == "42");
    BOOST_TEST(printed(owner::none) == "none");
    BOOST_TEST(printed(owner{0}) == "none");
}

BOOST_AUTO_TEST_CASE(what_is_no_value_of_an_enumeration_has_a_name_too)
{
    BOOST_TEST(printed(static_cast<mode>(200)) == "unknown");
    BOOST_TEST(printed(static_cast<log_level>(200)) == "unknown");
    BOOST_TEST(printed(static_cast<node_state>(200)) == "unknown");
    BOOST_TEST(printed(static_cast<release_outcome>(200)) == "unknown");
}

BOOST_AUTO_TEST_SUITE_END()
