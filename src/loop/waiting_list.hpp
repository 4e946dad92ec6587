#ifndef REDLOCK_SRC_LOOP_WAITING_LIST_HPP
#define REDLOCK_SRC_LOOP_WAITING_LIST_HPP

#include "loop/suspension.hpp"
#include "loop/turn.hpp"

namespace redlock::detail {

/** Operations of a client that wait for the same thing, for example its end.

    All of them are woken together, however many there are, but only some are resumed in each turn,
    so the loop stays free for others. Used on the strand only.
*/
class waiting_list final : private deferred
{
public:
    /// @param end_of_turn Must live as long as operations wait.
    explicit waiting_list(turn& end_of_turn) noexcept : turn_(end_of_turn) {}

    /// The list in which a suspension is to wait.
    [[nodiscard]] suspension::list& list() noexcept { return waiting_; }

    /// Whether no operation waits or is about to continue.
    [[nodiscard]] bool empty() const noexcept
    {
        return waiting_.empty() && to_wake_.empty() && woken_.empty();
    }

    /// Wakes all operations that wait now.
    void wake_all(error_code outcome);

    /// Destroys the operations. Used when the execution context ends.
    void drop_all() noexcept;

private:
    void on_turn_end() override;

    turn& turn_;
    suspension::list waiting_;
    suspension::list to_wake_;
    suspension::list woken_;  ///< Not resumed yet.
    error_code outcome_;
};

}  // namespace redlock::detail

#endif
