#include <redlock/detail/lender.hpp>

#include <boost/asio/io_context.hpp>

namespace redlock::detail {

namespace asio = boost::asio;

lender::lender() : own_(std::make_shared<asio::io_context>())
{
    executor_ = static_cast<asio::io_context&>(*own_).get_executor();
}

void lender::run(asio::execution_context& own)
{
    static_cast<asio::io_context&>(own).poll();
}

}  // namespace redlock::detail
