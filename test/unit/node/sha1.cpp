#include "node/sha1.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

BOOST_AUTO_TEST_SUITE(test_sha1)

using redlock::detail::hex_sha1;

// The examples of RFC 3174, and the empty text.
BOOST_AUTO_TEST_CASE(a_text_has_the_sha1_that_the_standard_gives_it)
{
    BOOST_TEST(hex_sha1("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    BOOST_TEST(hex_sha1("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
    BOOST_TEST(
        hex_sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
    );
    BOOST_TEST(hex_sha1(std::string(1'000'000, 'a')) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

BOOST_AUTO_TEST_SUITE_END()
