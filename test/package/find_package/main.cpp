#include <redlock.hpp>

#include <boost/asio/io_context.hpp>

#include <iostream>

// Needs the library, and OpenSSL if that has TLS, when linked, and no Redis when run.
int main()
{
    boost::asio::io_context context;
    redlock::client_config config;
    config.nodes = redlock::parse_nodes("redis://127.0.0.1:1,redis://127.0.0.1:2");
    redlock::client locks(context, config);

    int failures = 0;
    const auto expect = [&](redlock::error_code expected) {
        return [&, expected](redlock::error_code ec) { failures += ec != expected; };
    };
    locks.async_run(expect({}));
    locks.async_run(expect(redlock::error::already_running));
    locks.cancel();
    context.run();

    for (const redlock::node_status& each : locks.nodes())
        std::cout << each.node << ' ' << to_string(each.state) << '\n';
    return failures;
}
