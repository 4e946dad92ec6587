#include <redlock/detail/recycling.hpp>

#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REDLOCK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REDLOCK_SANITIZED 1
#endif
#endif

namespace redlock::detail {

namespace {

/// A sanitizer must see who uses what was freed.
#ifdef REDLOCK_SANITIZED
constexpr std::size_t limit = 0;
#else
constexpr std::size_t limit = max_recycled;
#endif

std::size_t rounded(std::size_t size) noexcept
{
    return (size + recycling_step - 1) / recycling_step * recycling_step;
}

/// Gives everything back when the thread ends.
struct sweeper
{
    sweeper()
    {
        for (shelf& each : shelves)
            each.limit = limit;
    }

    ~sweeper()
    {
        for (shelf& each : shelves)
        {
            while (each.first)
                ::operator delete(std::exchange(each.first, each.first->next));
            each = {};  // From now on nothing is kept.
        }
    }
};

constinit thread_local bool opened = false;

/// Makes room on the shelves of this thread. @return Whether there was none.
bool open_shelves()
{
    if (std::exchange(opened, true))
        return false;
    [[maybe_unused]] static thread_local const sweeper at_the_end;
    return limit > 0;
}

}  // namespace

constinit thread_local std::array<shelf, largest_recycled / recycling_step> shelves{};

void* allocate_anew(std::size_t size)
{
    return ::operator new(size > largest_recycled ? size : rounded(size));
}

void free_slowly(void* block, std::size_t size) noexcept
{
    if (size <= largest_recycled && open_shelves())
        return free_recycled(block, size);
    ::operator delete(block);
}

}  // namespace redlock::detail
