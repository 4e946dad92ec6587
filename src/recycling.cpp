#include <redlock/detail/recycling.hpp>

#include <array>
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

/// Sizes are rounded up to a multiple of this.
constexpr std::size_t step = 64;

/// Anything larger is allocated as usual.
constexpr std::size_t largest = 1024;

struct free_block
{
    free_block* next;
};

/// The free blocks of one size.
struct shelf
{
    free_block* first;
    std::size_t count;
    std::size_t limit;  ///< How many it takes.
};

/// Plain data, for it is used until the very end of a thread, when objects are gone already.
struct shelves
{
    std::array<shelf, largest / step> all;
    bool opened;
};

constinit thread_local shelves kept{};

/// Gives everything back when the thread ends.
struct sweeper
{
    sweeper()
    {
        for (shelf& each : kept.all)
            each.limit = limit;
    }

    ~sweeper()
    {
        for (shelf& each : kept.all)
        {
            while (each.first)
                ::operator delete(std::exchange(each.first, each.first->next));
            each = {};  // From now on nothing is kept.
        }
    }
};

shelf& shelf_for(std::size_t size) noexcept
{
    return kept.all[(size - 1) / step];
}

std::size_t rounded(std::size_t size) noexcept
{
    return (size + step - 1) / step * step;
}

/// Makes room on the shelves of this thread.
void open_shelves()
{
    kept.opened = true;
    [[maybe_unused]] static thread_local const sweeper at_the_end;
}

}  // namespace

void* allocate_recycled(std::size_t size)
{
    if (size > largest)
        return ::operator new(size);

    shelf& from = shelf_for(size);
    if (!from.first)
        return ::operator new(rounded(size));
    --from.count;
    return std::exchange(from.first, from.first->next);
}

void free_recycled(void* block, std::size_t size) noexcept
{
    if (size > largest)
        return ::operator delete(block);

    if (!kept.opened)
        open_shelves();
    shelf& to = shelf_for(size);
    if (to.count == to.limit)
        return ::operator delete(block);
    to.first = ::new (block) free_block{to.first};
    ++to.count;
}

}  // namespace redlock::detail
