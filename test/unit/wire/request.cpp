#include "wire/request.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

BOOST_AUTO_TEST_SUITE(test_request)

using redlock::detail::encoded_argument;
using redlock::detail::request;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(a_command_is_an_array_of_strings)
{
    request made;
    made.push("SET", std::string("key"), std::string_view(""), encoded_argument{"$2\r\nNX\r\n"});

    BOOST_TEST(made.payload() == "*4\r\n$3\r\nSET\r\n$3\r\nkey\r\n$0\r\n\r\n$2\r\nNX\r\n");
    BOOST_TEST(made.size() == 1u);
}

BOOST_AUTO_TEST_CASE(bytes_of_a_text_are_not_looked_at)
{
    request made;
    made.push(std::string_view("a\r\n\0b", 5));

    BOOST_TEST(made.payload() == std::string_view("*1\r\n$5\r\na\r\n\0b\r\n", 15));
}

BOOST_AUTO_TEST_CASE(numbers_and_durations_are_texts)
{
    request made;
    made.push(-7, 0U, 1500ms, std::numeric_limits<std::int64_t>::min());
    made.push(std::numeric_limits<std::uint64_t>::max());

    BOOST_TEST(
        made.payload() ==
        "*4\r\n$2\r\n-7\r\n$1\r\n0\r\n$4\r\n1500\r\n"
        "$20\r\n-9223372036854775808\r\n"
        "*1\r\n$20\r\n18446744073709551615\r\n"
    );
}

BOOST_AUTO_TEST_CASE(requests_are_joined_and_forgotten)
{
    request first;
    first.push("A");
    request second;
    second.push("B");
    second.push("C");

    first.append(second);
    BOOST_TEST(first.payload() == "*1\r\n$1\r\nA\r\n*1\r\n$1\r\nB\r\n*1\r\n$1\r\nC\r\n");
    BOOST_TEST(first.size() == 3u);

    first.clear();
    BOOST_TEST(first.payload().empty());
    BOOST_TEST(first.size() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
