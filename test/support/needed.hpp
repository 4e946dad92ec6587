#ifndef REDLOCK_TEST_SUPPORT_NEEDED_HPP
#define REDLOCK_TEST_SUPPORT_NEEDED_HPP

#include <boost/test/unit_test.hpp>

#include <iostream>
#include <string>

namespace redlock::test {

/// What a precondition of Boost.Test returns for a suite or a case: without `there` it is skipped,
/// loudly.
inline boost::test_tools::assertion_result needed(
    boost::unit_test::test_unit_id id,
    bool there,
    const std::string& what
)
{
    boost::test_tools::assertion_result result(there);
    if (!there)
    {
        const auto& unit = boost::unit_test::framework::get(id, boost::unit_test::TUT_ANY);
        std::cerr << "SKIPPED: " << unit.full_name() << " needs " << what << '\n';
        result.message() << what << " is missing";
    }
    return result;
}

}  // namespace redlock::test

#endif
