#ifndef REDLOCK_EXAMPLES_PROGRAM_HPP
#define REDLOCK_EXAMPLES_PROGRAM_HPP

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>

/** What most examples begin and end with: a client of the nodes that the command line names, in a
    context that one thread runs.

    @param program A coroutine that is given the client. The client ends with it.
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
        config.node_timeout = redlock::milliseconds(200);  // For machines that are busy, too.
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
