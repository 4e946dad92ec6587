// usage: fenced_leader URL,URL,... FILE
//
// Start several. One of them leads: it does jobs, one after the other, and writes to FILE how many
// are done. All share that file, and it refuses a leader that acts late. Kill the leader, freeze it
// with SIGSTOP, or stop it cleanly with Ctrl-C or SIGTERM: another one takes over.

#include <redlock.hpp>

#include <boost/asio.hpp>

#include <cerrno>
#include <iostream>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// The store has seen a higher token: another process leads.
class late_leader : public std::runtime_error
{
public:
    late_leader() : std::runtime_error("refused, the store has seen a higher term") {}
};

/// What the leader changes: the number of jobs done. It keeps the highest token that it has seen
/// and refuses lower ones. A database does that in a transaction, see docs/fencing.md.
class job_store
{
public:
    explicit job_store(const char* file) : file_(::open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600))
    {
        check(file_ >= 0);
    }

    job_store(const job_store&) = delete;
    job_store& operator=(const job_store&) = delete;
    ~job_store() { ::close(file_); }

    /// From now on the store refuses earlier leaders. @return How many jobs are done.
    std::uint64_t enter(redlock::fencing_token by) { return add(by, 0); }

    /// @return The same.
    std::uint64_t add_job(redlock::fencing_token by) { return add(by, 1); }

private:
    struct content
    {
        std::uint64_t token;
        std::uint64_t done;
    };

    /// The file lock keeps other processes out between the check and the change.
    std::uint64_t add(redlock::fencing_token by, std::uint64_t jobs)
    {
        content now{0, 0};
        check(::flock(file_, LOCK_EX) == 0);
        check(::pread(file_, &now, sizeof now, 0) >= 0);
        redlock::fence_check fence(redlock::fencing_token::from_value(now.token));
        const bool late = !fence.accept(by);
        now = {by.value(), now.done + jobs};
        check(late || ::pwrite(file_, &now, sizeof now, 0) == sizeof now);
        check(::flock(file_, LOCK_UN) == 0);
        if (late)
            throw late_leader();
        return now.done;
    }

    static void check(bool succeeded)
    {
        if (!succeeded)
            throw std::system_error(errno, std::generic_category(), "the store of jobs");
    }

    int file_;
};

/// Runs once in each term. When the term ends, it is cancelled: `co_await` throws.
asio::awaitable<void> work(job_store& store, redlock::term& now)
{
    try
    {
        const std::uint64_t done = store.enter(now.number());
        std::cout << "leading, term " << now.number() << ", " << done << " jobs done" << std::endl;
        asio::steady_timer timer(co_await asio::this_coro::executor);
        for (;;)
        {
            timer.expires_after(100ms);
            co_await timer.async_wait(asio::deferred);
            std::cout << "job " << store.add_job(now.number()) << std::endl;
        }
    }
    catch (const late_leader& refusal)  // Resigns, and competes again after a pause.
    {
        std::cout << refusal.what() << std::endl;
    }
}

void run(const char* nodes, const char* file)
{
    asio::io_context context{1};
    redlock::client locks(context, nodes);
    locks.async_run(asio::detached);
    job_store store(file);

    const auto body = [&store](redlock::term& now) { return work(store, now); };
    auto leads = redlock::lead(locks, "shop:jobs", {.ttl = 2s}, body);
    asio::co_spawn(context, std::move(leads), [](std::exception_ptr failure) {
        if (failure)
            std::rethrow_exception(failure);
    });

    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](redlock::error_code, int) {
        signals.clear();
        locks.async_close(asio::detached);
    });
    context.run();
}

int main(int argc, char** argv)
{
    try
    {
        if (argc != 3)
            throw std::invalid_argument("usage: fenced_leader redis://HOST:PORT,... FILE");
        run(argv[1], argv[2]);
    }
    catch (const std::exception& error)
    {
        std::cerr << "fenced_leader: " << error.what() << '\n';
        return 1;
    }
}
