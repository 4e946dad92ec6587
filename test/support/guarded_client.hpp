#ifndef REDLOCK_TEST_SUPPORT_GUARDED_CLIENT_HPP
#define REDLOCK_TEST_SUPPORT_GUARDED_CLIENT_HPP

#include <redlock/holding.hpp>
#include <redlock/lease.hpp>
#include <redlock/release_outcome.hpp>
#include <redlock/revocation.hpp>

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include "support/fixture.hpp"

namespace redlock::test {

/// A running client in guarded mode, and what is done with "orders:42".
struct guarded_client : running_client
{
    explicit guarded_client(const setup& how = guarded()) : running_client(how) {}
    explicit guarded_client(std::size_t nodes) : running_client(guarded(nodes)) {}

    error_code acquire_with(const acquire_options& options)
    {
        return code_of(locks().async_acquire("orders:42", options));
    }

    release_outcome release(lease& held) { return std::get<1>(complete(held.async_release())); }

    holding inspect(std::string_view resource = "orders:42")
    {
        auto [ec, seen] = complete(locks().async_inspect(resource));
        BOOST_TEST_REQUIRE(ec == error_code());
        return std::move(seen);
    }

    std::tuple<error_code, revocation> revoke(fencing_token token)
    {
        return complete(locks().async_revoke("orders:42", token));
    }

    std::tuple<error_code, release_outcome> free()
    {
        return complete(locks().async_free("orders:42"));
    }
};

}  // namespace redlock::test

#endif
