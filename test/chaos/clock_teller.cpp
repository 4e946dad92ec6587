// Prints what each clock of this process says, in nanoseconds.

#include <chrono>
#include <cstdint>
#include <iostream>

#include <sys/time.h>
#include <time.h>

namespace {

constexpr std::int64_t second = 1'000'000'000;

std::int64_t nanoseconds(const timespec& time)
{
    return time.tv_sec * second + time.tv_nsec;
}

std::int64_t read(clockid_t clock)
{
    timespec time{};
    ::clock_gettime(clock, &time);
    return nanoseconds(time);
}

std::int64_t read_timeval()
{
    timeval time{};
    ::gettimeofday(&time, nullptr);
    return time.tv_sec * second + time.tv_usec * 1000;
}

std::int64_t read_c11()
{
    timespec time{};
    return std::timespec_get(&time, TIME_UTC) == TIME_UTC ? nanoseconds(time) : 0;
}

template <class Clock>
std::int64_t read()
{
    return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
}

}  // namespace

int main()
{
    std::cout << "wall " << read<std::chrono::system_clock>() << '\n'
              << "wall " << read(CLOCK_REALTIME) << '\n'
              << "wall " << read(CLOCK_REALTIME_COARSE) << '\n'
              << "wall " << read_timeval() << '\n'
              << "wall " << read_c11() << '\n'
              << "wall " << ::time(nullptr) * second << '\n'
              << "monotonic " << read<std::chrono::steady_clock>() << '\n'
              << "monotonic " << read(CLOCK_MONOTONIC) << '\n'
              << "boottime " << read(CLOCK_BOOTTIME) << '\n';
}
