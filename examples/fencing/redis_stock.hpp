#ifndef REDLOCK_EXAMPLES_FENCING_REDIS_STOCK_HPP
#define REDLOCK_EXAMPLES_FENCING_REDIS_STOCK_HPP

#include <redlock/fencing.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace recipes {

/** How much of an item there is, in a Redis that stores data and is not one of the lock nodes.

    Both operations throw `stale_token` if the store refuses the token. The object must outlive its
    operations.
*/
class redis_stock
{
public:
    /// Connects to a port of 127.0.0.1, in the background. @param key Where the amount is.
    redis_stock(boost::asio::any_io_executor executor, std::uint16_t port, std::string key);
    redis_stock(const redis_stock&) = delete;
    redis_stock& operator=(const redis_stock&) = delete;

    /// Disconnects. The executor has a handler of the connection to run before that is done.
    ~redis_stock();

    boost::asio::awaitable<std::int64_t> read(redlock::fencing_token token);
    boost::asio::awaitable<void> write(redlock::fencing_token token, std::int64_t amount);

private:
    struct connection;

    boost::asio::awaitable<std::optional<std::string>> run(
        redlock::fencing_token token,
        std::optional<std::string> value
    );

    std::shared_ptr<connection> connection_;
    std::string key_;
};

}  // namespace recipes

#endif
