// usage: redlock_error_handling URL,URL,...
//
// What can go wrong with a lock, and what to do about it.

#include "program.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// Works under a lease that may be lost meanwhile.
asio::awaitable<void> ship(redlock::lease& held)
{
    for (int box = 1; box <= 3; ++box)
    {
        const auto extended = co_await held.async_extend(10s, asio::as_tuple);
        const redlock::error_code ec = std::get<0>(extended);
        // Over: the next box could be somebody else's.
        if (ec == redlock::error::lease_lost)
            throw boost::system::system_error(ec);
        // No quorum for now. The lease lives on to its deadline, and the next try may succeed.
        if (ec)
            std::cerr << "box " << box << ": " << ec.message() << '\n';
        std::cout << "box " << box << '\n';
    }
}

void note_end(redlock::release_outcome outcome)
{
    // The two that matter say that somebody else may have been there.
    if (outcome == redlock::release_outcome::already_gone)
        std::cerr << "the work took longer than the lease\n";
    // What is unconfirmed goes on in the background, and the ttl ends it in any case.
    std::cout << "shipped, " << to_string(outcome) << '\n';
}

asio::awaitable<void> ship_order(redlock::client& locks)
{
    redlock::diagnostics report;
    const redlock::acquire_options options{.ttl = 10s, .wait = 1s, .report = &report};
    auto [ec, held] = co_await locks.async_acquire("orders:42", options, asio::as_tuple);

    // Ask for the narrower condition first: these are reasons for not acquiring, too.
    if (ec == redlock::condition::nodes_unavailable)
        std::cerr << "call an operator: " << report << '\n';
    // Nobody's fault. Not an error of this program.
    else if (ec == redlock::condition::not_acquired)
    {
        std::cout << "come back later: " << ec.message() << '\n';
        co_return;
    }
    // Also what is left: cancellation, and options out of range, which is a bug.
    if (ec)
        throw boost::system::system_error(ec);

    co_await ship(held);
    note_end(co_await held.async_release());
}

}  // namespace

int main(int argc, char** argv)
{
    return run_program(argc, argv, ship_order);
}
