#ifndef REDLOCK_TEST_UNIT_CORE_PRINTING_HPP
#define REDLOCK_TEST_UNIT_CORE_PRINTING_HPP

#include "core/hold_state.hpp"
#include "core/instant.hpp"
#include "core/queue_place.hpp"
#include "core/tally.hpp"

#include <ostream>

/// How Boost.Test prints the values of the core.
namespace redlock::core {

inline const char* name_of(verdict value) noexcept
{
    switch (value)
    {
    case verdict::undecided: return "undecided";
    case verdict::granted: return "granted";
    case verdict::contended: return "contended";
    case verdict::rejected: return "rejected";
    case verdict::unreachable: return "unreachable";
    case verdict::too_late: return "too_late";
    }
    return "unknown";
}

inline std::ostream& boost_test_print_type(std::ostream& out, verdict value)
{
    return out << name_of(value);
}

inline std::ostream& boost_test_print_type(std::ostream& out, hold_end value)
{
    switch (value)
    {
    case hold_end::none: return out << "none";
    case hold_end::given_back: return out << "given_back";
    case hold_end::lost: return out << "lost";
    case hold_end::at_limit: return out << "at_limit";
    }
    return out << "unknown";
}

inline std::ostream& boost_test_print_type(std::ostream& out, queue_move value)
{
    switch (value)
    {
    case queue_move::none: return out << "none";
    case queue_move::keep: return out << "keep";
    case queue_move::leave: return out << "leave";
    }
    return out << "unknown";
}

inline std::ostream& boost_test_print_type(std::ostream& out, instant value)
{
    const auto steady = std::chrono::nanoseconds(value.steady.time_since_epoch());
    return out << "{steady " << steady.count() << "ns, boot " << value.boot.count() << "ns}";
}

}  // namespace redlock::core

#endif
