#ifndef REDLOCK_TEST_SUPPORT_TLS_FILES_HPP
#define REDLOCK_TEST_SUPPORT_TLS_FILES_HPP

#include <cstdint>
#include <filesystem>
#include <string>

#include "support/posix.hpp"

namespace redlock::test {

/// A certificate and its private key, as paths of PEM files.
struct tls_identity
{
    std::filesystem::path certificate;
    std::filesystem::path key;
};

/** A private certificate authority and what it issued, in a temporary folder.

    Made with the `openssl` command line tool. Every object has a new authority, all with the same
    name: the certificates of a second object are those of a stranger.
*/
class tls_files
{
public:
    /// Makes the authority, a certificate for a server on this machine and one for a client.
    tls_files();

    [[nodiscard]] const std::filesystem::path& authority() const noexcept { return authority_; }

    /// Returns the certificate for the address 127.0.0.1 and the name localhost.
    [[nodiscard]] const tls_identity& server() const noexcept { return server_; }

    [[nodiscard]] const tls_identity& client() const noexcept { return client_; }

    /// What to write into a certificate.
    struct subject
    {
        std::string name;       ///< The common name, also the name of the files.
        std::string alt_names;  ///< As in `subjectAltName`, such as `DNS:example.com`.
        int days = 2;           ///< How long it is valid. 0: it has expired.
    };

    /// Issues another certificate, for example one for the wrong host.
    [[nodiscard]] tls_identity issue(const subject& who) const;

    /// How an encrypted key is written.
    enum class key_form : std::uint8_t
    {
        pkcs8,
        traditional,
    };

    /// Encrypts the key of an identity. @return The path of the new file.
    [[nodiscard]] std::filesystem::path encrypted(
        const tls_identity& whose,
        const std::string& password,
        key_form form = key_form::pkcs8
    ) const;

    /// The folder of all the files.
    [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_.path(); }

private:
    void make_authority() const;
    void openssl(const std::string& arguments) const;
    std::string word(const std::string& file) const;

    temp_folder folder_;
    std::filesystem::path authority_;
    tls_identity server_;
    tls_identity client_;
};

}  // namespace redlock::test

#endif
