#include <redlock/note.hpp>

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "support/contains.hpp"

BOOST_AUTO_TEST_SUITE(test_note)

using namespace redlock;

static_assert(std::is_trivially_copyable_v<note>);

BOOST_AUTO_TEST_CASE(a_note_is_empty_at_first)
{
    BOOST_TEST(note().empty());
    BOOST_TEST(note().text().empty());
    BOOST_TEST((note("") == note()));
}

BOOST_AUTO_TEST_CASE(a_note_keeps_its_own_copy_of_any_bytes)
{
    std::string text(120, '\0');
    for (std::size_t i = 0; i < text.size(); ++i)
        text[i] = static_cast<char>(i * 2);
    const note made = text;
    const std::string before = text;
    text.assign(120, 'x');
    BOOST_TEST(made.text() == before);
    BOOST_TEST(!made.empty());
}

BOOST_AUTO_TEST_CASE(a_longer_note_is_refused_with_its_length)
{
    BOOST_CHECK_EXCEPTION(
        note(std::string(121, 'x')),
        std::invalid_argument,
        [](const auto& refused) {
            return std::string(refused.what()) ==
                   "redlock: note has 121 bytes, must have at most 120";
        }
    );
}

BOOST_AUTO_TEST_CASE(a_note_prints_its_text)
{
    std::ostringstream out;
    out << note("host:7");
    BOOST_TEST(out.str() == "host:7");
}

BOOST_AUTO_TEST_CASE(notes_are_equal_if_their_texts_are)
{
    BOOST_TEST((note("a") == note(std::string("a"))));
    BOOST_TEST((note("a") != note("b")));
    BOOST_TEST((note("a") != note(std::string("a\0", 2))));
}

BOOST_AUTO_TEST_SUITE_END()
