// A run of any length. scripts/chaos.sh builds and starts it.
//
//   redlock_chaos [NAME VALUE]...     the names of chaos_settings
//   redlock_chaos ... list            prints the names of the faults
//
// Exits with 0 if all went well. With `without`, if the checker found something.

#include <exception>
#include <iostream>
#include <string>

#include "chaos/chaos_run.hpp"
#include "chaos/faults.hpp"
#include "chaos/named_values.hpp"

using namespace redlock::test;

int main(int count, char** arguments)
{
    try
    {
        if (count >= 2 && std::string(arguments[count - 1]) == "list")
        {
            for (const fault& one : all_faults())
                std::cout << one.name << '\n';
            return 0;
        }
        const auto settings = from_arguments<chaos_settings>({arguments + 1, arguments + count});
        const chaos_report report = run_chaos(settings);
        std::cout << describe(report);
        const bool must_fail = settings.without != "none";
        const bool passed = must_fail ? !report.violations.empty() : report.clean();
        std::cout << (passed ? "PASS" : "FAIL") << std::endl;
        return passed ? 0 : 1;
    }
    catch (const std::exception& failure)
    {
        std::cerr << "chaos: " << failure.what() << '\n';
        return 2;
    }
}
