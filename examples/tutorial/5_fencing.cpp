// usage: 5_fencing URL,URL,...
//
// A holder writes after its lease has expired, and the stock rejects it. Both holders are in
// this program so that you can watch them. Normally they are on two machines.

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// snippet: stock
/// What the lock protects. Checks the token of each access, reads included.
class stock
{
public:
    int read(redlock::fencing_token token)
    {
        check(token);
        return amount_;
    }

    void write(redlock::fencing_token token, int amount)
    {
        check(token);
        amount_ = amount;
    }

private:
    void check(redlock::fencing_token token)
    {
        if (!fence_.accept(token))
            throw std::runtime_error("rejected, the stock has seen a higher token");
    }

    redlock::fence_check fence_;
    int amount_ = 10;
};
// end snippet

asio::awaitable<void> two_holders(redlock::client& locks)
{
    stock shelf;

    auto a = co_await locks.async_acquire("stock:7", 1s);
    const int a_read = shelf.read(a.fence());
    std::cout << "A has token " << a.fence() << " and reads " << a_read << std::endl;

    // Say A is now paused by a VM migration. Its lease expires.
    auto b = co_await locks.async_acquire("stock:7", 10s);
    const int b_read = shelf.read(b.fence());
    std::cout << "B has token " << b.fence() << " and reads " << b_read << '\n';

    // A resumes, unaware that its lease has expired.
    try
    {
        shelf.write(a.fence(), a_read - 1);
    }
    catch (const std::exception& failure)
    {
        std::cout << "A writes " << a_read - 1 << ": " << failure.what() << '\n';
    }

    shelf.write(b.fence(), b_read - 1);
    std::cout << "B writes " << b_read - 1 << ": accepted\n";
}

void run(std::string_view nodes)
{
    asio::io_context context{1};
    redlock::client locks(context, nodes);
    locks.async_run(asio::detached);
    asio::co_spawn(context, two_holders(locks), [&](std::exception_ptr failure) {
        locks.cancel();
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
}

int main(int argc, char** argv)
{
    try
    {
        if (argc != 2)
            throw std::invalid_argument("name the nodes: redis://HOST:PORT,...");
        run(argv[1]);
    }
    catch (const std::exception& error)
    {
        std::cerr << "5_fencing: " << error.what() << '\n';
        return 1;
    }
}
