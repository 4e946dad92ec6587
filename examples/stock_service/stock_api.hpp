#ifndef REDLOCK_EXAMPLES_STOCK_SERVICE_STOCK_API_HPP
#define REDLOCK_EXAMPLES_STOCK_SERVICE_STOCK_API_HPP

#include <redlock/client.hpp>

#include "stock_service/http_server.hpp"
#include "stock_service/seller.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <string_view>

namespace stock_service {

/** The HTTP side of the service: JSON in, JSON out.

    @li `POST /items/<id>/sell` with `{"quantity": 1}` sells.
    @li `GET /items/<id>` returns how much is left.
    @li `GET /healthz` reports whether a quorum of lock nodes is ready, and the counters.

    examples/stock_service/README.md has the replies.
*/
class stock_api
{
public:
    /// @param locks, sales Must outlive the object. @param limit For answering one request.
    stock_api(const redlock::client& locks, seller& sales, std::chrono::milliseconds limit)
        : locks_(locks), sales_(sales), limit_(limit)
    {
    }

    /// Answers a request. Throws nothing.
    boost::asio::awaitable<response> handle(request question);

    /// `{"error": ..., "message": ...}`, for what went wrong before `handle`.
    [[nodiscard]] static response refuse(boost::beast::http::status status, const char* message);

private:
    boost::asio::awaitable<response> route(const request& question);
    boost::asio::awaitable<response> sell(std::int64_t item, std::int64_t quantity);
    boost::asio::awaitable<response> show(std::int64_t item);
    [[nodiscard]] response health() const;
    [[nodiscard]] response explain(const std::exception_ptr& failure);

    struct counters
    {
        std::int64_t sold_units = 0;
        std::int64_t sold_out = 0;
        std::int64_t refused_stale = 0;  ///< Late accesses that the fence kept out.
        std::int64_t not_locked = 0;
    };

    const redlock::client& locks_;
    seller& sales_;
    std::chrono::milliseconds limit_;
    counters counted_;
};

}  // namespace stock_service

#endif
