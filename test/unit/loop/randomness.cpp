#include "loop/randomness.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

using redlock::detail::random_bits;
using redlock::detail::random_ids;
using random_id = std::array<char, 40>;

namespace {

constexpr std::string_view digits = "0123456789abcdef";

std::string text_of(const random_id& id)
{
    return {id.begin(), id.end()};
}

std::vector<std::string> draw(random_ids& ids, int count)
{
    std::vector<std::string> drawn;
    for (int i = 0; i < count; ++i)
        drawn.push_back(text_of(ids.next()));
    return drawn;
}

std::string read_all(int from)
{
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t size = 1; size > 0;)
    {
        size = ::read(from, buffer.data(), buffer.size());
        text.append(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    }
    return text;
}

std::vector<std::string> split_ids(const std::string& text)
{
    std::vector<std::string> ids;
    for (std::size_t at = 0; at < text.size(); at += 40)
        ids.push_back(text.substr(at, 40));
    return ids;
}

/// What `work` returns in a child process.
template <class F>
std::vector<std::string> in_child(const F& work)
{
    int ends[2];
    if (::pipe(ends) != 0)
        throw std::runtime_error("pipe failed");
    const pid_t child = ::fork();
    if (child < 0)
        throw std::runtime_error("fork failed");
    if (child == 0)
    {
        // The child leaves by _exit: it must not run the rest of the tests.
        std::string text;
        for (const std::string& id : work())
            text += id;
        const ssize_t written = ::write(ends[1], text.data(), text.size());
        ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    const std::string text = read_all(ends[0]);
    ::close(ends[0]);
    int status = -1;
    ::waitpid(child, &status, 0);
    BOOST_TEST(status == 0);
    return split_ids(text);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_randomness)

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

BOOST_AUTO_TEST_CASE(a_forked_child_and_its_parent_share_no_id)
{
    random_ids ids;
    (void)ids.next();  // The rest of the block is now in memory, and in the child's.

    const std::vector<std::string> childs = in_child([&] { return draw(ids, 100); });
    const std::vector<std::string> ours = draw(ids, 100);

    BOOST_REQUIRE(childs.size() == 100u);
    std::set<std::string> all(childs.begin(), childs.end());
    all.insert(ours.begin(), ours.end());
    BOOST_TEST(all.size() == 200u);
}

BOOST_AUTO_TEST_CASE(two_forked_children_share_no_id)
{
    random_ids ids;
    (void)ids.next();

    const std::vector<std::string> first = in_child([&] { return draw(ids, 100); });
    const std::vector<std::string> second = in_child([&] { return draw(ids, 100); });

    std::set<std::string> all(first.begin(), first.end());
    all.insert(second.begin(), second.end());
    BOOST_TEST(all.size() == 200u);
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
