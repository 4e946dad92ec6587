#ifndef REDLOCK_SRC_TOOL_INQUIRY_HPP
#define REDLOCK_SRC_TOOL_INQUIRY_HPP

#include <redlock/config.hpp>
#include <redlock/error.hpp>

#include "loop/ground.hpp"
#include "node/answer.hpp"
#include "wire/request.hpp"
#include "wire/tls_context.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::tool {

/// What a server answered to the commands of an inquiry, as far as it did.
struct answers
{
    std::vector<detail::texts> all{};
    std::vector<std::chrono::microseconds> at{};  ///< When, by the wall clock of this machine.
    error_code code{};      ///< Why the connection ended before. Empty: it has answered all.
    std::string problem{};  ///< The same in words.
    std::optional<unsigned> replicas{};       ///< Of the server, as its Sentinels say.
    std::chrono::microseconds round_trip{0};  ///< Of the first command, without the connecting.
};

/** Puts some commands to one server, on a connection of its own, and changes nothing there that the
    commands do not.

    @param tls Null: without.
    @param done Called on the strand of `on`, once, within some seconds.
*/
void inquire(
    const detail::ground& on,
    const node_config& node,
    std::shared_ptr<detail::tls_context> tls,
    detail::request commands,
    std::function<void(answers)> done
);

}  // namespace redlock::tool

#endif
