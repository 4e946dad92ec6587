#include "core/silence.hpp"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(test_silence)

using redlock::core::silence;
using finding = redlock::core::silence::finding;

BOOST_AUTO_TEST_CASE(a_peer_that_is_heard_between_looks_is_never_suspected)
{
    silence peer;
    for (int look = 0; look < 3; ++look)
    {
        peer.on_heard();
        BOOST_TEST((peer.look() == finding::none));
    }
}

BOOST_AUTO_TEST_CASE(a_silent_peer_is_suspected_before_it_is_lost)
{
    silence peer;
    BOOST_TEST((peer.look() == finding::suspected));
    BOOST_TEST((peer.look() == finding::lost));
}

BOOST_AUTO_TEST_CASE(a_suspected_peer_that_is_heard_begins_anew)
{
    silence peer;
    (void)peer.look();
    peer.on_heard();
    BOOST_TEST((peer.look() == finding::none));
    BOOST_TEST((peer.look() == finding::suspected));
    BOOST_TEST((peer.look() == finding::lost));
}

BOOST_AUTO_TEST_SUITE_END()
