#include "wire/tls_session.hpp"

#include "core/one_line.hpp"

#include <boost/asio/ip/address.hpp>

#include <new>
#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace redlock::detail {

namespace ip = boost::asio::ip;

namespace {

/// How many bytes of the names in a certificate are shown.
constexpr std::size_t max_names = 300;

/// Removes the dot that makes a name absolute, because certificates and SNI have none.
std::string without_root(std::string host)
{
    if (host.size() > 1 && host.ends_with('.'))
        host.pop_back();
    return host;
}

/// Returns what an OpenSSL function prints.
template <class Print>
std::string printed(Print print)
{
    const std::unique_ptr<BIO, decltype(&::BIO_free)> to(::BIO_new(::BIO_s_mem()), ::BIO_free);
    if (!to)
        throw std::bad_alloc();
    print(to.get());
    char* text = nullptr;
    const long size = BIO_get_mem_data(to.get(), &text);
    return {text, static_cast<std::size_t>(size)};
}

/// "'CN=node'", with non-ASCII characters escaped.
std::string quoted(const X509_NAME* name)
{
    const std::string text =
        printed([name](BIO* to) { ::X509_NAME_print_ex(to, name, 0, XN_FLAG_RFC2253); });
    return "'" + text.substr(0, max_names) + "'";
}

std::string subject_of(const X509* certificate)
{
    return quoted(::X509_get_subject_name(certificate));
}

/// "'CN=node' (DNS:a.example, DNS:b.example)"
std::string names_of(const X509* certificate)
{
    const std::string subject = subject_of(certificate);
    const int at = ::X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1);
    if (at < 0)
        return subject;
    const std::string others = printed([certificate, at](BIO* to) {
        ::X509V3_EXT_print(to, ::X509_get_ext(certificate, at), 0, 0);
    });
    return subject + " (" + others.substr(0, max_names) + ")";
}

std::string in_words(const ASN1_TIME* time)
{
    return printed([time](BIO* to) { ::ASN1_TIME_print(to, time); });
}

template <class Bytes>
bool expect_address(X509_VERIFY_PARAM* of, const Bytes& bytes) noexcept
{
    return ::X509_VERIFY_PARAM_set1_ip(of, bytes.data(), bytes.size()) == 1;
}

}  // namespace

tls_session::tls_session(std::shared_ptr<tls_context> context, const node_config& config)
    : context_(std::move(context)), settings_(*config.tls), host_(without_root(config.host))
{
}

bool tls_session::set_host(SSL& of) const noexcept
{
    X509_VERIFY_PARAM* const expected = ::SSL_get0_param(&of);
    boost::system::error_code not_an_address;
    const auto address = ip::make_address(host_.c_str(), not_an_address);
    if (!not_an_address)
    {
        return address.is_v4() ? expect_address(expected, address.to_v4().to_bytes())
                               : expect_address(expected, address.to_v6().to_bytes());
    }
    // A server may have a certificate for each of its names.
    return SSL_set_tlsext_host_name(&of, host_.c_str()) == 1 &&
           ::X509_VERIFY_PARAM_set1_host(expected, host_.data(), host_.size()) == 1;
}

bool tls_session::on_verified(bool fine, X509_STORE_CTX& found) noexcept
{
    if (fine || !settings_.verify)
        return fine;
    objection_ = core::on_one_line(describe(found));
    return false;
}

std::string tls_session::describe(X509_STORE_CTX& found) const
{
    return "asked for '" + host_ + "', found the certificate of " +
           names_of(::X509_STORE_CTX_get0_cert(&found)) + ": " + verdict(found);
}

std::string tls_session::verdict(X509_STORE_CTX& found) const
{
    const int error = ::X509_STORE_CTX_get_error(&found);
    // One in the chain from the server to its authority.
    const X509* const at_fault = ::X509_STORE_CTX_get_current_cert(&found);
    switch (error)
    {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: return "it is for another host";
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return subject_of(at_fault) + " expired on " + in_words(::X509_get0_notAfter(at_fault));
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return subject_of(at_fault) + " is not valid before " +
               in_words(::X509_get0_notBefore(at_fault));
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        return "its authority " + quoted(::X509_get_issuer_name(at_fault)) + " is not in " +
               (settings_.ca_file.empty() ? "the system's authorities; name it in tls.ca_file"
                                          : "tls.ca_file '" + settings_.ca_file + "'");
    default: return ::X509_verify_cert_error_string(error);
    }
}

}  // namespace redlock::detail
