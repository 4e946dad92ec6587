#include <redlock/detail/recycling.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

/// Run it with valgrind to see that a thread that ends keeps nothing: a sanitizer cannot tell, for
/// with one nothing is kept in the first place.

using namespace redlock::detail;

namespace {

/// Blocks of one size that are given back in the end. All bytes of each are written to.
class blocks
{
public:
    blocks(std::size_t count, std::size_t size) : size_(size)
    {
        for (std::size_t n = 0; n < count; ++n)
        {
            all_.push_back(allocate_recycled(size));
            std::memset(all_.back(), static_cast<int>(n % 256), size);
        }
    }

    blocks(const blocks&) = delete;
    blocks& operator=(const blocks&) = delete;

    ~blocks()
    {
        for (void* each : all_)
            free_recycled(each, size_);
    }

    [[nodiscard]] std::set<void*> addresses() const { return {all_.begin(), all_.end()}; }

    /// Whether nobody else has written to them.
    [[nodiscard]] bool unharmed() const
    {
        for (std::size_t n = 0; n < all_.size(); ++n)
        {
            const auto* bytes = static_cast<const unsigned char*>(all_[n]);
            const auto value = static_cast<unsigned char>(n % 256);
            if (!std::all_of(bytes, bytes + size_, [value](auto each) { return each == value; }))
                return false;
        }
        return true;
    }

private:
    std::size_t size_;
    std::vector<void*> all_;
};

/// Frees its memory when its thread ends, after objects that are younger than it.
struct last_words
{
    std::unique_ptr<blocks> kept;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(test_recycling)

BOOST_AUTO_TEST_CASE(blocks_of_any_size_are_separate_and_stay_as_they_were_written)
{
    for (const std::size_t size : {1u, 63u, 64u, 65u, 432u, 1023u, 1024u, 1025u, 4000u})
    {
        {
            const blocks first(3 * max_recycled, size);
        }
        const blocks again(3 * max_recycled, size);
        const blocks others(max_recycled, size + 1);
        BOOST_TEST(again.addresses().size() == 3 * max_recycled);
        BOOST_TEST((again.unharmed() && others.unharmed()), "size " << size);
    }
}

BOOST_AUTO_TEST_CASE(blocks_that_were_allocated_on_another_thread_may_be_freed_on_this_one)
{
    for (int round = 0; round < 3; ++round)
    {
        std::unique_ptr<blocks> made;
        std::thread([&made] { made = std::make_unique<blocks>(2 * max_recycled, 432); }).join();
        BOOST_TEST(made->unharmed());
    }
    const blocks mine(2 * max_recycled, 432);
    BOOST_TEST(mine.unharmed());
}

BOOST_AUTO_TEST_CASE(a_thread_that_ends_may_free_blocks_after_its_own_were_given_back)
{
    std::thread([] {
        // Older than what sweeps up at the end of the thread, so it is destroyed later.
        static thread_local last_words older;
        older.kept = std::make_unique<blocks>(10, 432);
        const blocks younger(10, 432);
    }).join();
    const blocks mine(20, 432);
    BOOST_TEST(mine.unharmed());
}

BOOST_AUTO_TEST_CASE(objects_in_recycled_memory_live_as_long_as_somebody_holds_them)
{
    auto first = make_recycled<std::vector<int>>(3, 7);
    const std::weak_ptr<std::vector<int>> seen = first;
    const auto second = first;
    first = nullptr;
    BOOST_TEST(second->size() == 3);
    BOOST_TEST(!seen.expired());
}

BOOST_AUTO_TEST_SUITE_END()
