// Chaos for the program redlock. scripts/chaos.sh --program builds and starts it.
//
//   redlock_program_chaos [NAME VALUE]...     the names of program_settings
//
// Exits with 0 if no two commands were at work that should not be, and nothing hung.

#include <exception>
#include <iostream>

#include "chaos/named_values.hpp"
#include "chaos/program_run.hpp"

using namespace redlock::test;

int main(int count, char** arguments)
{
    try
    {
        const auto settings = from_arguments<program_settings>({arguments + 1, arguments + count});
        const program_report report = run_programs(settings);
        std::cout << describe(report) << std::flush;
        return report.clean() ? 0 : 1;
    }
    catch (const std::exception& failure)
    {
        std::cerr << "program: " << failure.what() << '\n';
        return 2;
    }
}
