#ifndef REDLOCK_SRC_TOOL_INQUIRY_HPP
#define REDLOCK_SRC_TOOL_INQUIRY_HPP

#include <redlock/config.hpp>
#include <redlock/error.hpp>

#include "loop/ground.hpp"
#include "node/answer.hpp"
#include "node/sentinels.hpp"
#include "wire/request.hpp"
#include "wire/tls_context.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::tool {

/// A server's answers to the commands of an inquiry, as far as it answered.
struct answers
{
    std::vector<detail::texts> all{};
    std::vector<std::chrono::microseconds> at{};  ///< When, by the wall clock of this machine.
    error_code code{};      ///< Why the connection ended early. Empty if all were answered.
    std::string problem{};  ///< The same in words.
    std::optional<unsigned> replicas{};       ///< The server's, as its Sentinels say.
    std::chrono::microseconds round_trip{0};  ///< Of the first command, not counting connecting.
};

/** Sends commands to one server on a new connection. Changes nothing there except what the commands
    do.

    @param tls Null without TLS.
    @param sentinels The node's, which are asked for the server. Null: it has none.
    @param done Called once on the strand of `on`, within a few seconds.
*/
void inquire(
    const detail::ground& on,
    const node_config& node,
    std::shared_ptr<detail::tls_context> tls,
    std::shared_ptr<detail::sentinel_group> sentinels,
    detail::request commands,
    std::function<void(answers)> done
);

}  // namespace redlock::tool

#endif
