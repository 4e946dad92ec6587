#ifndef REDLOCK_EXAMPLES_FENCING_MARIADB_STOCK_HPP
#define REDLOCK_EXAMPLES_FENCING_MARIADB_STOCK_HPP

#include <redlock/fencing.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace recipes {

/** How much of an item there is, in a row of a MariaDB table that is fenced row by row.

    The operations with a token throw `stale_token` if the row refuses it. Each is one transaction;
    one that throws is rolled back. The object must outlive its operations.
*/
class mariadb_stock
{
public:
    /** Connects in the background, when an operation needs a connection.

        @param socket Path of the server's unix socket.
        @param database Has the table, see `create`.
        @param item The row.
    */
    mariadb_stock(
        boost::asio::any_io_executor executor,
        std::string socket,
        std::string database,
        std::int64_t item
    );
    mariadb_stock(const mariadb_stock&) = delete;
    mariadb_stock& operator=(const mariadb_stock&) = delete;

    /// Disconnects. The executor has handlers of the connections to run before that is done.
    ~mariadb_stock();

    /// Makes the table, if there is none, and the row. A row that is not there cannot be fenced.
    boost::asio::awaitable<void> create();

    boost::asio::awaitable<std::int64_t> read(redlock::fencing_token token);
    boost::asio::awaitable<void> write(redlock::fencing_token token, std::int64_t amount);

    /// Returns the new amount for the old one. The row is locked meanwhile.
    using change = std::function<boost::asio::awaitable<std::int64_t>(std::int64_t)>;

    /// Reads and writes in one transaction.
    boost::asio::awaitable<void> update(redlock::fencing_token token, change next);

    /// Reads without a token. For a report, not for anything that is written back.
    boost::asio::awaitable<std::int64_t> peek();

private:
    struct connections;

    std::shared_ptr<connections> connections_;
    std::int64_t item_;
};

}  // namespace recipes

#endif
