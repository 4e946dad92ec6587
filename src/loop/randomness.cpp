#include "loop/randomness.hpp"

#include <boost/algorithm/hex.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/system/system_error.hpp>

#include <openssl/err.h>
#include <openssl/rand.h>

namespace redlock::detail {

void fill_random(std::span<unsigned char> to)
{
    if (::RAND_bytes(to.data(), static_cast<int>(to.size())) == 1)
        return;
    throw boost::system::system_error(
        static_cast<int>(::ERR_get_error()), boost::asio::error::get_ssl_category(), "RAND_bytes"
    );
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
