// Failovers of one kind, as many as one likes. scripts/failovers.sh builds and starts it.
//
//   redlock_failovers [NAME VALUE]...     the names of failover_settings
//
// Exits with 0 if no two leases overlapped, no token went back and no update was lost.

#include <exception>
#include <iostream>

#include "chaos/failover_run.hpp"
#include "chaos/named_values.hpp"

using namespace redlock::test;

int main(int count, char** arguments)
{
    try
    {
        const auto settings = from_arguments<failover_settings>({arguments + 1, arguments + count});
        const failover_report report = run_failovers(settings);
        std::cout << describe(report) << (report.clean() ? "PASS" : "FAIL") << std::endl;
        return report.clean() ? 0 : 1;
    }
    catch (const std::exception& failure)
    {
        std::cerr << "failovers: " << failure.what() << '\n';
        return 2;
    }
}
