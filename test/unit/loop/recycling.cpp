#include "loop/recycling.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace recycling_tests {

using namespace redlock::detail;

namespace {

using block = std::pair<void*, std::size_t>;

std::vector<block> allocate_all_sizes()
{
    std::vector<block> made;
    for (std::size_t size = 0; size <= 5'000; size += 31)
        made.emplace_back(allocate_recycled(size), size);
    return made;
}

void free_all(const std::vector<block>& made)
{
    for (const auto& [at, size] : made)
        free_recycled(at, size);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_recycling)

BOOST_AUTO_TEST_CASE(blocks_of_any_size_are_ours_alone)
{
    for (int time = 0; time < 3; ++time)
    {
        const auto made = allocate_all_sizes();
        for (std::size_t i = 0; i < made.size(); ++i)
            std::memset(made[i].first, static_cast<int>(i % 251), made[i].second);
        for (std::size_t i = 0; i < made.size(); ++i)
        {
            const auto* const bytes = static_cast<const unsigned char*>(made[i].first);
            const std::size_t size = made[i].second;
            if (size > 0)
                BOOST_TEST((bytes[0] == i % 251 && bytes[size - 1] == i % 251));
        }
        free_all(made);
    }
}

BOOST_AUTO_TEST_CASE(any_thread_may_free_a_block)
{
    const auto made = allocate_all_sizes();
    std::thread([&made] { free_all(made); }).join();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace recycling_tests
