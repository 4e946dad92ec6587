#ifndef REDLOCK_TEST_SUPPORT_NEEDS_TLS_HPP
#define REDLOCK_TEST_SUPPORT_NEEDS_TLS_HPP

#include "redlock/config.hpp"
#include "wire/tls_context.hpp"

#include <stdexcept>

#include "support/needed.hpp"

namespace redlock::test {

inline bool library_has_tls()
{
    try
    {
        return !detail::make_tls_sources({parse_node("rediss://a")}).empty();
    }
    catch (const std::invalid_argument&)
    {
        return false;
    }
}

/// Skips a suite or a case where the library was built without TLS. For
/// `boost::unit_test::precondition(needs_tls)`.
inline boost::test_tools::assertion_result needs_tls(boost::unit_test::test_unit_id id)
{
    return needed(id, library_has_tls(), "a library with TLS");
}

}  // namespace redlock::test

#endif
