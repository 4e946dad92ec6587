#ifndef REDLOCK_SRC_CLIENT_INQUIRY_HPP
#define REDLOCK_SRC_CLIENT_INQUIRY_HPP

#include "client/client_impl.hpp"
#include "client/round.hpp"
#include "loop/task.hpp"

/// What operations have in common that ask the nodes, but neither acquire nor extend.
namespace redlock::detail {

/// Waits until the nodes may be asked, and to be admitted. Without a quorum of ready nodes nothing
/// is admitted, but the others are asked anyway, to say why.
[[nodiscard]] task<result<room>> until_askable(client_impl& client);

/// Asks all nodes who holds a resource.
[[nodiscard]] round_ptr ask_views(
    client_impl& client,
    std::shared_ptr<const attempt> by,
    room taken
);

/// Waits until a round is decided, and learns from how long it took. Gives it up if that fails.
[[nodiscard]] task<error_code> until_told(client_impl& client, round& asked);

/// After answers that decide nothing: whether to ask once more, because a node was still connecting
/// for the first time. Waits for it.
[[nodiscard]] task<result<bool>> is_worth_asking_again(client_impl& client);

}  // namespace redlock::detail

#endif
