#ifndef REDLOCK_SRC_LOOP_RECYCLING_HPP
#define REDLOCK_SRC_LOOP_RECYCLING_HPP

#include <redlock/detail/recycling.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <utility>

/** Memory for what each operation needs and soon frees: coroutine frames, rounds, holds, handlers.

    A turn frees hundreds of blocks of a size. Malloc keeps seven at hand, and looks for room for
    each of the others. So a thread keeps what is freed on it, in lists by size, but never more than
    it has allocated itself, and at most 256 KiB of a size.
*/
namespace redlock::detail {

/// Base of what `new` takes from there. As base of a promise, it is for the coroutine's frame.
struct recycled
{
    static void* operator new(std::size_t size) { return allocate_recycled(size); }
    static void operator delete(void* block, std::size_t size) noexcept
    {
        free_recycled(block, size);
    }
};

/// As `std::make_shared`.
template <class T, class... Arguments>
[[nodiscard]] std::shared_ptr<T> make_recycled(Arguments&&... arguments)
{
    return std::allocate_shared<T>(recycling_allocator<T>(), std::forward<Arguments>(arguments)...);
}

template <class Key, class Value>
using recycled_map =
    std::map<Key, Value, std::less<Key>, recycling_allocator<std::pair<const Key, Value>>>;

}  // namespace redlock::detail

#endif
