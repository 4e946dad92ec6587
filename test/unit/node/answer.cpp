#include "node/answer.hpp"

#include "core/one_line.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

BOOST_AUTO_TEST_SUITE(test_answer)

namespace core = redlock::core;
namespace detail = redlock::detail;
using detail::answer;
using detail::resp::part;
using detail::resp::type;

namespace {

part list(std::size_t size, std::size_t depth)
{
    return {.kind = type::array, .size = size, .depth = depth, .value = {}};
}

part number(std::int64_t value, std::size_t depth)
{
    return {.kind = type::number, .depth = depth, .value = {}, .number = value};
}

part error(std::string_view text, std::size_t depth)
{
    return {.kind = type::simple_error, .depth = depth, .value = text};
}

part text(std::string_view value, std::size_t depth)
{
    return {.kind = type::blob_string, .depth = depth, .value = value};
}

std::string name(const answer::element& one)
{
    const auto* const number = std::get_if<std::int64_t>(&one);
    return number ? std::to_string(*number) : std::get<std::string>(one);
}

std::string name(const answer& said)
{
    switch (said.what)
    {
    case answer::kind::other: return "other";
    case answer::kind::ok: return "ok";
    case answer::kind::null: return "null";
    case answer::kind::error:
    case answer::kind::scalar: return name(said.elements[0]);
    case answer::kind::list: break;
    }
    std::string all;
    for (std::size_t at = 0; at < said.count; ++at)
        all += (at == 0 ? "" : " ") + name(said.elements[at]);
    return "{" + all + "}";
}

using answers = std::vector<std::string>;
using reply = std::vector<part>;

answers read(std::size_t questions, bool is_list, const reply& parts)
{
    answers told;
    const auto tell = [&told](const answer& said) { told.push_back(name(said)); };
    detail::answer_reader reader;
    reader.begin(questions, is_list);
    for (const part& each : parts)
        reader.read(each, tell);
    reader.end(tell);
    return told;
}

answers of_one(const reply& parts)
{
    return read(1, false, parts);
}

answers of_list(std::size_t questions, const reply& parts)
{
    return read(questions, true, parts);
}

void check(const answers& told, const answers& expected)
{
    BOOST_TEST(told == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_reply_to_one_question_is_its_answer)
{
    check(of_one({{.kind = type::simple_string, .value = "OK"}}), {"ok"});
    check(of_one({{.kind = type::null, .value = {}}}), {"null"});
    check(of_one({number(7, 0)}), {"7"});
    check(of_one({error("ERR no", 0)}), {"ERR no"});
}

BOOST_AUTO_TEST_CASE(of_a_long_error_the_beginning_is_kept)
{
    const std::string long_error = "MISCONF " + std::string(1'000'000, 'x');
    const std::string kept = core::kept_error(long_error);
    const part blob{.kind = type::blob_error, .value = long_error};
    detail::texts told;
    told.read(blob);

    check(of_one({blob}), {kept});
    check(of_list(2, {error(long_error, 0)}), {kept, kept});
    BOOST_TEST(told.error == kept);
}

BOOST_AUTO_TEST_CASE(of_texts_without_end_a_part_is_kept)
{
    detail::texts told;
    for (int i = 0; i < 1'000'000; ++i)
        told.read({.kind = type::blob_string, .value = "x"});
    BOOST_TEST(told.all.size() * sizeof(std::string) <= detail::max_texts);
    BOOST_TEST(told.all.size() >= 1000u);

    told.read(error("ERR no", 0));
    BOOST_TEST(told.error == "ERR no");
}

BOOST_AUTO_TEST_CASE(only_the_word_OK_is_ok)
{
    const auto word = [](std::string_view text) {
        return reply{{.kind = type::simple_string, .depth = 0, .value = text}};
    };
    check(of_one(word("OK")), {"ok"});
    check(of_one(word("QUEUED")), {"other"});
    check(of_one(word("ok")), {"other"});
    check(of_one(word("OK.")), {"other"});
}

BOOST_AUTO_TEST_CASE(a_list_of_answers_is_told_one_by_one)
{
    check(of_list(3, {list(3, 0), number(1, 1), number(0, 1), number(-5, 1)}), {"1", "0", "-5"});
}

BOOST_AUTO_TEST_CASE(an_answer_may_be_a_list_of_numbers)
{
    check(
        of_list(
            3, {list(3, 0), number(9, 1), list(2, 1), number(-1, 2), number(9, 2), number(8, 1)}
        ),
        {"9", "{-1 9}", "8"}
    );
}

BOOST_AUTO_TEST_CASE(an_error_in_a_list_is_one_answer)
{
    check(of_list(2, {list(2, 0), error("WRONGTYPE no", 1), number(4, 1)}), {"WRONGTYPE no", "4"});
}

BOOST_AUTO_TEST_CASE(an_error_in_place_of_a_list_is_the_answer_to_all)
{
    check(of_list(3, {error("NOSCRIPT no", 0)}), {"NOSCRIPT no", "NOSCRIPT no", "NOSCRIPT no"});
}

BOOST_AUTO_TEST_CASE(an_error_of_all_is_told_from_one_within_a_list)
{
    std::vector<bool> told;
    const auto tell = [&told](const answer& said) { told.push_back(said.of_all); };
    const auto read_list = [&tell](const reply& parts) {
        detail::answer_reader reader;
        reader.begin(2, true);
        for (const part& part : parts)
            reader.read(part, tell);
        reader.end(tell);
    };
    read_list({error("NOPERM no", 0)});
    read_list({list(2, 0), error("NOPERM no", 1), number(1, 1)});
    BOOST_TEST((told == std::vector<bool>{true, true, false, false}));
}

BOOST_AUTO_TEST_CASE(a_list_that_is_too_short_answers_the_first_questions_only)
{
    check(of_list(3, {list(1, 0), number(1, 1)}), {"1", "other", "other"});
    check(of_list(2, {list(0, 0)}), {"other", "other"});
}

BOOST_AUTO_TEST_CASE(what_a_list_has_too_much_is_ignored)
{
    check(of_list(1, {list(3, 0), number(1, 1), number(2, 1), number(3, 1)}), {"1"});
}

BOOST_AUTO_TEST_CASE(what_comes_in_place_of_a_list_answers_nothing)
{
    check(of_list(2, {number(1, 0)}), {"other", "other"});
    check(of_list(2, {{.kind = type::simple_string, .value = "OK"}}), {"other", "other"});
    check(of_list(2, {{.kind = type::null, .value = {}}}), {"other", "other"});
    check(of_list(2, {}), {"other", "other"});
}

BOOST_AUTO_TEST_CASE(a_list_in_place_of_one_answer_is_no_number)
{
    check(of_one({list(1, 0), number(1, 1)}), {"{1}"});
}

BOOST_AUTO_TEST_CASE(an_answer_may_have_texts)
{
    check(of_one({text("a", 0)}), {"a"});
    check(of_one({list(3, 0), text("a", 1), number(7, 1), text("", 1)}), {"{a 7 }"});
    check(of_list(2, {list(2, 0), text("a", 1), list(1, 1), text("b", 2)}), {"a", "{b}"});
}

BOOST_AUTO_TEST_CASE(a_text_has_a_bound)
{
    const std::string longest(answer::max_text, 'x');
    check(of_one({text(longest, 0)}), {longest});
    check(of_one({text(longest + 'x', 0)}), {"other"});
    check(of_one({list(1, 0), text(longest + 'x', 1)}), {"other"});
}

BOOST_AUTO_TEST_CASE(an_element_is_a_number_or_a_text)
{
    answer said;
    const auto tell = [&said](const answer& told) { said = told; };
    detail::answer_reader reader;
    reader.begin(1, false);
    for (const part& each : {list(2, 0), number(7, 1), text("7", 1)})
        reader.read(each, tell);
    reader.end(tell);
    BOOST_TEST((said.number(0) == 7 && !said.text(0)));
    BOOST_TEST((said.text(1) == "7" && !said.number(1)));
    BOOST_TEST((!said.number(2) && !said.text(2)));
}

BOOST_AUTO_TEST_CASE(an_error_is_known_by_its_first_word)
{
    const auto is_noscript = [](answer::kind what, const char* words) {
        answer said{.what = what, .count = 1};
        said.elements[0] = words;
        return said.is_error("NOSCRIPT");
    };
    BOOST_TEST(is_noscript(answer::kind::error, "NOSCRIPT No matching script. Please use EVAL."));
    BOOST_TEST(!is_noscript(answer::kind::error, "ERR NOSCRIPT"));
    BOOST_TEST(!is_noscript(answer::kind::error, ""));
    BOOST_TEST(!is_noscript(answer::kind::scalar, "NOSCRIPT"));
}

BOOST_AUTO_TEST_CASE(what_is_no_short_list_is_told_as_something_else)
{
    const reply too_long{
        list(1, 0),
        list(7, 1),
        number(0, 2),
        number(1, 2),
        number(2, 2),
        number(3, 2),
        number(4, 2),
        number(5, 2),
        number(6, 2)
    };
    const reply too_deep{list(1, 0), list(1, 1), list(1, 2), number(1, 3)};
    const reply of_nonsense{
        list(1, 0), list(1, 1), {.kind = type::boolean, .depth = 2, .value = "t"}
    };
    const reply of_nothing{list(1, 0), list(1, 1), {.kind = type::null, .depth = 2, .value = {}}};
    for (const reply& each : {too_long, too_deep, of_nonsense, of_nothing})
        check(of_list(1, each), {"other"});
}

BOOST_AUTO_TEST_CASE(one_reply_leaves_nothing_to_the_next)
{
    answers told;
    const auto tell = [&told](const answer& said) { told.push_back(name(said)); };
    detail::answer_reader reader;
    reader.begin(1, true);
    reader.read(list(2, 0), tell);
    reader.read(number(1, 1), tell);
    reader.read(number(2, 1), tell);
    reader.end(tell);
    reader.begin(1, true);
    reader.end(tell);
    check(told, {"1", "other"});
}

BOOST_AUTO_TEST_SUITE_END()
