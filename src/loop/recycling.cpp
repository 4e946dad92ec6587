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
    std::size_t room;  ///< How many more it may keep: what the thread allocated and hasn't freed.
};

constinit thread_local std::array<free_list, 4096 / step> lists{};
constinit thread_local bool may_grow = true;  ///< Until the thread ends.

/// Frees what is in a thread's lists at its end.
struct keeper
{
    keeper() = default;
    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;

    ~keeper()
    {
        may_grow = false;
        for (free_list& each : lists)
        {
            while (each.first)
                ::operator delete(std::exchange(each.first, each.first->next));
            each = {};
        }
    }
};

/// For an empty list, which may keep the block later. A thread that only frees keeps nothing.
[[gnu::noinline]] void* allocate_anew(free_list& from, std::size_t size)
{
    static thread_local const keeper until_the_end;
    const std::size_t whole = (size + step - 1) / step * step;
    void* const made = ::operator new(whole);
    if (may_grow && from.room < longest_list / whole)
        ++from.room;
    return made;
}

}  // namespace

void* allocate_recycled(std::size_t size)
{
    if (size > largest || size == 0)
        return ::operator new(size);
    free_list& from = lists[(size - 1) / step];
    if (!from.first)
        return allocate_anew(from, size);
    ++from.room;
    return std::exchange(from.first, from.first->next);
}

void free_recycled(void* block, std::size_t size) noexcept
{
    if (size > largest || size == 0)
        return ::operator delete(block);
    free_list& to = lists[(size - 1) / step];
    if (to.room == 0)
        return ::operator delete(block);
    --to.room;
    to.first = ::new (block) free_block{to.first};
}

}  // namespace redlock::detail
