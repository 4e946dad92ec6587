#ifndef REDLOCK_TEST_SUPPORT_CONNECTION_FIXTURE_HPP
#define REDLOCK_TEST_SUPPORT_CONNECTION_FIXTURE_HPP

#include "wire/connection.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::test {

namespace asio = boost::asio;

/// Far more than anything takes. What does not happen must fail and not hang.
inline constexpr std::chrono::seconds patience{20};

/// Keeps what a connection tells, and uses as many bytes as it is told to.
struct owner_of_test final : detail::connection::owner
{
    void on_open() override { open = true; }

    std::size_t on_input(std::string_view input) override
    {
        inputs.emplace_back(input);
        return use(input);
    }

    void on_closed(error_code why) override
    {
        ++closed;
        code = why;
    }

    std::unique_ptr<detail::connection> wire;
    std::function<std::size_t(std::string_view)> use = [](std::string_view all) {
        return all.size();
    };
    bool open = false;
    std::vector<std::string> inputs;
    int closed = 0;
    error_code code;
};

struct connection_fixture
{
    connection_fixture()
    {
        node.host = "127.0.0.1";
        node.port = acceptor.local_endpoint().port();
    }

    void connect()
    {
        owner->wire =
            detail::make_connection(on, nullptr, node, std::make_shared<detail::name_lookup>(node));
        owner->wire->open(owner);
    }

    void connect_and_accept()
    {
        connect();
        accept(acceptor, peer);
        run_until([this] { return owner->open; });
    }

    /// Accepts what the connection, on its own context, is about to connect to.
    template <class Acceptor, class Socket>
    void accept(Acceptor& from, Socket& to)
    {
        from.non_blocking(true);
        run_until([&] {
            error_code ec;
            from.accept(to, ec);
            return !ec;
        });
    }

    template <class Condition>
    void run_until(Condition met)
    {
        const auto limit = std::chrono::steady_clock::now() + patience;
        bool done = met();
        while (!done && std::chrono::steady_clock::now() < limit)
        {
            context->restart();
            context->run_one_for(std::chrono::milliseconds(10));
            done = met();
        }
        BOOST_TEST_REQUIRE(done);
    }

    void run_until_closed()
    {
        run_until([this] { return owner->closed > 0; });
        context->restart();
        context->poll();
        BOOST_TEST(owner->closed == 1);
    }

    [[nodiscard]] std::string received() const
    {
        std::string all;
        for (const std::string& each : owner->inputs)
            all += each;
        return all;
    }

    asio::io_context server;
    asio::ip::tcp::acceptor acceptor{
        server,
        asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0)
    };
    asio::ip::tcp::socket peer{server};
    std::unique_ptr<asio::io_context> context = std::make_unique<asio::io_context>();
    detail::ground on = detail::make_ground(context->get_executor());
    node_config node;
    std::shared_ptr<owner_of_test> owner = std::make_shared<owner_of_test>();
};

}  // namespace redlock::test

#endif
