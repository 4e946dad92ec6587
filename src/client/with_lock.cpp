#include <redlock/with_lock.hpp>

#include "client/client_impl.hpp"
#include "client/hold.hpp"
#include "core/one_line.hpp"

#include <boost/asio/strand.hpp>

#include <utility>

namespace redlock::detail {

namespace {

/// Says what an error is about: "orders:42 (need 2 of 3: ...): another owner holds the resource".
boost::system::system_error error_about(
    error_code why,
    std::string_view resource,
    const std::string& report
)
{
    std::string about(resource);
    if (!report.empty())
        about += " (" + report + ")";
    return {why, core::on_one_line(std::move(about))};
}

}  // namespace

asio::any_io_executor make_serial(asio::any_io_executor executor)
{
    return asio::make_strand(executor);
}

boost::system::system_error not_acquired(
    error_code why,
    std::string_view resource,
    const diagnostics& report
)
{
    return error_about(why, resource, to_string(report));
}

boost::system::system_error lock_lost(error_code why, std::string_view resource, const lease& held)
{
    const error_code last = held.last_extension();
    return error_about(why, resource, last ? "last extension: " + last.message() : std::string());
}

/// Attends to a lease and knows the function that runs under it.
struct attended_body
{
    attended_body(std::shared_ptr<share> held, const strand_type& strand)
        : given(held), entry(held->held()->client()->under_lock, held->held()->resource(), strand)
    {
    }

    share::attention given;
    bodies::entry entry;
};

std::shared_ptr<const void> attend_body(const lease& held, const asio::any_io_executor& serial)
{
    const auto* const strand = serial.target<strand_type>();
    return std::make_shared<attended_body>(share::of(held), *strand);
}

void keep_nothing(const lease& held) noexcept
{
    if (const auto& given = share::of(held))
        given->held()->state()->keep_nothing();
}

std::shared_ptr<share> share_of(const lease& held) noexcept
{
    return share::of(held);
}

}  // namespace redlock::detail
