// usage: redlock_initialize URL,URL,...
//
// Tells fresh nodes that they have nothing to forget, once, when they are new.

#include <redlock.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>
#include <stdexcept>

namespace {

// snippet: initialize
int initialize(std::string_view nodes)
{
    boost::asio::io_context context;
    redlock::diagnostics report;
    redlock::error_code outcome;
    redlock::async_initialize_nodes(
        context,
        {.nodes = redlock::parse_nodes(nodes)},
        &report,
        [&outcome](redlock::error_code ec) { outcome = ec; }
    );
    context.run();

    std::cout << (outcome ? outcome.message() : "the nodes may vote") << "\n" << report << "\n";
    return outcome ? 1 : 0;
}
// end snippet

}  // namespace

int main(int argc, char** argv)
{
    try
    {
        if (argc != 2)
            throw std::invalid_argument("usage: redlock_initialize URL,URL,...");
        return initialize(argv[1]);
    }
    catch (const std::exception& error)
    {
        std::cerr << "redlock_initialize: " << error.what() << '\n';
        return 1;
    }
}
