#include "node/refused_verbs.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <string>

BOOST_AUTO_TEST_SUITE(test_refused_verbs)

using namespace redlock;

namespace {

using namespace std::chrono_literals;
using detail::refused_verbs;
using detail::verb;

constexpr time_point start{1h};
constexpr auto quiet = refused_verbs::quiet;

/// What was told, "-" for nothing.
std::string change_of(refused_verbs& of)
{
    return of.take_change().value_or("-");
}

struct refusing
{
    refusing()
    {
        subject.on_error(verb::acquire, "OOM no memory", start);
        BOOST_TEST_REQUIRE(change_of(subject) == "OOM no memory");
    }

    refused_verbs subject;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(nothing_is_refused_at_first, refusing)
{
    refused_verbs fresh;
    fresh.on_answer(verb::acquire, start);
    BOOST_TEST(!fresh.any());
    BOOST_TEST(change_of(fresh) == "-");
}

BOOST_FIXTURE_TEST_CASE(a_refusal_is_told_once, refusing)
{
    subject.on_error(verb::acquire, "OOM no memory", start + 1s);
    subject.on_error(verb::acquire, "OOM no memory for another key", start + 2s);
    subject.on_error(verb::extend, "OOM no memory", start + 2s);
    BOOST_TEST(subject.any());
    BOOST_TEST(change_of(subject) == "-");
}

BOOST_FIXTURE_TEST_CASE(a_refusal_ends_with_an_answer_after_a_while_without_errors, refusing)
{
    subject.on_answer(verb::acquire, start + quiet - 1ms);
    BOOST_TEST(change_of(subject) == "-");
    subject.on_error(verb::acquire, "OOM no memory", start + 2s);
    subject.on_answer(verb::acquire, start + 2s + quiet - 1ms);
    BOOST_TEST(change_of(subject) == "-");
    subject.on_answer(verb::acquire, start + 2s + quiet);
    BOOST_TEST(change_of(subject).empty());
    BOOST_TEST(!subject.any());
}

BOOST_FIXTURE_TEST_CASE(answers_to_another_verb_do_not_end_a_refusal, refusing)
{
    subject.on_answer(verb::release, start + 1h);
    BOOST_TEST(change_of(subject) == "-");
}

BOOST_FIXTURE_TEST_CASE(a_refusal_ends_when_no_verb_is_refused, refusing)
{
    subject.on_error(verb::extend, "OOM no memory", start);
    subject.on_answer(verb::acquire, start + quiet);
    BOOST_TEST(change_of(subject) == "-");
    subject.on_answer(verb::extend, start + quiet);
    BOOST_TEST(change_of(subject).empty());
}

BOOST_FIXTURE_TEST_CASE(errors_that_take_turns_are_not_told_each_time, refusing)
{
    for (auto at = start; at < start + 1min; at += 1s)
    {
        subject.on_error(verb::acquire, "NOPERM no", at);
        subject.on_error(verb::acquire, "OOM no memory", at);
        BOOST_TEST(change_of(subject) == "-");
    }
}

BOOST_FIXTURE_TEST_CASE(an_error_of_another_kind_is_told_when_the_first_one_has_passed, refusing)
{
    subject.on_error(verb::acquire, "MISCONF cannot save", start + quiet);
    BOOST_TEST(change_of(subject) == "MISCONF cannot save");
    subject.on_answer(verb::acquire, start + 2 * quiet);
    BOOST_TEST(change_of(subject).empty());
}

BOOST_AUTO_TEST_SUITE_END()
