#include "wire/tls_connection.hpp"

#include "wire/socket_connection.hpp"
#include "wire/tls_session.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>

namespace redlock::detail {

namespace {

class tls_transport
{
public:
    static constexpr bool is_plain = false;

    tls_transport(
        const strand_type& strand,
        std::shared_ptr<tls_context> context,
        const node_config& config
    )
        : session_(std::move(context), config), stream_(strand, session_.context())
    {
    }

    [[nodiscard]] platform::stream_socket& socket() noexcept { return stream_.next_layer(); }
    [[nodiscard]] auto& stream() noexcept { return stream_; }

    /// @return False if the host's name isn't valid. Then `done` isn't called.
    template <class Handler>
    [[nodiscard]] bool shake_hands(Handler done)
    {
        if (!session_.set_host(*stream_.native_handle()))
            return false;
        stream_.set_verify_callback([this](bool fine, asio::ssl::verify_context& found) {
            return session_.on_verified(fine, *found.native_handle());
        });
        stream_.async_handshake(asio::ssl::stream_base::client, std::move(done));
        return true;
    }

    /// What is wrong with the server's certificate.
    [[nodiscard]] std::string objection() const { return session_.objection(); }

private:
    tls_session session_;
    asio::ssl::stream<platform::stream_socket> stream_;
};

}  // namespace

std::unique_ptr<connection> make_tls_connection(
    const ground& on,
    std::shared_ptr<tls_context> tls,
    const node_config& config,
    std::shared_ptr<name_lookup> names
)
{
    return std::make_unique<socket_connection<tls_transport>>(
        on, config, std::move(names), std::move(tls), config
    );
}

bool looks_like_no_tls(const error_code& why)
{
    if (why == asio::error::timed_out || why == asio::ssl::error::stream_truncated)
        return true;
    return why.category() == asio::error::get_ssl_category() &&
           ERR_GET_REASON(static_cast<unsigned long>(why.value())) !=
               SSL_R_CERTIFICATE_VERIFY_FAILED;
}

}  // namespace redlock::detail
