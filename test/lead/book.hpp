#ifndef REDLOCK_TEST_LEAD_BOOK_HPP
#define REDLOCK_TEST_LEAD_BOOK_HPP

#include <redlock/holding.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/posix.hpp"

namespace redlock::test {

/// A moment on the clock that all processes of a machine share, in nanoseconds. Zero: not yet.
using moment = std::int64_t;

[[nodiscard]] inline moment now() noexcept
{
    const auto since_boot = deadline_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot).count();
}

/// What a body writes down of its term. It may be killed between any two of these.
struct term_entry
{
    std::atomic<std::uint32_t> candidate;
    std::atomic<std::uint64_t> number;
    std::atomic<moment> alive;        ///< When it ran last.
    std::atomic<moment> valid_until;  ///< Of its lease, as it was then.
    std::atomic<moment> ended;
    std::atomic<moment> begun;  ///< Written last of the first ones.

    /// Until when it claims to lead.
    [[nodiscard]] moment claims_until() const noexcept
    {
        const moment last = ended != 0 ? ended.load() : alive.load();
        return std::min(last, valid_until.load());
    }
};

/// What a watcher has seen.
struct view_entry
{
    std::atomic<holding_state> state;
    std::atomic<std::uint64_t> number;  ///< Of the leader's term. Zero: nobody leads.
    std::atomic<moment> seen;           ///< Written last.
};

/// What candidates in several processes write down, in memory that they share.
struct book
{
    static constexpr std::size_t max_terms = 4096;
    static constexpr std::size_t max_candidates = 16;

    std::atomic<std::size_t> count;
    std::array<term_entry, max_terms> terms;
    std::array<std::atomic<int>, max_candidates> standing;  ///< Process ids of those that stand.
    std::atomic<std::size_t> view_count;
    std::array<view_entry, 2 * max_terms> views;

    /// A new entry. Zero as the file is.
    [[nodiscard]] term_entry& add() noexcept { return terms[count.fetch_add(1) % max_terms]; }
    [[nodiscard]] view_entry& add_view() noexcept
    {
        return views[view_count.fetch_add(1) % views.size()];
    }
};

static_assert(std::atomic<moment>::is_always_lock_free);

/// A book in a file, which each process maps.
class mapped_book
{
public:
    explicit mapped_book(const std::filesystem::path& file)
    {
        const descriptor open(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        if (!open.is_open() || ::ftruncate(open.get(), sizeof(book)) != 0)
            throw_errno("open book");
        void* const at =
            ::mmap(nullptr, sizeof(book), PROT_READ | PROT_WRITE, MAP_SHARED, open.get(), 0);
        if (at == MAP_FAILED)
            throw_errno("map book");
        book_ = std::launder(static_cast<book*>(at));
    }

    mapped_book(const mapped_book&) = delete;
    mapped_book& operator=(const mapped_book&) = delete;
    ~mapped_book() { ::munmap(book_, sizeof(book)); }

    [[nodiscard]] book* operator->() const noexcept { return book_; }
    [[nodiscard]] book& operator*() const noexcept { return *book_; }

private:
    book* book_;
};

}  // namespace redlock::test

#endif
