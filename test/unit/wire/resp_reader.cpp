#include "wire/resp_reader.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "support/malformed_replies.hpp"
#include "support/resp_model.hpp"
#include "support/resp_reading.hpp"

BOOST_AUTO_TEST_SUITE(test_resp_reader)

namespace resp = redlock::detail::resp;
using redlock::error_code;
using redlock::test::malformed_replies;
using redlock::test::malformed_reply;
using redlock::test::read_in_pieces;
using redlock::test::read_part;
using redlock::test::read_whole;
using redlock::test::reading;
using redlock::test::repeated;
using redlock::test::resp_feed;
using redlock::test::resp_model;
using redlock::test::resp_stream;
using resp::type;

namespace {

read_part scalar(type kind, std::string value, std::size_t depth = 0)
{
    read_part made{{}, std::move(value)};
    made.what.kind = kind;
    made.what.depth = depth;
    if (kind == type::number)
        made.what.number = std::stoll(made.value);
    return made;
}

read_part aggregate(type kind, std::size_t size, std::size_t depth = 0)
{
    read_part made = scalar(kind, {}, depth);
    made.what.size = size;
    return made;
}

read_part last(read_part of)
{
    of.what.last = true;
    return of;
}

read_part pushed(read_part of)
{
    of.what.pushed = true;
    return of;
}

/// Bytes that hold replies, all complete, and nothing else.
void check(std::string_view bytes, const std::vector<read_part>& expected)
{
    BOOST_TEST_CONTEXT("the bytes " << bytes.substr(0, 100))
    {
        const reading told = read_whole(bytes);
        BOOST_TEST(told.parts == expected, boost::test_tools::per_element());
        BOOST_TEST(!told.error);
        BOOST_TEST(told.kept == 0U);
        BOOST_TEST(!told.in_reply);
    }
}

void check_scalar(std::string_view bytes, type kind, std::string value)
{
    check(bytes, {last(scalar(kind, std::move(value)))});
}

error_code error_of(std::string_view bytes)
{
    return read_whole(bytes).error;
}

std::string blob(std::size_t size)
{
    return "$" + std::to_string(size) + "\r\n" + std::string(size, 'x') + "\r\n";
}

/// Any number of reads of one byte, and every split in two.
void check_each_split(std::string_view bytes, const reading& whole)
{
    BOOST_TEST((read_in_pieces(bytes, [] { return 1U; }) == whole));
    for (std::size_t at = 1; at < bytes.size(); ++at)
    {
        resp_feed feed;
        feed.receive(bytes.substr(0, at));
        feed.receive(bytes.substr(at));
        BOOST_TEST((feed.told() == whole), "split at " << at);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_scalar_of_each_type_is_one_part)
{
    check_scalar("+OK\r\n", type::simple_string, "OK");
    check_scalar("+\r\n", type::simple_string, "");
    check_scalar("-ERR no\r\n", type::simple_error, "ERR no");
    check_scalar(":-5\r\n", type::number, "-5");
    check_scalar("$5\r\nvalue\r\n", type::blob_string, "value");
    check_scalar("$0\r\n\r\n", type::blob_string, "");
    check_scalar("$4\r\n\r\n\r\n\r\n", type::blob_string, "\r\n\r\n");
    check_scalar("_\r\n", type::null, "");
    check_scalar("$-1\r\n", type::null, "");
    check_scalar("*-1\r\n", type::null, "");
    check_scalar("#t\r\n", type::boolean, "t");
    check_scalar("#f\r\n", type::boolean, "f");
    check_scalar("(-123456789012345678901\r\n", type::big_number, "-123456789012345678901");
    check_scalar("!5\r\nERR a\r\n", type::blob_error, "ERR a");
    check_scalar("=7\r\ntxt:abc\r\n", type::verbatim_string, "abc");
    check_scalar("=4\r\nmkd:\r\n", type::verbatim_string, "");
}

BOOST_AUTO_TEST_CASE(a_number_has_64_bits_and_is_told_without_a_plus_sign)
{
    for (const std::string text : {"0", "-0", "9223372036854775807", "-9223372036854775808", "007"})
        check_scalar(":" + text + "\r\n", type::number, text);
    check_scalar(":+42\r\n", type::number, "42");
}

BOOST_AUTO_TEST_CASE(a_double_is_decimal_or_infinite_or_none)
{
    for (const std::string text :
         {"1", "-1.25", "+1", "10.", ".5", "1e5", "1.5E-7", "1e+3", "inf", "-inf", "nan", "-nan"})
        check_scalar("," + text + "\r\n", type::double_number, text);
    for (const std::string text : {"-", "e5", "1.5.2", "1e", "1e+", "0x10", "infinity", "1 "})
        BOOST_TEST((error_of("," + text + "\r\n") == resp::error::bad_double), text);
}

BOOST_AUTO_TEST_CASE(an_aggregate_comes_before_its_elements)
{
    check(
        "*2\r\n:1\r\n+two\r\n",
        {aggregate(type::array, 2),
         scalar(type::number, "1", 1),
         last(scalar(type::simple_string, "two", 1))}
    );
    check("~1\r\n_\r\n", {aggregate(type::set, 1), last(scalar(type::null, "", 1))});
    check(
        "%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n",
        {aggregate(type::map, 4),
         scalar(type::simple_string, "a", 1),
         scalar(type::number, "1", 1),
         scalar(type::simple_string, "b", 1),
         last(scalar(type::number, "2", 1))}
    );
}

BOOST_AUTO_TEST_CASE(an_empty_aggregate_is_complete)
{
    check("*0\r\n", {last(aggregate(type::array, 0))});
    check("%0\r\n", {last(aggregate(type::map, 0))});
    check("~0\r\n", {last(aggregate(type::set, 0))});
    check(
        "*2\r\n*0\r\n:1\r\n",
        {aggregate(type::array, 2), aggregate(type::array, 0, 1), last(scalar(type::number, "1", 1))
        }
    );
}

BOOST_AUTO_TEST_CASE(the_last_element_ends_every_aggregate_that_it_is_in)
{
    check(
        "*2\r\n:1\r\n*1\r\n*1\r\n:2\r\n+OK\r\n",
        {aggregate(type::array, 2),
         scalar(type::number, "1", 1),
         aggregate(type::array, 1, 1),
         aggregate(type::array, 1, 2),
         last(scalar(type::number, "2", 3)),
         last(scalar(type::simple_string, "OK"))}
    );
}

BOOST_AUTO_TEST_CASE(a_push_is_marked_and_what_follows_is_not)
{
    check(
        "+OK\r\n>2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n:1\r\n",
        {last(scalar(type::simple_string, "OK")),
         pushed(aggregate(type::push, 2)),
         pushed(scalar(type::simple_string, "invalidate", 1)),
         pushed(aggregate(type::array, 1, 1)),
         last(pushed(scalar(type::blob_string, "k", 2))),
         last(scalar(type::number, "1"))}
    );
    check(">0\r\n", {last(pushed(aggregate(type::push, 0)))});
}

BOOST_AUTO_TEST_CASE(an_attribute_is_left_out_wherever_it_is)
{
    const auto expected = std::vector{
        aggregate(type::array, 2), scalar(type::number, "1", 1), last(scalar(type::number, "2", 1))
    };
    check("|1\r\n+ttl\r\n:3600\r\n*2\r\n:1\r\n:2\r\n", expected);
    check("*2\r\n|1\r\n+ttl\r\n:3600\r\n:1\r\n:2\r\n", expected);
    check("*2\r\n:1\r\n|2\r\n+a\r\n*2\r\n:8\r\n:9\r\n%0\r\n+b\r\n:2\r\n", expected);
    check("|0\r\n|0\r\n*2\r\n|0\r\n:1\r\n|0\r\n:2\r\n", expected);
    check("|1\r\n|1\r\n+in\r\n+in\r\n+k\r\n|1\r\n+in\r\n+in\r\n+v\r\n*2\r\n:1\r\n:2\r\n", expected);
}

BOOST_AUTO_TEST_CASE(an_attribute_may_belong_to_a_push)
{
    check(
        "|1\r\n+k\r\n+v\r\n>1\r\n|1\r\n+k\r\n+v\r\n+message\r\n",
        {pushed(aggregate(type::push, 1)), last(pushed(scalar(type::simple_string, "message", 1)))}
    );
}

BOOST_AUTO_TEST_CASE(a_part_is_told_before_its_reply_is_complete)
{
    resp_feed feed;
    BOOST_TEST(!feed.told().in_reply);
    feed.receive("*2\r\n:1\r\n:2");
    BOOST_TEST(feed.told().parts.size() == 2U);
    BOOST_TEST(feed.told().in_reply);
    feed.receive("\r\n");
    BOOST_TEST(feed.told().parts.size() == 3U);
    BOOST_TEST(!feed.told().in_reply);
}

BOOST_AUTO_TEST_CASE(an_attribute_begins_its_reply)
{
    resp_feed feed;
    feed.receive("|1\r\n+k\r\n+v\r\n");
    BOOST_TEST(feed.told().parts.empty());
    BOOST_TEST(feed.told().in_reply);
}

BOOST_AUTO_TEST_CASE(every_malformed_reply_ends_with_what_is_wrong)
{
    for (const malformed_reply& each : malformed_replies())
        BOOST_TEST(error_of(each.bytes) == error_code(each.why), each.name);
}

BOOST_AUTO_TEST_CASE(a_malformed_reply_is_noticed_behind_good_ones_too)
{
    for (const malformed_reply& each : malformed_replies())
    {
        const reading told = read_whole("*1\r\n:1\r\n+OK\r\n" + each.bytes);
        BOOST_TEST(told.error == error_code(each.why), each.name);
        BOOST_TEST_REQUIRE(told.parts.size() >= 3U, each.name);
        BOOST_TEST(told.parts[2].what.last, each.name);
    }
}

BOOST_AUTO_TEST_CASE(nothing_is_read_behind_an_error)
{
    resp_feed feed;
    feed.receive("$\r\n");
    feed.receive("+OK\r\n");
    BOOST_TEST(feed.told().parts.empty());
    BOOST_TEST(feed.told().error == error_code(resp::error::bad_length));
}

BOOST_AUTO_TEST_CASE(every_error_is_met_and_says_what_is_wrong_in_words_of_its_own)
{
    // The reader knows of no commands: a connection tells this one.
    std::set<int> met{static_cast<int>(resp::error::unasked)};
    for (const malformed_reply& each : malformed_replies())
        met.insert(static_cast<int>(each.why));
    std::set<std::string> messages;
    const std::string unknown = error_code(static_cast<resp::error>(1000)).message();
    int value = 1;
    for (;; ++value)
    {
        const std::string message = error_code(static_cast<resp::error>(value)).message();
        if (message == unknown)
            break;
        BOOST_TEST(met.contains(value), message << " is in no test");
        BOOST_TEST(messages.insert(message).second, message);
        BOOST_TEST(!std::isupper(static_cast<unsigned char>(message.front())), message);
        BOOST_TEST(message.back() != '.', message);
    }
    BOOST_TEST(met.size() == static_cast<std::size_t>(value - 1));
    BOOST_TEST(
        error_code(resp::error::string_too_long).message() == "a string has more than 1048576 bytes"
    );
    BOOST_TEST(error_code(resp::error::bad_length).category().name() == "redlock.resp");
}

BOOST_AUTO_TEST_CASE(a_string_may_have_as_many_bytes_as_the_limit_and_no_more)
{
    const reading told = read_whole(blob(resp::max_string));
    BOOST_TEST_REQUIRE(told.parts.size() == 1U);
    BOOST_TEST(told.parts[0].value.size() == resp::max_string);

    // The length alone is enough.
    const std::string head = "$" + std::to_string(resp::max_string + 1) + "\r\n";
    BOOST_TEST((error_of(head) == resp::error::string_too_long));
}

BOOST_AUTO_TEST_CASE(a_line_may_have_as_many_bytes_as_the_limit_and_no_more)
{
    const std::string longest = "+" + std::string(resp::max_line, 'x');
    const reading told = read_whole(longest + "\r\n");
    BOOST_TEST_REQUIRE(told.parts.size() == 1U);
    BOOST_TEST(told.parts[0].value.size() == resp::max_line);

    BOOST_TEST((error_of(longest + "x\r\n") == resp::error::line_too_long));
    BOOST_TEST(!error_of(longest + "\r"));
    BOOST_TEST((error_of(longest + "xx") == resp::error::line_too_long));
}

BOOST_AUTO_TEST_CASE(an_aggregate_may_have_as_many_elements_as_the_limit_and_no_more)
{
    for (const char first : {'*', '~', '>', '%', '|'})
    {
        const std::size_t limit = resp::max_elements / (first == '%' || first == '|' ? 2 : 1);
        const std::string head(1, first);
        BOOST_TEST(!error_of(head + std::to_string(limit) + "\r\n"), head);
        const error_code beyond = error_of(head + std::to_string(limit + 1) + "\r\n");
        BOOST_TEST((beyond == resp::error::too_many_elements), head);
    }
    const reading told = read_whole(
        "*" + std::to_string(resp::max_elements) + "\r\n" + repeated(":1\r\n", resp::max_elements)
    );
    BOOST_TEST(told.parts.size() == 1 + resp::max_elements);
    BOOST_TEST(told.parts.back().what.last);
}

BOOST_AUTO_TEST_CASE(aggregates_may_be_as_deep_as_the_limit_and_no_deeper)
{
    const std::string deepest = repeated("*1\r\n", resp::max_depth);
    const reading told = read_whole(deepest + ":1\r\n");
    BOOST_TEST_REQUIRE(told.parts.size() == 1 + resp::max_depth);
    BOOST_TEST(told.parts.back().what.depth == resp::max_depth);
    BOOST_TEST(told.parts.back().what.last);

    for (const char* more : {"*1\r\n", "*0\r\n", "|1\r\n", "|0\r\n", "%1\r\n", "~1\r\n"})
        BOOST_TEST((error_of(deepest + more) == resp::error::too_deep), more);
}

BOOST_AUTO_TEST_CASE(a_reply_may_have_as_many_bytes_as_the_limit_and_no_more)
{
    // Four strings, whose frames and the line before them are counted too.
    const std::size_t frames = 4 * std::string("$1048576\r\n\r\n").size() + 4;
    const std::string head = "*4\r\n" + repeated(blob(resp::max_string), 3);
    const std::size_t rest = resp::max_string - frames;
    BOOST_TEST_REQUIRE((head + blob(rest)).size() == resp::max_reply);

    const reading fits = read_whole(head + blob(rest) + "+OK\r\n");
    BOOST_TEST(!fits.error);
    BOOST_TEST(fits.parts.size() == 6U);
    BOOST_TEST((error_of(head + blob(rest + 1)) == resp::error::reply_too_long));
}

BOOST_AUTO_TEST_CASE(the_limit_is_one_of_each_reply)
{
    const reading told = read_whole(repeated(blob(resp::max_string), 6));
    BOOST_TEST(!told.error);
    BOOST_TEST(told.parts.size() == 6U);
}

BOOST_AUTO_TEST_CASE(any_split_of_each_type_gives_the_same_parts)
{
    for (const std::string_view bytes : {
             "+OK\r\n-ERR no\r\n:1\r\n$5\r\nvalue\r\n$0\r\n\r\n_\r\n$-1\r\n*-1\r\n",
             "#t\r\n,1.5\r\n(123\r\n!5\r\nERR a\r\n=7\r\ntxt:abc\r\n",
             "*2\r\n:1\r\n*1\r\n:2\r\n%1\r\n+a\r\n~0\r\n>1\r\n+m\r\n|1\r\n+a\r\n+b\r\n+OK\r\n",
         })
    {
        const reading whole = read_whole(bytes);
        BOOST_TEST(!whole.error);
        check_each_split(bytes, whole);
    }
}

BOOST_AUTO_TEST_CASE(any_split_of_a_malformed_reply_gives_the_same_error)
{
    for (const malformed_reply& each : malformed_replies())
    {
        BOOST_TEST_CONTEXT(each.name)
        {
            const std::string bytes = "*2\r\n:1\r\n" + each.bytes;
            const reading whole = read_whole(bytes);
            BOOST_TEST(!!whole.error);
            if (bytes.size() < 100)
                check_each_split(bytes, whole);
            else
                BOOST_TEST((read_in_pieces(bytes, [] { return 1000U; }) == whole));
        }
    }
}

BOOST_AUTO_TEST_CASE(random_replies_are_read_as_they_were_made_however_they_are_split)
{
    for (std::uint64_t seed = 0; seed < 400; ++seed)
    {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            resp_model model(seed);
            const resp_stream stream = draw_stream(model, 1 + model.below(4));
            const reading whole = read_whole(stream.bytes);
            BOOST_TEST(whole.parts == stream.parts, boost::test_tools::per_element());
            BOOST_TEST(!whole.error);
            BOOST_TEST(whole.kept == 0U);
            if (stream.bytes.size() < 300)
                check_each_split(stream.bytes, whole);
            for (int i = 0; i < 10; ++i)
            {
                const std::size_t most = 1 + model.below(100);
                const auto size = [&model, most] { return 1 + model.below(most); };
                BOOST_TEST((read_in_pieces(stream.bytes, size) == whole));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(random_replies_with_changed_bytes_end_the_same_way_however_they_are_split)
{
    for (std::uint64_t seed = 0; seed < 2000; ++seed)
    {
        BOOST_TEST_CONTEXT("seed " << seed)
        {
            resp_model model(seed);
            std::string bytes = draw_stream(model, 3).bytes;
            for (std::size_t changes = 1 + model.below(3); changes > 0; --changes)
                bytes[model.below(bytes.size())] = "\r\n$*:+-_>|%~?019x"[model.below(17)];
            const reading whole = read_whole(bytes);
            for (int i = 0; i < 4; ++i)
            {
                const auto size = [&model] { return 1 + model.below(20); };
                BOOST_TEST((read_in_pieces(bytes, size) == whole));
            }
        }
    }
}

// So it has no memory to allocate, and a connection can begin anew by assigning a fresh one.
static_assert(std::is_trivially_copyable_v<resp::reader>);

// Reading byte by byte would else take the square of the size of a line. A reader that looks again
// at what it has seen meets the end of a line here, which was not there before.
BOOST_AUTO_TEST_CASE(a_line_is_searched_once)
{
    resp::reader reader;
    std::string received = "+";
    std::string_view input;
    for (int i = 0; i < 1000; ++i)
    {
        received += 'x';
        input = received;
        BOOST_TEST(!reader.next(input));
        BOOST_TEST(input.size() == received.size());
        received.back() = '\n';
    }
    received += "\r\n";
    input = received;
    const auto part = reader.next(input);
    BOOST_TEST_REQUIRE(part.has_value());
    BOOST_TEST(part->value.size() == 1000U);
    BOOST_TEST(input.empty());
}

BOOST_AUTO_TEST_CASE(nothing_is_kept_of_a_list_but_the_part_that_is_incomplete)
{
    resp_feed feed;
    feed.receive("*60000\r\n");
    for (int i = 0; i < 59'999; ++i)
    {
        feed.receive("$3\r\nab");
        BOOST_TEST_REQUIRE(feed.kept() == 2U);
        feed.receive("c\r\n");
        BOOST_TEST_REQUIRE(feed.kept() == 0U);
    }
    feed.receive(":1\r\n");
    BOOST_TEST(feed.told().parts.size() == 60'001U);
    BOOST_TEST(!feed.told().in_reply);
}

BOOST_AUTO_TEST_CASE(no_more_is_kept_than_is_said)
{
    const std::string line = "+" + std::string(resp::max_line, 'x') + "\r";
    const std::string string = blob(resp::max_string);
    const auto kept = [](std::string_view bytes) {
        resp_feed feed;
        feed.receive(bytes);
        return feed.kept();
    };
    BOOST_TEST(kept(line) == line.size());
    BOOST_TEST(kept(line) <= resp::reader::max_kept);
    BOOST_TEST(kept({string.data(), string.size() - 1}) == resp::reader::max_kept);
}

BOOST_AUTO_TEST_SUITE_END()
