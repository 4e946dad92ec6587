#include "wire/tls_context.hpp"

#include "core/one_line.hpp"
#include "loop/own_thread.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace redlock::detail {

namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

std::vector<platform::file_stamp> stamps_of(const std::vector<std::string>& files)
{
    std::vector<platform::file_stamp> stamps;
    std::ranges::transform(files, std::back_inserter(stamps), platform::stamp_of);
    return stamps;
}

/// The file of the system's authorities, which doesn't have to exist.
std::string default_authorities()
{
    const char* const chosen = std::getenv(::X509_get_default_cert_file_env());
    return chosen ? chosen : ::X509_get_default_cert_file();
}

/// Whether the environment names authorities, which then replace those of the system.
bool has_chosen_authorities()
{
    return std::getenv(::X509_get_default_cert_file_env()) ||
           std::getenv(::X509_get_default_cert_dir_env());
}

/// The files that settings name.
std::vector<std::string> files_of(const tls_config& settings)
{
    return {
        settings.ca_file.empty() ? default_authorities() : settings.ca_file,
        settings.cert_file,
        settings.key_file,
    };
}

[[noreturn]] void reject(const char* setting, const std::string& file, const std::string& why)
{
    throw std::runtime_error(std::string(setting) + " '" + file + "': " + why);
}

/// Reading a pipe or a terminal blocks, and consumes input that is meant for the program.
void check_regular(const char* setting, const std::string& file)
{
    std::error_code unreadable;
    const auto status = std::filesystem::status(file, unreadable);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        reject(setting, file, "must be a regular file, not a pipe, a device or a folder");
}

/// Skips entries that aren't certificates.
void add_authorities(ssl::context& to, const std::vector<std::string>& certificates)
{
    X509_STORE* const store = ::SSL_CTX_get_cert_store(to.native_handle());
    for (const std::string& der : certificates)
    {
        const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
        const std::unique_ptr<X509, decltype(&::X509_free)> read(
            ::d2i_X509(nullptr, &bytes, static_cast<long>(der.size())), ::X509_free
        );
        if (read)
            ::X509_STORE_add_cert(store, read.get());
    }
    ::ERR_clear_error();
}

void load_authorities(ssl::context& to, const tls_config& tls)
{
    if (tls.ca_file.empty())
    {
        check_regular(::X509_get_default_cert_file_env(), default_authorities());
        to.set_default_verify_paths();
        if (!has_chosen_authorities())
            add_authorities(to, platform::system_authorities());
        return;
    }
    error_code ec;
    check_regular("tls.ca_file", tls.ca_file);
    to.load_verify_file(tls.ca_file, ec);
    if (ec)
        reject("tls.ca_file", tls.ca_file, ec.message());
}

void load_certificate(ssl::context& to, const tls_config& tls)
{
    error_code ec;
    check_regular("tls.cert_file", tls.cert_file);
    to.use_certificate_chain_file(tls.cert_file, ec);
    if (ec)
        reject("tls.cert_file", tls.cert_file, ec.message());
}

bool is_mismatch(const error_code& ec) noexcept
{
    return ec.category() == boost::asio::error::get_ssl_category() &&
           ERR_GET_LIB(static_cast<unsigned long>(ec.value())) == ERR_LIB_X509;
}

/// @param encrypted Whether a password was needed.
void load_key(ssl::context& to, const tls_config& tls, const bool& encrypted)
{
    error_code ec;
    check_regular("tls.key_file", tls.key_file);
    to.use_private_key_file(tls.key_file, ssl::context::pem, ec);
    if (!ec)
        return;
    std::string why = ec.message();
    if (is_mismatch(ec))
        why += "; it is not the key of tls.cert_file '" + tls.cert_file + "'";
    else if (encrypted && tls.key_password.empty())
        why = "the key is encrypted, and tls.key_password is not set";
    else if (encrypted)
        why = "tls.key_password is not the password of this key: " + why;
    reject("tls.key_file", tls.key_file, why);
}

void load(ssl::context& to, const tls_config& tls)
{
    // Set before any file is read. Otherwise OpenSSL asks on the terminal, or takes a line of the
    // program's input.
    const auto encrypted = std::make_shared<bool>(false);
    to.set_password_callback([encrypted, password = tls.key_password](auto, auto) {
        *encrypted = true;
        return password;
    });
    if (tls.verify)
        to.set_verify_mode(ssl::verify_peer);
    load_authorities(to, tls);
    if (tls.cert_file.empty())
        return;
    load_certificate(to, tls);
    *encrypted = false;
    load_key(to, tls, *encrypted);
}

tls_context make_tls_context(const tls_config& settings, const std::vector<std::string>& files)
{
    tls_context made{
        std::make_shared<ssl::context>(ssl::context::tls_client), {}, stamps_of(files)
    };
    try
    {
        load(*made.context, settings);
    }
    catch (const std::runtime_error& wrong)
    {
        made.failure = core::on_one_line(wrong.what());
    }
    return made;
}

}  // namespace

/// Shared with the thread that reads.
struct tls_source::reading
{
    std::atomic<bool> done = false;
    std::shared_ptr<tls_context> made;  ///< Belongs to the thread until `done`.
};

tls_source::tls_source(const tls_config& settings)
    : settings_(settings),
      files_(files_of(settings)),
      latest_(std::make_shared<tls_context>(make_tls_context(settings_, files_)))
{
}

std::shared_ptr<tls_context> tls_source::latest()
{
    if (reading_ && reading_->done.load(std::memory_order_acquire))
        latest_ = std::exchange(reading_, nullptr)->made;
    if (!reading_ && stamps_of(files_) != latest_->made_of)
        read_again();
    return latest_;
}

bool tls_source::is_for(const tls_config& settings) const
{
    return settings.ca_file == settings_.ca_file && settings.cert_file == settings_.cert_file &&
           settings.key_file == settings_.key_file &&
           settings.key_password == settings_.key_password && settings.verify == settings_.verify;
}

void tls_source::read_again()
{
    const auto begun = std::make_shared<reading>();
    const auto read = [begun, settings = settings_, files = files_]() noexcept {
        begun->made = std::make_shared<tls_context>(make_tls_context(settings, files));
        begun->done.store(true, std::memory_order_release);
    };
    try
    {
        run_on_own_thread(read);
        reading_ = begun;
    }
    catch (const std::system_error&)
    {
        // No thread could be started. The next connection tries again.
    }
}

std::vector<std::shared_ptr<tls_source>> make_tls_sources(const std::vector<node_config>& nodes)
{
    std::vector<std::shared_ptr<tls_source>> sources;
    for (const node_config& node : nodes)
    {
        const auto same = std::ranges::find_if(sources, [&node](const auto& each) {
            return node.tls && each && each->is_for(*node.tls);
        });
        if (same != sources.end())
            sources.push_back(*same);
        else
            sources.push_back(node.tls ? std::make_shared<tls_source>(*node.tls) : nullptr);
    }
    return sources;
}

}  // namespace redlock::detail
