#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/fixture.hpp"

BOOST_AUTO_TEST_SUITE(test_observer)

using namespace redlock;
using namespace redlock::test;
using namespace std::chrono_literals;
using detail::verb;

namespace {

/// Writes down what it is told.
struct recorder : observer
{
    std::vector<std::string> seen;

    void note(std::string what, std::string_view resource, error_code ec)
    {
        what.append(" ").append(resource);
        seen.push_back(ec ? what + ": " + ec.message() : what);
    }

    void on_round(const round_event& event) noexcept override
    {
        note(event.extension ? "extension round" : "round", event.resource, event.code);
    }
    void on_waiting(const waiting_event& event) noexcept override
    {
        const std::string place = std::to_string(event.position);
        note("waiting as " + place + " of " + std::to_string(event.waiters), event.resource, {});
    }
    void on_acquired(const acquired_event& event) noexcept override
    {
        note("acquired in " + std::to_string(event.rounds), event.resource, {});
    }
    void on_contended(const contended_event& event) noexcept override
    {
        note("contended in " + std::to_string(event.rounds), event.resource, {});
    }
    void on_failed(const failed_event& event) noexcept override
    {
        note("failed", event.resource, event.code);
    }
    void on_extended(const extended_event& event) noexcept override
    {
        note("extended", event.resource, event.code);
    }
    void on_lost(const lost_event& event) noexcept override
    {
        note("lost", event.resource, event.code);
    }
    void on_released(const released_event& event) noexcept override
    {
        note(to_string(event.outcome), event.resource, {});
    }
    void on_node_state(const node_status& status) noexcept override
    {
        note(to_string(status.state), status.because, {});
    }
};

using events = std::vector<std::string>;

struct observed_client
{
    std::shared_ptr<recorder> told = std::make_shared<recorder>();
    running_client fixture{setup{.nodes = 3, .observer = told}};

    /// What was told since the last call.
    events take() { return std::exchange(told->seen, {}); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(it_is_told_of_the_life_of_a_lease)
{
    observed_client on;
    on.take();
    lease held = on.fixture.acquire("orders:42");
    BOOST_TEST((on.take() == events{"round orders:42", "acquired in 1 orders:42"}));
    on.fixture.complete(held.async_extend());
    BOOST_TEST((on.take() == events{"extension round orders:42", "extended orders:42"}));
    on.fixture.complete(held.async_release());
    BOOST_TEST((on.take() == events{"released orders:42"}));
}

BOOST_AUTO_TEST_CASE(it_is_told_of_contention_and_neither_of_a_wait_nor_of_a_failure)
{
    observed_client on;
    on.fixture.hold_elsewhere("orders:42", 1h, 0, 3);
    const std::string why = make_error_code(error::contended).message();
    const events expected{"round orders:42: " + why, "contended in 1 orders:42"};
    on.take();

    on.fixture.complete(on.fixture.locks().async_try_acquire("orders:42", 10s));
    BOOST_TEST(on.take() == expected, boost::test_tools::per_element());
    on.fixture.complete(on.fixture.locks().async_acquire("orders:42", {.ttl = 10s, .wait = 0s}));
    BOOST_TEST(on.take() == expected, boost::test_tools::per_element());

    BOOST_TEST(on.fixture.locks().metrics().contended == 2u);
    BOOST_TEST(on.fixture.locks().metrics().failed == 0u);
}

BOOST_AUTO_TEST_CASE(it_is_told_once_that_an_acquisition_waits)
{
    observed_client on;
    on.fixture.hold_elsewhere("orders:42", 2s, 0, 3);
    const auto is_wait = [](const std::string& what) { return what.starts_with("waiting"); };
    on.take();

    const acquire_options options{.ttl = 10s, .wait = 1h};
    auto first = launch(on.fixture.locks().async_acquire("orders:42", options));
    auto second = launch(on.fixture.locks().async_acquire("orders:42", options));
    on.fixture.advance(5s);

    events told = on.take();
    std::erase_if(told, std::not_fn(is_wait));
    BOOST_TEST((told == events{"waiting as 2 of 2 orders:42", "waiting as 1 of 2 orders:42"}));
}

BOOST_AUTO_TEST_CASE(it_is_told_of_a_loss_once)
{
    observed_client on;
    const lease held = on.fixture.acquire("orders:42", {.ttl = 1s});
    on.take();

    on.fixture.advance(10s);

    const std::string why = make_error_code(error::lease_lost).message();
    BOOST_TEST((on.take() == events{"lost orders:42: " + why}));
}

BOOST_AUTO_TEST_CASE(it_is_told_of_the_states_of_nodes)
{
    observed_client on;
    BOOST_TEST((on.take() == events{"ready ", "ready ", "ready "}));

    on.fixture.node(1).becomes(node_state::down, "refused");
    on.fixture.run_until_idle();

    BOOST_TEST((on.take() == events{"down refused"}));
}

BOOST_AUTO_TEST_CASE(the_counters_add_up)
{
    running_client fixture;
    lease first = fixture.acquire("a");
    const lease second = fixture.acquire("b", {.ttl = 1s});
    fixture.complete(first.async_extend());
    fixture.complete(fixture.locks().async_try_acquire("a", 10s));
    fixture.silence(verb::acquire);
    fixture.complete(fixture.locks().async_try_acquire("c", 10s));
    BOOST_TEST(fixture.locks().metrics().held == 2u);
    fixture.advance(2s);
    fixture.complete(first.async_release());

    const metrics seen = fixture.locks().metrics();
    BOOST_TEST(seen.rounds == 5u);
    BOOST_TEST(seen.acquired == 2u);
    BOOST_TEST(seen.contended == 1u);
    BOOST_TEST(seen.failed == 1u);
    BOOST_TEST(seen.extended == 1u);
    BOOST_TEST(seen.extensions_failed == 0u);
    BOOST_TEST(seen.lost == 1u);
    BOOST_TEST(seen.released == 1u);
    BOOST_TEST(seen.held == 0u);
}

BOOST_AUTO_TEST_CASE(an_interrupted_round_is_not_told_as_a_grant)
{
    observed_client on;
    on.fixture.silence(verb::acquire);
    const auto acquiring = launch(on.fixture.locks().async_acquire("orders:42", 1s));
    on.fixture.run_until_idle();
    on.take();

    acquiring->cancel();
    on.fixture.run_until_idle();

    const std::string aborted = error_code(asio::error::operation_aborted).message();
    const events expected{"round orders:42: " + aborted, "failed orders:42: " + aborted};
    BOOST_TEST(on.take() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_extension_round_after_the_deadline_is_told_as_a_loss)
{
    observed_client on;
    lease held = on.fixture.acquire("orders:42", {.ttl = 100ms});
    on.fixture.each_node([](fake_node& node) { node.on(verb::extend).after(40ms); });
    on.fixture.advance(80ms);
    on.take();

    const auto extending = launch(held.async_extend(1s));
    on.fixture.advance(60ms);

    BOOST_TEST((extending->code() == error::lease_lost));
    const std::string loss = error_code(error::lease_lost).message();
    const events told = on.take();
    BOOST_TEST(std::ranges::count(told, "extension round orders:42: " + loss) == 1);
    BOOST_TEST(std::ranges::count(told, "extension round orders:42") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
