#ifndef REDLOCK_SRC_LOOP_PAUSE_HPP
#define REDLOCK_SRC_LOOP_PAUSE_HPP

#include "loop/deadlines.hpp"
#include "loop/suspension.hpp"

namespace redlock::detail {

/// A suspension that a deadline may end. Its wake-up then carries no error.
class pause final : public suspension, public deadline
{
public:
    using suspension::suspension;

private:
    void on_deadline() override { wake({}); }
};

}  // namespace redlock::detail

#endif
