#include "holder.hpp"

#include "stage.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect_pipe.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/writable_pipe.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>
#include <system_error>

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace demo {

using namespace std::chrono_literals;

holder_process::holder_process(const asio::any_io_executor& executor, const std::string& node_urls)
    : output_(executor)
{
    asio::writable_pipe input(executor);
    asio::connect_pipe(output_, input);

    std::string program = "redlock_demo";
    std::string option = "--hold";
    std::string urls = node_urls;
    const std::array<char*, 4> words{program.data(), option.data(), urls.data(), nullptr};

    // Its standard output is the pipe, and it inherits no other file of ours.
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, input.native_handle(), STDOUT_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    const int failure =
        ::posix_spawn(&pid_, "/proc/self/exe", &files, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    if (failure != 0)
        throw std::system_error(failure, std::generic_category(), "cannot start the holder");
}

asio::awaitable<redlock::time_point> holder_process::until_holding()
{
    std::string line;
    co_await asio::async_read_until(
        output_, asio::dynamic_buffer(line), '\n', asio::cancel_after(10s)
    );
    co_return redlock::time_point(redlock::time_point::duration(std::stoll(line)));
}

void holder_process::kill() noexcept
{
    if (pid_ == 0)
        return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR)
        continue;
    pid_ = 0;
}

namespace {

asio::awaitable<void> hold_until_killed(redlock::client& locks)
{
    const auto held = co_await locks.async_acquire("orders:42", holder_ttl);
    std::cout << held.valid_until().time_since_epoch().count() << std::endl;

    asio::steady_timer timer(co_await asio::this_coro::executor, 1min);
    co_await timer.async_wait();
}

}  // namespace

int hold(const std::string& node_urls)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // Die with the demo.

    asio::io_context context;
    redlock::client locks(context, make_config(node_urls));
    locks.async_run(asio::detached);
    asio::co_spawn(context, hold_until_killed(locks), [&](std::exception_ptr failure) {
        locks.cancel();
        if (failure)
            std::rethrow_exception(failure);
    });
    context.run();
    return 1;
}

}  // namespace demo
