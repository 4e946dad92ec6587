#ifndef REDLOCK_DETAIL_RECYCLING_HPP
#define REDLOCK_DETAIL_RECYCLING_HPP

#include <redlock/detail/export.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

/** Memory that every operation needs: the frames of its coroutines, its rounds, its hold, its
    handler.

    Malloc keeps fewer blocks of one size at hand than hundreds of operations free together.
    Allocating the others costs as much as encoding a command. So each thread keeps the blocks
    freed on it, up to a limit, and reuses them for allocations of about the same size. A block may
    be freed on another thread than the one that allocated it.

    In a build with a sanitizer no blocks are kept.
*/
namespace redlock::detail {

/// Largest number of blocks of about one size that a thread keeps.
inline constexpr std::size_t max_recycled = 512;

/// Sizes are rounded up to a multiple of this.
inline constexpr std::size_t recycling_step = 64;

/// Anything larger is allocated as usual.
inline constexpr std::size_t largest_recycled = 1024;

struct free_block
{
    free_block* next;
};

/// The free blocks of about one size that a thread keeps.
struct shelf
{
    free_block* first;
    std::size_t count;
    std::size_t limit;  ///< Largest `count`: zero before the first block is freed.
};

/// Plain data, because it is used until the very end of a thread, after its objects are destroyed.
REDLOCK_EXPORT extern constinit thread_local std::array<shelf, largest_recycled / recycling_step>
    shelves;

[[nodiscard]] inline shelf& shelf_for(std::size_t size) noexcept
{
    return shelves[(size - 1) / recycling_step];
}

[[nodiscard]] REDLOCK_EXPORT void* allocate_anew(std::size_t size);

/// Sets the limits of the shelves if they are not set yet, otherwise frees the block for good.
REDLOCK_EXPORT void free_slowly(void* block, std::size_t size) noexcept;

[[nodiscard]] inline void* allocate_recycled(std::size_t size)
{
    if (size > largest_recycled || !shelf_for(size).first)
        return allocate_anew(size);
    shelf& from = shelf_for(size);
    --from.count;
    return std::exchange(from.first, from.first->next);
}

/// @param size Size of the allocation.
inline void free_recycled(void* block, std::size_t size) noexcept
{
    if (size > largest_recycled || shelf_for(size).count == shelf_for(size).limit)
        return free_slowly(block, size);
    shelf& to = shelf_for(size);
    to.first = ::new (block) free_block{to.first};
    ++to.count;
}

/// Base of types that `new` allocates in recycled memory. As the base of a promise it recycles the
/// frame of the coroutine.
struct recycled
{
    static void* operator new(std::size_t size) { return allocate_recycled(size); }
    static void operator delete(void* block, std::size_t size) noexcept
    {
        free_recycled(block, size);
    }

    // For over-aligned types.
    static void* operator new(std::size_t size, std::align_val_t alignment)
    {
        return ::operator new(size, alignment);
    }
    static void operator delete(void* block, std::align_val_t alignment) noexcept
    {
        ::operator delete(block, alignment);
    }
};

/// Whether a type is over-aligned. Its memory is not recycled.
template <class T>
inline constexpr bool has_own_alignment = alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__;

/// Allocates recycled memory. `recycling_allocator<void>` stands for the allocators of all types.
template <class T>
struct recycling_allocator
{
    using value_type = T;

    recycling_allocator() = default;
    template <class U>
    recycling_allocator(const recycling_allocator<U>&) noexcept
    {
    }

    T* allocate(std::size_t count)
    {
        if constexpr (has_own_alignment<T>)
            return std::allocator<T>().allocate(count);
        else
            return static_cast<T*>(allocate_recycled(count * sizeof(T)));
    }
    void deallocate(T* block, std::size_t count) noexcept
    {
        if constexpr (has_own_alignment<T>)
            std::allocator<T>().deallocate(block, count);
        else
            free_recycled(block, count * sizeof(T));
    }

    friend bool operator==(recycling_allocator, recycling_allocator) noexcept { return true; }
};

/// As `std::make_shared`, in recycled memory.
template <class T, class... Arguments>
[[nodiscard]] std::shared_ptr<T> make_recycled(Arguments&&... arguments)
{
    return std::allocate_shared<T>(recycling_allocator<T>(), std::forward<Arguments>(arguments)...);
}

}  // namespace redlock::detail

#endif
