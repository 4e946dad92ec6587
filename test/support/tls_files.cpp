#include "support/tls_files.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "support/eventually.hpp"

namespace redlock::test {

namespace {

// The tool reads this file instead of the one of the system, whose sections differ.
constexpr const char* config =
    "[req]\n"
    "prompt = no\n"
    "distinguished_name = name\n"
    "x509_extensions = authority\n"
    "[name]\n"
    "CN = redlock test authority\n"
    "[authority]\n"
    "basicConstraints = critical, CA:TRUE\n"
    "keyUsage = critical, keyCertSign, cRLSign\n"
    "subjectKeyIdentifier = hash\n";

constexpr const char* new_key = " -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

void write_file(const std::filesystem::path& file, const std::string& content)
{
    if (!(std::ofstream(file) << content).flush())
        throw std::runtime_error("cannot write " + file.native());
}

}  // namespace

tls_files::tls_files() : authority_(folder_.path() / "authority.crt")
{
    make_authority();
    server_ = issue({.name = "server", .alt_names = "IP:127.0.0.1, DNS:localhost"});
    client_ = issue({.name = "client", .alt_names = "DNS:client"});
}

void tls_files::make_authority() const
{
    write_file(folder_.path() / "openssl.cnf", config);
    openssl(
        std::string("req -x509 -days 2") + new_key + " -config " + word("openssl.cnf") +
        " -keyout " + word("authority.key") + " -out " + word("authority.crt")
    );
}

tls_identity tls_files::issue(const subject& who) const
{
    write_file(
        folder_.path() / (who.name + ".ext"),
        "basicConstraints = CA:FALSE\nsubjectAltName = " + who.alt_names + "\n"
    );
    openssl(
        std::string("req -new") + new_key + " -config " + word("openssl.cnf") + " -subj " +
        shell_word("/CN=" + who.name) + " -keyout " + word(who.name + ".key") + " -out " +
        word(who.name + ".csr")
    );
    openssl(
        "x509 -req -days " + std::to_string(who.days) + " -in " + word(who.name + ".csr") +
        " -CA " + word("authority.crt") + " -CAkey " + word("authority.key") +
        " -CAcreateserial -extfile " + word(who.name + ".ext") + " -out " + word(who.name + ".crt")
    );
    // One for no days is valid in the second it is made.
    const std::string check = "openssl x509 -noout -checkend 0 -in " + word(who.name + ".crt");
    const auto has_expired = [&] { return std::system((check + " >" + word("log")).c_str()) != 0; };
    if (who.days == 0 && !eventually(has_expired))
        throw std::runtime_error(check + ": it does not expire");
    return {folder_.path() / (who.name + ".crt"), folder_.path() / (who.name + ".key")};
}

std::filesystem::path tls_files::encrypted(
    const tls_identity& whose,
    const std::string& password,
    key_form form
) const
{
    const std::string name = form == key_form::pkcs8 ? "pkcs8.key" : "traditional.key";
    openssl(
        (form == key_form::pkcs8 ? "pkey" : "ec") + std::string(" -aes256 -in ") +
        shell_word(whose.key.native()) + " -passout " + shell_word("pass:" + password) + " -out " +
        word(name)
    );
    return folder_.path() / name;
}

void tls_files::openssl(const std::string& arguments) const
{
    const std::string command = "openssl " + arguments + " >" + word("log") + " 2>&1";
    if (std::system(command.c_str()) != 0)
        throw std::runtime_error(command + ": " + read_file(folder_.path() / "log"));
}

std::string tls_files::word(const std::string& file) const
{
    return shell_word((folder_.path() / file).native());
}

}  // namespace redlock::test
