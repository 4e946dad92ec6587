#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "support/pool_fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_lease_getters)

/// The getters of a lease may be called from any thread, also while an operation of it runs.

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

/// Asks a lease everything, again and again, while something else goes on.
class questioner
{
public:
    explicit questioner(const lease& held) : thread_([this, &held] { ask(held); }) {}

    ~questioner() { (void)stop(); }

    /// @return Whether all answers were sound.
    [[nodiscard]] bool stop()
    {
        stopping_ = true;
        if (thread_.joinable())
            thread_.join();
        return sound_;
    }

private:
    void ask(const lease& held)
    {
        time_point last_deadline;
        bool was_expired = false;
        while (!stopping_)
        {
            const time_point deadline = held.valid_until();
            const bool expired = held.expired();
            sound_ = sound_ && deadline >= last_deadline;  // It only moves forward.
            sound_ = sound_ && (expired || !was_expired);  // What is over stays over.
            sound_ = sound_ && held.remaining() >= 0ms && held.resource() == "orders:42";
            last_deadline = deadline;
            was_expired = expired;
        }
    }

    std::atomic<bool> stopping_ = false;
    bool sound_ = true;
    std::thread thread_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_lease_answers_while_it_is_extended)
{
    pool_fixture fixture;
    fixture.start();
    lease held = fixture.locks().async_acquire("orders:42", 10min, asio::use_future).get();
    questioner one(held);
    questioner two(held);

    for (int repetition = 0; repetition < 200; ++repetition)
        held.async_extend(20min, asio::use_future).get();

    BOOST_TEST(one.stop());
    BOOST_TEST(two.stop());
}

BOOST_AUTO_TEST_CASE(a_lease_answers_while_it_is_released)
{
    pool_fixture fixture;
    fixture.start();
    for (int repetition = 0; repetition < 20; ++repetition)
    {
        lease held = fixture.locks().async_acquire("orders:42", 10min, asio::use_future).get();
        questioner asking(held);

        held.async_release(asio::use_future).get();

        BOOST_TEST(held.expired());
        BOOST_TEST(asking.stop());
    }
}

BOOST_AUTO_TEST_CASE(a_lease_answers_while_its_client_is_destroyed)
{
    pool_fixture fixture;
    fixture.start();
    lease held = fixture.locks().async_acquire("orders:42", 10min, asio::use_future).get();
    questioner asking(held);

    fixture.join();

    BOOST_TEST(!held.expired());
    BOOST_TEST(asking.stop());
}

BOOST_AUTO_TEST_SUITE_END()
