#include <redlock/fencing.hpp>

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <type_traits>

BOOST_AUTO_TEST_SUITE(test_fencing_token)

using namespace redlock;

namespace {

constexpr fencing_token low = fencing_token::from_value(1'790'000'000'000'000);
constexpr fencing_token high = fencing_token::from_value(1'790'000'000'000'001);

BOOST_AUTO_TEST_CASE(tokens_are_ordered_by_value)
{
    BOOST_TEST((low < high));
    BOOST_TEST((high >= low));
    BOOST_TEST((low == fencing_token::from_value(low.value())));
}

BOOST_AUTO_TEST_CASE(an_empty_token_is_false_and_lower_than_every_other)
{
    constexpr fencing_token empty;
    BOOST_TEST(!empty);
    BOOST_TEST(static_cast<bool>(low));
    BOOST_TEST((empty < fencing_token::from_value(1)));
    BOOST_TEST((empty == fencing_token::from_value(0)));
}

BOOST_AUTO_TEST_CASE(a_token_prints_its_value)
{
    std::ostringstream out;
    out << low << ' ' << fencing_token();
    BOOST_TEST(out.str() == "1790000000000000 none");
}

BOOST_AUTO_TEST_CASE(a_token_is_no_number)
{
    BOOST_TEST((!std::is_convertible_v<fencing_token, std::uint64_t>));
    BOOST_TEST((!std::is_convertible_v<std::uint64_t, fencing_token>));
    BOOST_TEST((std::is_trivially_copyable_v<fencing_token>));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
