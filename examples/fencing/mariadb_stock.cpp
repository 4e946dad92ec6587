#include "fencing/mariadb_stock.hpp"

#include "fencing/stale_token.hpp"

#include <boost/asio/consign.hpp>
#include <boost/asio/detached.hpp>
#include <boost/mysql/any_connection.hpp>
#include <boost/mysql/connection_pool.hpp>
#include <boost/mysql/pool_params.hpp>
#include <boost/mysql/results.hpp>
#include <boost/mysql/with_params.hpp>

#include <chrono>
#include <utility>

namespace asio = boost::asio;
namespace mysql = boost::mysql;

namespace recipes {

struct mariadb_stock::connections
{
    mysql::connection_pool pool;
};

namespace {

mysql::pool_params pool_params(mariadb_address address)
{
    mysql::pool_params params;
    params.server_address.emplace_unix_path(std::move(address.socket));
    params.username = std::move(address.user);
    params.password = std::move(address.password);
    params.database = std::move(address.database);
    params.max_size = 32;  // A few programs together stay below the 151 that a server takes.
    params.retry_interval = std::chrono::seconds(1);
    return params;
}

// snippet: mariadb_table
constexpr const char* create_table =
    "CREATE TABLE IF NOT EXISTS stock ("
    " item BIGINT PRIMARY KEY,"
    " amount BIGINT NOT NULL DEFAULT 0,"
    " fence BIGINT UNSIGNED NOT NULL DEFAULT 0"
    ") ENGINE=InnoDB";  // It has transactions and row locks.
// end snippet

// snippet: mariadb_begin
// Begins a transaction and records the token before it reads the amount.
asio::awaitable<std::int64_t> begin_fenced(
    mysql::any_connection& db,
    std::int64_t item,
    redlock::fencing_token token
)
{
    if (!token)  // A row that has seen none would accept it.
        throw stale_token({});

    // Locks the row until the end of the transaction. A concurrent one waits here.
    mysql::results result;
    co_await db.async_execute("START TRANSACTION", result);
    co_await db.async_execute(
        mysql::with_params(
            "UPDATE stock SET fence = {0} WHERE item = {1} AND fence <= {0}", token.value(), item
        ),
        result
    );

    // affected_rows() doesn't count a second access with the same token, so read the token back.
    // FOR UPDATE reads the locked row, even if the transaction has an older snapshot.
    co_await db.async_execute(
        mysql::with_params("SELECT fence, amount FROM stock WHERE item = {} FOR UPDATE", item),
        result
    );
    if (result.rows().empty())
        throw no_such_item();
    const mysql::row_view row = result.rows().front();
    const auto highest = redlock::fencing_token::from_value(row.at(0).as_uint64());
    if (highest != token)
        throw stale_token(highest);
    co_return row.at(1).as_int64();
}
// end snippet

}  // namespace

mariadb_stock::mariadb_stock(asio::any_io_executor executor, mariadb_address address)
    : connections_(std::make_shared<connections>(
          mysql::connection_pool(std::move(executor), pool_params(std::move(address)))
      ))
{
    connections_->pool.async_run(asio::consign(asio::detached, connections_));
}

mariadb_stock::~mariadb_stock()
{
    connections_->pool.cancel();
}

asio::awaitable<void> mariadb_stock::create()
{
    mysql::pooled_connection db = co_await connections_->pool.async_get_connection();
    mysql::results result;
    co_await db->async_execute(create_table, result);
}

asio::awaitable<void> mariadb_stock::add(std::int64_t item, std::int64_t amount)
{
    mysql::pooled_connection db = co_await connections_->pool.async_get_connection();
    mysql::results result;
    co_await db->async_execute(
        mysql::with_params("INSERT IGNORE INTO stock (item, amount) VALUES ({}, {})", item, amount),
        result
    );
}

asio::awaitable<std::int64_t> mariadb_stock::read(std::int64_t item, redlock::fencing_token token)
{
    mysql::pooled_connection db = co_await connections_->pool.async_get_connection();
    const std::int64_t amount = co_await begin_fenced(db.get(), item, token);
    mysql::results result;
    co_await db->async_execute("COMMIT", result);  // Only now the token is recorded.
    co_return amount;
}

asio::awaitable<void> mariadb_stock::write(
    std::int64_t item,
    redlock::fencing_token token,
    std::int64_t amount
)
{
    co_await update(item, token, [amount](std::int64_t) -> asio::awaitable<std::int64_t> {
        co_return amount;
    });
}

// snippet: mariadb_stock
// An exception leaves the transaction open. The pool ends it: it resets returned connections.
asio::awaitable<void> mariadb_stock::update(
    std::int64_t item,
    redlock::fencing_token token,
    change next
)
{
    mysql::pooled_connection db = co_await connections_->pool.async_get_connection();
    const std::int64_t amount = co_await next(co_await begin_fenced(db.get(), item, token));
    mysql::results result;
    co_await db->async_execute(
        mysql::with_params("UPDATE stock SET amount = {} WHERE item = {}", amount, item), result
    );
    co_await db->async_execute("COMMIT", result);
}
// end snippet

asio::awaitable<std::int64_t> mariadb_stock::peek(std::int64_t item)
{
    mysql::pooled_connection db = co_await connections_->pool.async_get_connection();
    mysql::results result;
    co_await db->async_execute(
        mysql::with_params("SELECT amount FROM stock WHERE item = {}", item), result
    );
    if (result.rows().empty())
        throw no_such_item();
    co_return result.rows().front().at(0).as_int64();
}

}  // namespace recipes
