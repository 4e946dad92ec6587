#include "loop/randomness.hpp"

#include "loop/platform.hpp"

#include <boost/algorithm/hex.hpp>

#include <atomic>

namespace redlock::detail {

namespace {

std::atomic<random_source> source = platform::fill_random;

}  // namespace

void fill_random(std::span<unsigned char> to)
{
    source.load(std::memory_order_relaxed)(to);
}

void draw_random_from(random_source from) noexcept
{
    source.store(from, std::memory_order_relaxed);
}

std::uint64_t random_bits()
{
    std::uint64_t bits = 0;
    fill_random({reinterpret_cast<unsigned char*>(&bits), sizeof bits});
    return bits;
}

std::array<char, 40> random_ids::next()
{
    if (used_ == block_.size() || !home_.is_here())
    {
        fill_random(block_);
        used_ = 0;
        home_ = home();
    }
    const unsigned char* const bytes = block_.data() + used_;
    used_ += id_size;
    std::array<char, 2 * id_size> id;
    boost::algorithm::hex_lower(bytes, bytes + id_size, id.begin());
    return id;
}

}  // namespace redlock::detail
