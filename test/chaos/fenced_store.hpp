#ifndef REDLOCK_TEST_CHAOS_FENCED_STORE_HPP
#define REDLOCK_TEST_CHAOS_FENCED_STORE_HPP

#include <redlock/fencing.hpp>

#include <cstdint>
#include <optional>
#include <vector>

#include "chaos/history.hpp"
#include "support/resp_client.hpp"

namespace redlock::test {

/** A store with a version for each resource, in a Redis server that nobody harms.

    It follows the recipe of docs/fencing.md: it refuses a token that is lower than the highest one
    it has seen, reads included. It also keeps a list of the writes that it has accepted. A writer
    says which version it has read, and the store does not compare: it is the lock that prevents
    lost updates, or the token.
*/
class fenced_store
{
public:
    /// Connects to a server on this machine.
    /// @param checks Whether tokens are compared. If not, this is the control.
    fenced_store(std::uint16_t port, bool checks) : port_(port), checks_(checks) {}

    /// Reads the version, and puts it and the outcome into the operation.
    void read(operation& what);

    /// Writes the next version. The operation has the id, the token and the version that was read.
    void write(operation& what);

    /// The accepted writes of the resources 0 to `count - 1`.
    [[nodiscard]] static std::vector<store_entry> entries(resp_client server, std::uint32_t count);

private:
    [[nodiscard]] std::optional<std::uint64_t> access(operation& what, bool writes);

    std::uint16_t port_;
    bool checks_;
    std::optional<resp_client> server_{};  ///< Empty: not connected.
};

}  // namespace redlock::test

#endif
