#include "node/vetting/passed_entries.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <string>

BOOST_AUTO_TEST_SUITE(test_passed_entries)

using namespace redlock;

namespace {

/// Notes in what order entries are told.
struct member final : detail::passed_entries::member
{
    explicit member(std::string& to) : told(to) {}

    void on_quorum() override { told += name; }

    std::string& told;
    std::string name;
};

/// Three entries, two of which are a quorum.
struct three_entries
{
    void enter(std::size_t node)
    {
        members[node].name = std::to_string(node);
        subject.enter(node, members[node]);
    }

    detail::passed_entries subject{3};
    std::string told;
    std::array<member, 3> members{member(told), member(told), member(told)};
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_quorum_is_told_to_those_that_passed_before, three_entries)
{
    enter(2);
    BOOST_TEST(!subject.are_quorum());
    BOOST_TEST(told.empty());
    enter(0);
    BOOST_TEST(subject.are_quorum());
    BOOST_TEST(told == "2");
    enter(1);
    BOOST_TEST(told == "2");
}

BOOST_FIXTURE_TEST_CASE(an_entry_that_has_left_does_not_count_and_is_told_nothing, three_entries)
{
    enter(0);
    subject.leave(0, members[0]);
    enter(1);
    BOOST_TEST(!subject.are_quorum());
    enter(2);
    BOOST_TEST(told == "1");
}

BOOST_FIXTURE_TEST_CASE(a_connection_that_ends_late_takes_nothing_from_its_successor, three_entries)
{
    enter(0);
    enter(1);
    subject.leave(1, members[2]);
    BOOST_TEST(subject.are_quorum());
}

BOOST_FIXTURE_TEST_CASE(each_quorum_is_told, three_entries)
{
    enter(0);
    enter(1);
    subject.leave(1, members[1]);
    enter(1);
    BOOST_TEST(told == "00");
}

BOOST_FIXTURE_TEST_CASE(one_of_one_is_a_quorum, three_entries)
{
    detail::passed_entries single(1);
    BOOST_TEST(!single.are_quorum());
    single.enter(0, members[0]);
    BOOST_TEST(single.are_quorum());
}

BOOST_AUTO_TEST_SUITE_END()
