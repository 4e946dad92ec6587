#include <redlock/error.hpp>

#include <ostream>
#include <string>

namespace redlock {

namespace {

const char* describe(error value) noexcept
{
    switch (value)
    {
    case error::contended: return "another owner holds the resource";
    case error::quorum_unreachable: return "too few nodes answered for a quorum";
    case error::node_rejected: return "too many nodes refused, so there is no quorum";
    case error::validity_exhausted: return "the quorum was reached after the validity ran out";
    case error::lease_lost: return "the lease is over";
    case error::hold_limit_reached: return "the extension would exceed the longest hold";
    case error::not_running: return "the client is not running";
    case error::already_running: return "the client is already running";
    case error::invalid_argument: return "resource or option out of range";
    case error::quarantined: return "too many nodes are in quarantine for a quorum";
    case error::config_mismatch: return "too many nodes are marked for other settings";
    case error::already_initialized: return "a node was in use before";
    case error::overloaded: return "this client has too many rounds under way";
    case error::revoked: return "the holder was asked to stop";
    case error::no_such_hold: return "no node has the hold";
    }
    return "unknown redlock error";
}

class error_category_type final : public boost::system::error_category
{
public:
    const char* name() const noexcept override { return "redlock"; }

    std::string message(int value) const override { return describe(static_cast<error>(value)); }
};

class condition_category_type final : public boost::system::error_category
{
public:
    const char* name() const noexcept override { return "redlock.condition"; }

    std::string message(int value) const override
    {
        switch (static_cast<condition>(value))
        {
        case condition::not_acquired: return "the resource was not acquired";
        case condition::nodes_unavailable: return "too few nodes are available";
        }
        return "unknown redlock condition";
    }

    bool equivalent(const error_code& code, int value) const noexcept override
    {
        const bool nodes = code == error::quorum_unreachable || code == error::node_rejected ||
                           code == error::quarantined || code == error::config_mismatch;
        switch (static_cast<condition>(value))
        {
        case condition::not_acquired:
            return nodes || code == error::contended || code == error::validity_exhausted ||
                   code == error::overloaded;
        case condition::nodes_unavailable: return nodes;
        }
        return false;
    }
};

}  // namespace

const boost::system::error_category& error_category() noexcept
{
    static const error_category_type category;
    return category;
}

const boost::system::error_category& condition_category() noexcept
{
    static const condition_category_type category;
    return category;
}

std::ostream& operator<<(std::ostream& out, error value)
{
    return out << make_error_code(value).message();
}

std::ostream& operator<<(std::ostream& out, condition value)
{
    return out << make_error_condition(value).message();
}

}  // namespace redlock
