// What a program gets that this process executes.

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "support/connection_fixture.hpp"
#include "support/contains.hpp"

BOOST_AUTO_TEST_SUITE(test_connection)

using namespace redlock;
using namespace redlock::test;

namespace {

using asio::ip::tcp;

/// What the files of a program are that this process executes now.
std::string files_of_a_child()
{
    std::string all;
    const auto close = [](std::FILE* file) { ::pclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> output(
        ::popen("ls -l /proc/self/fd", "r"), close
    );
    std::array<char, 256> part;
    while (std::fgets(part.data(), part.size(), output.get()))
        all += part.data();
    return all;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_program_that_is_executed_gets_no_connection, connection_fixture)
{
    acceptor.close();  // Those of the test are no concern.
    const std::string before = files_of_a_child();
    acceptor = tcp::acceptor(server, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    node.port = acceptor.local_endpoint().port();
    connect_and_accept();
    peer.close();
    acceptor.close();
    const std::string after = files_of_a_child();

    const auto sockets = [](std::string_view list) {
        std::size_t count = 0;
        for (auto at = list.find("socket:"); at != list.npos; at = list.find("socket:", at + 1))
            ++count;
        return count;
    };
    BOOST_TEST_REQUIRE(contains(before, " 1 ->"));
    BOOST_TEST(sockets(after) == sockets(before));
}

BOOST_AUTO_TEST_SUITE_END()
