#ifndef REDLOCK_TEST_INTEGRATION_SCRIPT_MUTANTS_HPP
#define REDLOCK_TEST_INTEGRATION_SCRIPT_MUTANTS_HPP

#include "integration/guarded_stage.hpp"

#include <string>
#include <vector>

namespace redlock::test::guarded {

/// A change to the scripts that takes one check away.
struct mutant
{
    const char* name;
    std::string scripts::* script;
    std::string from;
    std::string to;
};

[[nodiscard]] const std::vector<mutant>& mutants();

/// The scripts with one check missing.
[[nodiscard]] scripts changed(const mutant& by);

}  // namespace redlock::test::guarded

#endif
