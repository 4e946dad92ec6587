#include "core/one_line.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

BOOST_AUTO_TEST_SUITE(test_one_line)

using namespace redlock;

BOOST_AUTO_TEST_CASE(control_characters_become_spaces)
{
    using namespace std::string_literals;

    BOOST_TEST(core::on_one_line("ERR no such thing") == "ERR no such thing");
    BOOST_TEST(core::on_one_line("a\r\nnode b is ready") == "a  node b is ready");
    BOOST_TEST(core::on_one_line("\x1b[0m\x7f\0z"s) == " [0m  z");
    BOOST_TEST(core::on_one_line("caf\xc3\xa9") == "caf\xc3\xa9");
    BOOST_TEST(core::on_one_line("").empty());
}

BOOST_AUTO_TEST_CASE(what_is_too_long_is_cut)
{
    const std::string just(core::max_line, 'x');

    BOOST_TEST(core::on_one_line(just) == just);
    BOOST_TEST(core::on_one_line(just + "y") == just + "...");
}

BOOST_AUTO_TEST_CASE(of_an_error_the_beginning_is_kept)
{
    const std::string just(core::max_error, 'x');

    BOOST_TEST(core::kept_error(just) == just);
    BOOST_TEST(core::kept_error(just + "y") == just + "...");
    BOOST_TEST(core::kept_error("").empty());
}

BOOST_AUTO_TEST_SUITE_END()
