#include <redlock/detail/deliver.hpp>

#include "node/poster.hpp"

#include <utility>

namespace redlock::detail {

void post(const boost::asio::any_io_executor& executor, std::unique_ptr<posted> what)
{
    poster to(executor);
    to([what = std::move(what)]() mutable { what.release()->call(); });
}

}  // namespace redlock::detail
