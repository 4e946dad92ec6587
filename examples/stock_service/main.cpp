// An HTTP service that sells what is in stock. Start as many as you like, see README.md.

#include <redlock/client.hpp>
#include <redlock/config.hpp>

#include "fencing/mariadb_stock.hpp"
#include "stock_service/http_server.hpp"
#include "stock_service/seller.hpp"
#include "stock_service/stock_api.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace stock_service;

struct options
{
    std::string nodes;
    recipes::mariadb_address database;
    seller_options sales;
    std::uint16_t port = 0;
    std::chrono::milliseconds request_limit{15'000};
    std::vector<std::pair<std::int64_t, std::int64_t>> items;
};

void add_ms(CLI::App& app, const std::string& name, std::chrono::milliseconds& to, const char* what)
{
    const auto set = [&to](std::int64_t given) { to = std::chrono::milliseconds(given); };
    app.add_option_function<std::int64_t>(name, set, what)
        ->type_name("MS")
        ->default_str(std::to_string(to.count()))
        ->check(CLI::Range(0, 3'600'000));
}

void add_options(CLI::App& app, options& to)
{
    app.add_option("--nodes", to.nodes, "the lock nodes, URL,URL,...")->required();
    app.add_option("--database-socket", to.database.socket, "unix socket of MariaDB")->required();
    app.add_option("--database", to.database.database, "its name")->capture_default_str();
    app.add_option("--database-user", to.database.user, "its user")->capture_default_str();
    app.add_option("--database-password", to.database.password)->envname("STOCK_DATABASE_PASSWORD");
    app.add_option("--port", to.port, "of 127.0.0.1; 0: any free port")->capture_default_str();
    app.add_option("--item", to.items, "ID AMOUNT to add unless it exists; may be repeated");
    add_ms(app, "--request-limit", to.request_limit, "for answering one request");
    add_ms(app, "--database-limit", to.sales.database_limit, "for each transaction");
    add_ms(app, "--lock-ttl", to.sales.ttl, "of a lease");
    add_ms(app, "--lock-wait", to.sales.wait, "how long to try to get one");

    const std::map<std::string, locking> switches{{"on", locking::on}, {"off", locking::off}};
    app.add_option("--lock", to.sales.lock, "DEMONSTRATION ONLY: off sells more than there is")
        ->transform(CLI::CheckedTransformer(switches))
        ->default_str("on")
        ->group("Demonstration");
    add_ms(app, "--compute", to.sales.compute, "how long to wait between reading and writing");
    app.get_option("--compute")->group("Demonstration");
}

redlock::client_config lock_config(const std::string& nodes)
{
    redlock::client_config config;
    config.nodes = redlock::parse_nodes(nodes);
    config.node_timeout = 500ms;  // Everything may run on one busy machine.
    config.log = [](redlock::log_level, std::string_view line) { std::cerr << line << '\n'; };
    return config;
}

asio::awaitable<void> fill(recipes::mariadb_stock& stock, const options& given)
{
    co_await stock.create();
    for (const auto& [item, amount] : given.items)
        co_await stock.add(item, amount);
}

asio::awaitable<void> live(recipes::mariadb_stock& stock, http_server& server, const options& given)
{
    const auto executor = co_await asio::this_coro::executor;
    auto filled = fill(stock, given);
    // The database may still be starting.
    co_await asio::co_spawn(executor, std::move(filled), asio::cancel_after(30s));
    std::cout << "listening on http://127.0.0.1:" << server.port() << std::endl;
    co_await server.serve();
}

void run(const options& given)
{
    asio::io_context context(1);
    redlock::client locks(context, lock_config(given.nodes));
    locks.async_run(asio::detached);
    std::optional<recipes::mariadb_stock> stock(
        std::in_place, context.get_executor(), given.database
    );
    seller sales(locks, *stock, given.sales);
    stock_api api(locks, sales, given.request_limit);
    const auto handle = [&api](request question) { return api.handle(std::move(question)); };
    http_server server(context.get_executor(), given.port, handle, &stock_api::refuse);

    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&server](const boost::system::error_code& ec, int) {
        if (!ec)
            server.stop();
    });
    std::exception_ptr failure;
    asio::co_spawn(context, live(*stock, server, given), [&](std::exception_ptr thrown) {
        failure = std::move(thrown);
        signals.cancel();
        locks.cancel();
        stock.reset();
    });
    context.run();
    if (failure)
        std::rethrow_exception(failure);
}

}  // namespace

int main(int argc, char** argv)
{
    CLI::App app("Sells what is in stock, over HTTP.", "redlock_stock_service");
    options given;
    try
    {
        add_options(app, given);
        app.parse(argc, argv);
        if (given.sales.lock == locking::off)
            std::cerr << "WARNING: --lock off is for demonstration: more is sold than there is\n";
        run(given);
    }
    catch (const CLI::ParseError& wrong)
    {
        return app.exit(wrong);
    }
    catch (const std::exception& failure)
    {
        std::cerr << "redlock_stock_service: " << failure.what() << '\n';
        return 1;
    }
}
