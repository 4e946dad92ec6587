#include "chaos/wall_clock.hpp"

#include <atomic>
#include <cstdlib>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace redlock::test {

namespace {

// The address sanitizer wants to be the first library, which the shim is.
std::string sanitizer_options()
{
    const char* const given = std::getenv("ASAN_OPTIONS");
    return "ASAN_OPTIONS=verify_asan_link_order=0:" + std::string(given != nullptr ? given : "");
}

}  // namespace

wall_clock::wall_clock()
{
    const descriptor fd(::open(file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!fd.is_open() || ::ftruncate(fd.get(), sizeof *offset_) != 0)
        throw_errno("the file of a wall clock");
    void* const page =
        ::mmap(nullptr, sizeof *offset_, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (page == MAP_FAILED)
        throw_errno("mmap");
    offset_ = static_cast<std::int64_t*>(page);
}

wall_clock::~wall_clock()
{
    ::munmap(offset_, sizeof *offset_);
}

void wall_clock::set_offset(std::chrono::nanoseconds offset) noexcept
{
    std::atomic_ref(*offset_).store((lead_ + offset).count());
}

void wall_clock::set_lead(std::chrono::nanoseconds lead) noexcept
{
    lead_ = lead;
    set_offset(std::chrono::nanoseconds(0));
}

std::vector<std::string> wall_clock::environment() const
{
    return {
        "LD_PRELOAD=" REDLOCK_CLOCK_SHIM,
        "REDLOCK_CLOCK_FILE=" + file().string(),
        sanitizer_options()
    };
}

}  // namespace redlock::test
