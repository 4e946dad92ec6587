#include "loop/randomness.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

BOOST_AUTO_TEST_SUITE(test_randomness)

using redlock::detail::random_bits;
using redlock::detail::random_ids;
using random_id = std::array<char, 40>;

namespace {

constexpr std::string_view digits = "0123456789abcdef";

std::string text_of(const random_id& id)
{
    return {id.begin(), id.end()};
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_id_is_40_lower_case_hexadecimal_digits)
{
    random_ids ids;

    // More than one block of random bytes.
    for (int i = 0; i < 200; ++i)
    {
        const std::string id = text_of(ids.next());
        BOOST_TEST(id.size() == 40u, id);
        BOOST_TEST((id.find_first_not_of(digits) == id.npos), id);
    }
}

// A position that always holds the same digit would be lost randomness: the chance that one of 40
// misses one of 16 digits in 2000 ids is below 1e-53.
BOOST_AUTO_TEST_CASE(every_digit_appears_at_every_position)
{
    random_ids ids;
    std::array<std::set<char>, 40> seen;
    for (int i = 0; i < 2000; ++i)
    {
        const std::string id = text_of(ids.next());
        for (std::size_t position = 0; position < seen.size(); ++position)
            seen[position].insert(id.at(position));
    }

    for (const std::set<char>& each : seen)
        BOOST_TEST(each.size() == digits.size());
}

BOOST_AUTO_TEST_CASE(a_million_ids_are_all_different)
{
    random_ids ids;
    std::vector<random_id> drawn;
    drawn.reserve(1'000'000);
    for (int i = 0; i < 1'000'000; ++i)
        drawn.push_back(ids.next());

    std::ranges::sort(drawn);

    BOOST_TEST((std::ranges::adjacent_find(drawn) == drawn.end()));
}

BOOST_AUTO_TEST_CASE(two_sources_give_different_ids)
{
    random_ids first;
    random_ids second;

    BOOST_TEST(text_of(first.next()) != text_of(second.next()));
}

BOOST_AUTO_TEST_CASE(random_bits_differ_and_use_all_64)
{
    std::set<std::uint64_t> drawn;
    std::uint64_t ones = 0;
    std::uint64_t zeros = 0;
    for (int i = 0; i < 200; ++i)
    {
        const std::uint64_t bits = random_bits();
        drawn.insert(bits);
        ones |= bits;
        zeros |= ~bits;
    }

    BOOST_TEST(drawn.size() == 200u);
    BOOST_TEST(~ones == 0u);
    BOOST_TEST(~zeros == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
