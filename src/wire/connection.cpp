#include "wire/connection.hpp"

#include "wire/resp.hpp"
#include "wire/socket_connection.hpp"
#include "wire/tls_connection.hpp"

#include <boost/asio/error.hpp>

#include <utility>

namespace redlock::detail {

namespace {

/// TCP or a Unix socket, without TLS.
class plain_transport
{
public:
    static constexpr bool is_plain = true;

    explicit plain_transport(const strand_type& strand) : socket_(strand) {}

    [[nodiscard]] platform::stream_socket& socket() noexcept { return socket_; }
    [[nodiscard]] platform::stream_socket& stream() noexcept { return socket_; }

    [[nodiscard]] std::string objection() const { return {}; }

private:
    platform::stream_socket socket_;
};

}  // namespace

std::unique_ptr<connection> make_connection(
    const ground& on,
    std::shared_ptr<tls_context> tls,
    const node_config& config,
    std::shared_ptr<name_lookup> names
)
{
    if (tls)
        return make_tls_connection(on, std::move(tls), config, std::move(names));
    return std::make_unique<socket_connection<plain_transport>>(on, config, std::move(names));
}

std::string guess_about_tls(const node_config& config, const error_code& why)
{
    namespace error = boost::asio::error;

    const std::string in_its_url = config.sentinel ? "+sentinel:// in its URL" : ":// in its URL";
    if (config.tls && looks_like_no_tls(why))
        return "; if the server doesn't speak TLS there, use redis" + in_its_url;
    const bool odd = why.category() == resp::error_category();
    const bool hung_up =
        why == error::eof || why == error::connection_reset || why == error::connection_aborted;
    if (!config.tls && config.unix_socket.empty() && (odd || hung_up))
        return "; if the server speaks TLS there, use rediss" + in_its_url;
    return {};
}

}  // namespace redlock::detail
