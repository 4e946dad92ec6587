// The command that `redlock run` and `redlock lead` run: writes to a store that checks its token,
// for a moment.
//
//   program_job STORE_PORT
//
// Prints what it does, a line each, with the time of the machine's steady clock in nanoseconds:
// "begins PID TOKEN TIME", "wrote TIME" or "FENCED TIME".

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <random>
#include <string>

#include <unistd.h>

#include "chaos/program_store.hpp"
#include "support/resp_client.hpp"

namespace {

using namespace std::chrono_literals;

/// Now and then a command works for longer than its lease would last unextended.
constexpr unsigned most_writes = 60;
constexpr unsigned most_writes_of_some = 900;
constexpr int longest_pause_us = 10'000;

/// In one write, because a signal may end this process at any time.
void say(const std::string& words)
{
    const std::string line =
        words + ' ' + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()) +
        '\n';
    [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line.data(), line.size());
}

}  // namespace

int main(int count, char** arguments)
{
    try
    {
        if (count != 2)
            throw std::invalid_argument("give the port of the store");
        const std::string resource = std::getenv("REDLOCK_RESOURCE");
        const std::string token = std::getenv("REDLOCK_FENCE");
        say("begins " + std::to_string(::getpid()) + ' ' + token);
        redlock::test::resp_client store(static_cast<std::uint16_t>(std::atoi(arguments[1])), 10s);
        std::minstd_rand draw(static_cast<unsigned>(::getpid()));
        const unsigned most = draw() % 4 == 0 ? most_writes_of_some : most_writes;
        for (auto left = draw() % most; left > 0; --left)
        {
            const bool accepted = redlock::test::write_with_token(store, resource, token);
            say(accepted ? "wrote" : "FENCED");
            if (!accepted)
                return 3;
            ::usleep(static_cast<unsigned>(draw() % longest_pause_us));
        }
        return 0;
    }
    catch (const std::exception& failure)
    {
        std::cerr << "program_job: " << failure.what() << '\n';
        return 2;
    }
}
