#include <redlock/detail/lease_executor.hpp>

#include <boost/asio/io_context.hpp>

namespace redlock::detail {

namespace asio = boost::asio;

lease_executor::lease_executor() : own_(std::make_shared<asio::io_context>())
{
    executor_ = static_cast<asio::io_context&>(*own_).get_executor();
}

void lease_executor::run(asio::execution_context& own)
{
    static_cast<asio::io_context&>(own).poll();
}

}  // namespace redlock::detail
