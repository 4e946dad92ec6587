#ifndef REDLOCK_EXAMPLES_PROGRAM_HPP
#define REDLOCK_EXAMPLES_PROGRAM_HPP

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>

/** What most examples share: a client for the nodes that the command line names, on a context that
    one thread runs.

    @param program A coroutine that uses the client. The client stops when it ends.
    @return The exit status.
*/
template <class Program>
int run_program(int argc, char** argv, Program program)
{
    try
    {
        if (argc != 2)
            throw std::invalid_argument("give the nodes: redis://HOST:PORT,redis://HOST:PORT,...");
        boost::asio::io_context context{1};
        redlock::client_config config{.nodes = redlock::parse_nodes(argv[1])};
        config.node_timeout = redlock::milliseconds(200);  // Enough for a busy machine.
        redlock::client locks(context, config);
        locks.async_run(boost::asio::detached);
        boost::asio::co_spawn(context, program(locks), [&locks](std::exception_ptr failure) {
            locks.cancel();
            if (failure)
                std::rethrow_exception(failure);
        });
        context.run();
        return 0;
    }
    catch (const std::exception& error)
    {
        std::cerr << argv[0] << ": " << error.what() << '\n';
        return 1;
    }
}

#endif
