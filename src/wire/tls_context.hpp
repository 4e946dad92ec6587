#ifndef REDLOCK_SRC_WIRE_TLS_CONTEXT_HPP
#define REDLOCK_SRC_WIRE_TLS_CONTEXT_HPP

#include <redlock/config.hpp>

#include "loop/platform.hpp"

#include <memory>
#include <string>
#include <vector>

// Nothing here includes OpenSSL, because the library can be built without it.
namespace boost::asio::ssl {

class context;

}  // namespace boost::asio::ssl

namespace redlock::detail {

/// Made from TLS settings and the files that they name. Doesn't change once it is made.
struct tls_context
{
    std::shared_ptr<boost::asio::ssl::context> context;
    std::string failure;                        ///< What is wrong with a file. Empty: nothing.
    std::vector<platform::file_stamp> made_of;  ///< The files, as they were before they were read.
};

/** Where the connections of a client get their TLS context, for nodes with equal settings.

    Reading a system's authorities takes 20 ms, and a well encrypted key takes longer. So no handler
    reads the files. The constructor does, on the thread that makes the client, and later a separate
    thread. Nothing waits for that thread. It owns what it makes, and the next connection that needs
    the result fetches it.

    Used on the strand only, once it is made.
*/
class tls_source
{
public:
    explicit tls_source(const tls_config& settings);

    /// Returns what was read last. If files have changed, starts to read them again.
    [[nodiscard]] std::shared_ptr<tls_context> latest();

    [[nodiscard]] bool is_for(const tls_config& settings) const;

private:
    struct reading;

    void read_again();

    tls_config settings_;
    std::vector<std::string> files_;
    std::shared_ptr<tls_context> latest_;
    std::shared_ptr<reading> reading_;  ///< Runs on its thread. Null if there is none.
};

/** One for each node, null without TLS. Nodes with equal settings share one.

    @throws std::invalid_argument if a node wants TLS and the library was built without it.
*/
[[nodiscard]] std::vector<std::shared_ptr<tls_source>> make_tls_sources(
    const std::vector<node_config>& nodes
);

}  // namespace redlock::detail

#endif
