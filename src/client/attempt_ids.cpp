#include "client/attempt_ids.hpp"

#include <boost/asio/ssl/error.hpp>
#include <boost/system/system_error.hpp>

#include <openssl/err.h>
#include <openssl/rand.h>
#include <unistd.h>

namespace redlock::detail {

namespace {

void fill_random(unsigned char* to, std::size_t size)
{
    if (::RAND_bytes(to, static_cast<int>(size)) == 1)
        return;
    throw boost::system::system_error(
        static_cast<int>(::ERR_get_error()), boost::asio::error::get_ssl_category(), "RAND_bytes"
    );
}

}  // namespace

attempt_id attempt_ids::next()
{
    if (used_ == block_.size() || process_ != ::getpid())
        refill();

    static constexpr char digits[] = "0123456789abcdef";
    attempt_id id;
    for (std::size_t i = 0; i < id_size; ++i)
    {
        const unsigned byte = block_[used_++];
        id[2 * i] = digits[byte >> 4];
        id[2 * i + 1] = digits[byte & 15];
    }
    return id;
}

void attempt_ids::refill()
{
    fill_random(block_.data(), block_.size());
    used_ = 0;
    process_ = ::getpid();
}

std::uint64_t random_bits()
{
    std::uint64_t bits = 0;
    fill_random(reinterpret_cast<unsigned char*>(&bits), sizeof bits);
    return bits;
}

}  // namespace redlock::detail
