#ifndef REDLOCK_EXAMPLES_FENCING_MARIADB_STOCK_HPP
#define REDLOCK_EXAMPLES_FENCING_MARIADB_STOCK_HPP

#include <redlock/fencing.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace recipes {

/// Where the database is: on this machine, for it is reached by the server's unix socket.
struct mariadb_address
{
    std::string socket;
    std::string database = "test";
    std::string user = "root";
    std::string password{};
};

/// What an access throws to an item that has no row.
class no_such_item : public std::runtime_error
{
public:
    no_such_item() : std::runtime_error("there is no such item") {}
};

/** How much there is of each item, in a MariaDB table that is fenced row by row.

    The operations with a token throw `stale_token` if the row refuses it, and `no_such_item` if
    there is none. Each is one transaction; one that throws is rolled back. There is no limit of
    time: cancel them. The object must outlive its operations.
*/
class mariadb_stock
{
public:
    /// Connects in the background, when an operation needs a connection.
    mariadb_stock(boost::asio::any_io_executor executor, mariadb_address address);
    mariadb_stock(const mariadb_stock&) = delete;
    mariadb_stock& operator=(const mariadb_stock&) = delete;

    /// Disconnects. The executor has handlers of the connections to run before that is done.
    ~mariadb_stock();

    /// Makes the table, if there is none.
    boost::asio::awaitable<void> create();

    /// Makes the row, if there is none. A row that is not there cannot be fenced.
    boost::asio::awaitable<void> add(std::int64_t item, std::int64_t amount);

    boost::asio::awaitable<std::int64_t> read(std::int64_t item, redlock::fencing_token token);
    boost::asio::awaitable<void> write(
        std::int64_t item,
        redlock::fencing_token token,
        std::int64_t amount
    );

    /// Returns the new amount for the old one. The row is locked meanwhile.
    using change = std::function<boost::asio::awaitable<std::int64_t>(std::int64_t)>;

    /// Reads and writes in one transaction.
    boost::asio::awaitable<void> update(
        std::int64_t item,
        redlock::fencing_token token,
        change next
    );

    /// Reads without a token. For a report, not for anything that is written back.
    boost::asio::awaitable<std::int64_t> peek(std::int64_t item);

private:
    struct connections;

    std::shared_ptr<connections> connections_;
};

}  // namespace recipes

#endif
