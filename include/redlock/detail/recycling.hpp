#ifndef REDLOCK_DETAIL_RECYCLING_HPP
#define REDLOCK_DETAIL_RECYCLING_HPP

#include <redlock/detail/export.hpp>

#include <cstddef>
#include <memory>

namespace redlock::detail {

/// Memory for a moment: see src/loop/recycling.hpp. Any thread may free it.
[[nodiscard]] REDLOCK_EXPORT void* allocate_recycled(std::size_t size);
REDLOCK_EXPORT void free_recycled(void* block, std::size_t size) noexcept;

/// `recycling_allocator<void>` stands for those of all types.
template <class T>
struct recycling_allocator
{
    using value_type = T;

    recycling_allocator() = default;

    template <class Other>
    recycling_allocator(const recycling_allocator<Other>&) noexcept
    {
    }

    [[nodiscard]] T* allocate(std::size_t count)
    {
        if constexpr (is_aligned)
            return static_cast<T*>(allocate_recycled(count * sizeof(T)));
        else
            return std::allocator<T>().allocate(count);
    }

    void deallocate(T* block, std::size_t count) noexcept
    {
        if constexpr (is_aligned)
            free_recycled(block, count * sizeof(T));
        else
            std::allocator<T>().deallocate(block, count);
    }

    friend bool operator==(recycling_allocator, recycling_allocator) noexcept { return true; }

private:
    static constexpr bool is_aligned = alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
};

template <>
struct recycling_allocator<void>
{
    using value_type = void;

    recycling_allocator() = default;

    template <class Other>
    recycling_allocator(const recycling_allocator<Other>&) noexcept
    {
    }

    friend bool operator==(recycling_allocator, recycling_allocator) noexcept { return true; }
};

}  // namespace redlock::detail

#endif
