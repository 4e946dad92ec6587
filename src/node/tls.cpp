#include "node/tls.hpp"

#include "node/resp.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/system/system_error.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>

namespace redlock::detail {

namespace ssl = boost::asio::ssl;

namespace {

void load(ssl::context& to, const node_config& config)
{
    const tls_config& tls = *config.tls;
    if (tls.verify)
    {
        to.set_verify_mode(ssl::verify_peer);
        to.set_verify_callback(ssl::host_name_verification(config.host));
    }
    if (tls.ca_file.empty())
        to.set_default_verify_paths();
    else
        to.load_verify_file(tls.ca_file);
    if (!tls.cert_file.empty())
    {
        to.use_certificate_chain_file(tls.cert_file);
        to.use_private_key_file(tls.key_file, ssl::context::pem);
    }
}

}  // namespace

tls_context make_tls_context(const node_config& config)
{
    tls_context result{ssl::context(ssl::context::tls_client), {}};
    try
    {
        load(result.context, config);
    }
    catch (const boost::system::system_error& error)
    {
        result.failure = "TLS files (ca '" + config.tls->ca_file + "', cert '" +
                         config.tls->cert_file + "', key '" + config.tls->key_file +
                         "'): " + error.what();
    }
    return result;
}

bool is_host_name(const std::string& host)
{
    boost::system::error_code not_an_address;
    boost::asio::ip::make_address(host, not_an_address);
    return not_an_address.failed();
}

std::string guess_about_tls(const node_config& config, const boost::system::error_code& why)
{
    namespace error = boost::asio::error;

    const bool of_tls = why.category() == error::get_ssl_category();
    const bool silent = why == error::timed_out;
    if (config.tls)
    {
        const bool verdict = of_tls && ERR_GET_REASON(static_cast<unsigned long>(why.value())) ==
                                           SSL_R_CERTIFICATE_VERIFY_FAILED;
        if (!verdict && (of_tls || silent || why == ssl::error::stream_truncated))
            return "; if the server speaks no TLS there, use redis:// in its URL";
        return {};
    }
    const bool odd = why.category() == resp::error_category();
    if (config.unix_socket.empty() && (odd || why == error::eof || why == error::connection_reset))
        return "; if the server speaks TLS there, use rediss:// in its URL";
    return {};
}

}  // namespace redlock::detail
