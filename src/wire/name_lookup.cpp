#include "wire/name_lookup.hpp"

#include "loop/own_thread.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <optional>
#include <system_error>
#include <utility>

namespace redlock::detail {

namespace asio = boost::asio;

namespace {

addresses look_up(const std::string& host, const std::string& port) noexcept
{
    addresses result;
    asio::io_context own;
    asio::ip::tcp::resolver resolver(own);
    for (const auto& each : resolver.resolve(host, port, result.failure))
        result.found.push_back(each.endpoint());
    return result;
}

}  // namespace

name_lookup::name_lookup(const node_config& node)
    : host_(node.host),
      port_(std::to_string(node.port)),
      answer_(std::make_shared<awaited_value<addresses>>())
{
}

void name_lookup::begin(std::function<void()> on_end)
{
    take_answer();  // From a look-up that ended when nobody waited.
    answer_->wait(std::move(on_end));
    if (under_way_)
        return;
    try
    {
        run_on_own_thread([host = host_, port = port_, answer = answer_]() {
            answer->bring(look_up(host, port));
        });
        under_way_ = true;
    }
    catch (const std::system_error& no_thread)
    {
        answer_->bring({{}, {no_thread.code().value(), boost::system::system_category()}});
    }
}

addresses name_lookup::result()
{
    take_answer();
    if (under_way_)
        return {known_, asio::error::host_not_found_try_again};
    return {known_, failure_};
}

void name_lookup::take_answer() noexcept
{
    std::optional<addresses> answer = answer_->take();
    if (!answer)
        return;
    under_way_ = false;
    failure_ = answer->failure;
    // A temporary error doesn't invalidate the earlier answer.
    if (!failure_ || failure_ == asio::error::host_not_found)
        known_ = std::move(answer->found);
}

}  // namespace redlock::detail
