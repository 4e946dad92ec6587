// usage: redlock_callbacks URL,URL,...
//
// Ships an order without coroutines. Each step is a function that starts the next one.

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <iostream>
#include <memory>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// One shipment. Lives as long as one of its operations is running.
class shipment : public std::enable_shared_from_this<shipment>
{
public:
    shipment(asio::io_context& context, redlock::client& locks) : work_(context), locks_(locks) {}

    void start()
    {
        const redlock::acquire_options options{.ttl = 2s, .auto_extend = true};
        locks_.async_acquire(
            "orders:42",
            options,
            [self = shared_from_this()](redlock::error_code ec, redlock::lease held) {
                self->on_acquired(ec, std::move(held));
            }
        );
    }

private:
    void on_acquired(redlock::error_code ec, redlock::lease held)
    {
        if (ec)
            return end("not shipped: " + ec.message());
        held_ = std::move(held);
        held_.async_wait_lost([self = shared_from_this()](redlock::error_code lost) {
            if (lost)
                self->work_.cancel();
        });
        work_.expires_after(3s);
        work_.async_wait([self = shared_from_this()](redlock::error_code stopped) {
            self->on_shipped(stopped);
        });
    }

    void on_shipped(redlock::error_code stopped)
    {
        if (stopped || held_.expired())
            return end("stopped half way: the lease was lost");
        held_.async_release([self = shared_from_this()](
                                redlock::error_code, redlock::release_outcome outcome
                            ) { self->end(std::string("shipped, ") + to_string(outcome)); });
    }

    void end(const std::string& how)
    {
        std::cout << how << '\n';
        locks_.cancel();
    }

    asio::steady_timer work_;
    redlock::client& locks_;
    redlock::lease held_;
};

}  // namespace

int main(int argc, char** argv)
{
    try
    {
        asio::io_context context{1};
        const auto nodes = redlock::parse_nodes(argc > 1 ? argv[1] : "redis://127.0.0.1:6379");
        redlock::client locks(context, {.nodes = nodes});
        locks.async_run(asio::detached);
        std::make_shared<shipment>(context, locks)->start();
        context.run();
    }
    catch (const std::exception& error)
    {
        std::cerr << argv[0] << ": " << error.what() << '\n';
        return 1;
    }
}
