#ifndef REDLOCK_EXAMPLES_STOCK_SERVICE_SELLER_HPP
#define REDLOCK_EXAMPLES_STOCK_SERVICE_SELLER_HPP

#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/error.hpp>

#include "fencing/mariadb_stock.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace stock_service {

enum class locking : bool
{
    off,  ///< For the demonstration only: sells more than there is.
    on,
};

struct seller_options
{
    locking lock = locking::on;
    std::chrono::milliseconds ttl{10'000};            ///< Of the lease.
    std::chrono::milliseconds wait{2'000};            ///< How long to try to get it.
    std::chrono::milliseconds database_limit{3'000};  ///< For each transaction.
    std::chrono::milliseconds compute{0};             ///< Stands for work between read and write.
};

/// The outcome of a sale.
struct sale
{
    bool sold;
    std::int64_t left;
};

/// The lock could not be acquired. The text is the library's.
class not_locked : public std::runtime_error
{
public:
    not_locked(redlock::error_code code, const redlock::diagnostics& report)
        : std::runtime_error(code.message()), nodes_(to_string(report))
    {
    }

    /// What each node said, in one line.
    [[nodiscard]] const std::string& nodes() const noexcept { return nodes_; }

private:
    std::string nodes_;
};

/// The database did not confirm the deduction: it may have been made or not.
class unconfirmed : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/// Sells units of an item, under the item's lock.
class seller
{
public:
    /// @param locks, stock Must outlive the object.
    seller(redlock::client& locks, recipes::mariadb_stock& stock, const seller_options& how)
        : locks_(locks), stock_(stock), how_(how)
    {
    }

    /// Deducts `quantity`, or nothing. Throws `not_locked`, `unconfirmed` or what the table throws.
    boost::asio::awaitable<sale> sell(std::int64_t item, std::int64_t quantity);

    /// How much there is, for a report. Nothing is computed from it, so it needs no lock.
    boost::asio::awaitable<std::int64_t> left(std::int64_t item);

private:
    using token = redlock::fencing_token;
    using work = std::function<boost::asio::awaitable<sale>(token)>;

    boost::asio::awaitable<sale> under_lock(std::string resource, work body);
    boost::asio::awaitable<sale> deduct(std::int64_t item, std::int64_t quantity, token fence);
    boost::asio::awaitable<void> write(std::int64_t item, token fence, std::int64_t amount);

    redlock::client& locks_;
    recipes::mariadb_stock& stock_;
    seller_options how_;
};

}  // namespace stock_service

#endif
