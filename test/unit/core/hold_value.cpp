#include "core/hold_value.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>

BOOST_AUTO_TEST_SUITE(test_hold_value)

using namespace redlock;
using core::hold_value;
using core::read_hold_value;

BOOST_AUTO_TEST_CASE(a_value_of_guarded_mode_has_all_parts)
{
    const hold_value read =
        read_hold_value("0af1 1790000000000001 1f 0 1790000000000002 a note, long");
    BOOST_TEST(read.id == "0af1");
    BOOST_TEST(read.token == fencing_token::from_value(1'790'000'000'000'001));
    BOOST_TEST(read.stamp == 1'790'000'000'000'002u);
    BOOST_TEST(read.note.text() == "a note, long");
}

BOOST_AUTO_TEST_CASE(a_note_may_be_empty_and_have_any_bytes)
{
    BOOST_TEST(read_hold_value("a 1 - 0 2 ").note.empty());
    BOOST_TEST(read_hold_value("a 1 - 0 2 ").token.value() == 1u);
    const std::string odd("\0\r\n \xff", 5);
    BOOST_TEST(read_hold_value("a 1 - 0 2 " + odd).note.text() == odd);
}

BOOST_AUTO_TEST_CASE(what_is_kept_has_the_token_in_its_id)
{
    const hold_value read = read_hold_value("kept 7 1f 0 9 a note");
    BOOST_TEST(read.kept);
    BOOST_TEST(read.id == "kept 7");
    BOOST_TEST(read.token.value() == 7u);
    BOOST_TEST(read.note.text() == "a note");
    BOOST_TEST(!read_hold_value("0af1 7 1f 0 9 kept").kept);
    BOOST_TEST(!read_hold_value("kept").kept);
}

BOOST_AUTO_TEST_CASE(anything_else_is_an_id)
{
    for (const std::string& text : {
             std::string(),
             std::string("0af1"),
             std::string("0af1 "),
             std::string("a host, 7"),
             std::string("a 1 - 0 2"),       // No blank behind the stamp.
             std::string("a 0 - 0 2 note"),  // No token is zero.
             std::string("a 1x - 0 2 note"),
             std::string("a -1 - 0 2 note"),
             std::string("a 1 - 0 x note"),
             std::string("a 9007199254740992 - 0 2 note"),  // Beyond the numbers of scripts.
             std::string("a 99999999999999999999 - 0 2 note"),
             "a 1 - 0 2 " + std::string(121, 'x'),
         })
    {
        const hold_value read = read_hold_value(text);
        BOOST_TEST(read.id == text);
        BOOST_TEST(!read.token);
        BOOST_TEST(read.note.empty());
    }
}

BOOST_AUTO_TEST_SUITE_END()
