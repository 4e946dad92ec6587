// A rolling restart of any size. scripts/rolling.sh builds and starts it.
//
//   redlock_rolling [NAME VALUE]...     the names of rolling_settings
//
// Exits with 0 if no lease was lost and nobody else was granted one.

#include <exception>
#include <iostream>

#include "chaos/named_values.hpp"
#include "chaos/rolling_run.hpp"

using namespace redlock::test;

int main(int count, char** arguments)
{
    try
    {
        const auto settings = from_arguments<rolling_settings>({arguments + 1, arguments + count});
        const rolling_report report = run_rolling(settings);
        std::cout << describe(report) << std::flush;
        return report.clean() ? 0 : 1;
    }
    catch (const std::exception& failure)
    {
        std::cerr << "rolling: " << failure.what() << '\n';
        return 2;
    }
}
