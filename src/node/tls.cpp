#include "node/tls.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/system/system_error.hpp>

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
    if (!config.tls)
        return result;
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

}  // namespace redlock::detail
