#ifndef REDLOCK_SRC_WIRE_TLS_SESSION_HPP
#define REDLOCK_SRC_WIRE_TLS_SESSION_HPP

#include <redlock/config.hpp>

#include "wire/tls_context.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <string>

#include <openssl/types.h>

namespace redlock::detail {

/// The TLS of one connection: which server it must reach, and what is wrong with the certificate.
class tls_session
{
public:
    /// @param context One without a failure.
    tls_session(std::shared_ptr<tls_context> context, const node_config& config);

    [[nodiscard]] boost::asio::ssl::context& context() noexcept { return *context_->context; }

    /// Before the handshake: makes OpenSSL send the node's name to the server, and compare name or
    /// address with the certificate. @return False if it doesn't accept the name.
    [[nodiscard]] bool set_host(SSL& of) const noexcept;

    /// Keeps the words of OpenSSL's verdict on a certificate. @return The same verdict.
    bool on_verified(bool fine, X509_STORE_CTX& found) noexcept;

    /// What is wrong with the server's certificate, as far as is known. Empty: nothing.
    [[nodiscard]] const std::string& objection() const noexcept { return objection_; }

private:
    [[nodiscard]] std::string describe(X509_STORE_CTX& found) const;
    [[nodiscard]] std::string verdict(X509_STORE_CTX& found) const;

    std::shared_ptr<tls_context> context_;
    tls_config settings_;
    std::string host_;
    std::string objection_;
};

}  // namespace redlock::detail

#endif
