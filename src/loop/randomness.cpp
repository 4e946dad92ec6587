#include "loop/randomness.hpp"

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
    const std::span<const unsigned char, id_size> bytes(block_.data() + used_, id_size);
    used_ += id_size;
    return to_hexadecimal(bytes);
}

}  // namespace redlock::detail
