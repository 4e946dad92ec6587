#include "loop/recycling.hpp"

#include <array>
#include <new>
#include <utility>

#ifndef __has_feature
#define __has_feature(name) 0
#endif

namespace redlock::detail {

namespace {

// A sanitizer is to see each use of memory after it was freed.
#if defined(REDLOCK_WITHOUT_RECYCLING) || defined(__SANITIZE_ADDRESS__) ||                         \
    defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) ||                            \
    __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr std::size_t largest = 0;
#else
constexpr std::size_t largest = 4096;
#endif

constexpr std::size_t step = 64;                  ///< Sizes are multiples of it.
constexpr std::size_t longest_list = 256 * 1024;  ///< In bytes.

struct free_block
{
    free_block* next;
};

struct free_list
{
    free_block* first;
    std::size_t room;  ///< For so many more. Zero before the thread's first block, and at its end.
};

constinit thread_local std::array<free_list, 4096 / step> lists{};
constinit thread_local bool opened = false;

/// Makes room in a thread's lists, and frees what is in them at its end.
struct keeper
{
    keeper()
    {
        for (std::size_t at = 0; at < lists.size(); ++at)
            lists[at].room = longest_list / ((at + 1) * step);
    }

    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;

    ~keeper()
    {
        for (free_list& each : lists)
        {
            while (each.first)
                ::operator delete(std::exchange(each.first, each.first->next));
            each = {};
        }
    }
};

/// The list is full, or hasn't been opened yet.
[[gnu::noinline]] void free_without_room(void* block, std::size_t size) noexcept
{
    if (!std::exchange(opened, true))
    {
        static thread_local const keeper until_the_end;
        return free_recycled(block, size);
    }
    ::operator delete(block);
}

}  // namespace

void* allocate_recycled(std::size_t size)
{
    if (size > largest)
        return ::operator new(size);
    free_list& from = lists[(size - 1) / step];
    if (!from.first)
        return ::operator new((size + step - 1) / step * step);
    ++from.room;
    return std::exchange(from.first, from.first->next);
}

void free_recycled(void* block, std::size_t size) noexcept
{
    if (size > largest)
        return ::operator delete(block);
    free_list& to = lists[(size - 1) / step];
    if (to.room == 0)
        return free_without_room(block, size);
    --to.room;
    to.first = ::new (block) free_block{to.first};
}

}  // namespace redlock::detail
