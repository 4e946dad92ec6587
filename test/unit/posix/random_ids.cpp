// Unique values in a process and its children.

#include "loop/randomness.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

BOOST_AUTO_TEST_SUITE(test_randomness)

using redlock::detail::random_ids;

namespace {

std::vector<std::string> draw(random_ids& ids, int count)
{
    std::vector<std::string> drawn;
    for (int i = 0; i < count; ++i)
    {
        const auto next = ids.next();
        drawn.push_back(std::string(std::begin(next), std::end(next)));
    }
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

BOOST_AUTO_TEST_SUITE_END()
