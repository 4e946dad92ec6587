#ifndef REDLOCK_SRC_WIRE_TLS_CONTEXT_HPP
#define REDLOCK_SRC_WIRE_TLS_CONTEXT_HPP

#include <redlock/config.hpp>

#include <boost/asio/ssl/context.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace redlock::detail {

/// Differs after a file was written, replaced, or given other permissions. Zeros: there is none.
struct file_stamp
{
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t written_ns = 0;
    std::int64_t changed_ns = 0;

    bool operator==(const file_stamp&) const = default;
};

/// What TLS settings, and the files that they name, give. Does not change once it is made.
struct tls_context
{
    boost::asio::ssl::context context;
    std::string failure;              ///< What is wrong with a file. Empty: nothing.
    std::vector<file_stamp> made_of;  ///< The files, as they were before they were read.
};

/** Where the connections of a client get their TLS context, for nodes with equal settings.

    Reading a system's authorities takes 20 ms, and a key that is encrypted well takes longer. So no
    handler reads the files: the constructor does, on the thread that makes the client, and
    later a thread of its own. Nobody waits for that thread. It owns what it makes, and what it has
    made is fetched when the next connection needs it.

    Used on the strand only, once it is made.
*/
class tls_source
{
public:
    explicit tls_source(const tls_config& settings);

    /// Returns what was read last. Sees to it that files which have changed are read again.
    [[nodiscard]] std::shared_ptr<tls_context> latest();

    [[nodiscard]] bool is_for(const tls_config& settings) const;

private:
    struct reading;

    void read_again();

    tls_config settings_;
    std::vector<std::string> files_;
    std::shared_ptr<tls_context> latest_;
    std::shared_ptr<reading> reading_;  ///< On its thread. Null: none.
};

/// One for each node, null without TLS. Nodes with equal settings share one.
[[nodiscard]] std::vector<std::shared_ptr<tls_source>> make_tls_sources(
    const std::vector<node_config>& nodes
);

}  // namespace redlock::detail

#endif
