#ifndef REDLOCK_SRC_TOOL_COMMANDS_HPP
#define REDLOCK_SRC_TOOL_COMMANDS_HPP

#include "tool/command_line.hpp"

/// The commands. Each returns the exit status. An exception ends the program with 125.
namespace redlock::tool {

/// Runs a child under a lock.
[[nodiscard]] int run(const options& given);

/// Runs a child whenever this process leads.
[[nodiscard]] int lead(const options& given);

/// Shows who holds resources.
[[nodiscard]] int show(const options& given);

/// Shows who holds a resource, and each change, until it is interrupted.
[[nodiscard]] int watch(const options& given);

/// Asks a holder to stop.
[[nodiscard]] int revoke(const options& given);

/// Ends the time for which a resource is kept.
[[nodiscard]] int free_kept(const options& given);

/// Admits fresh nodes.
[[nodiscard]] int init(const options& given);

/// Reports what is wrong with nodes.
[[nodiscard]] int doctor(const options& given);

/// Starts servers that end with this process.
[[nodiscard]] int local(const options& given);

}  // namespace redlock::tool

#endif
