// A process with a client that takes turns with others. See worker_options.hpp.

#include <redlock/client.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/observer.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "chaos/fenced_store.hpp"
#include "chaos/history.hpp"
#include "chaos/mode.hpp"
#include "chaos/worker_options.hpp"
#include "support/posix.hpp"
#include "support/resp_client.hpp"

using namespace redlock;
using namespace redlock::test;
namespace asio = boost::asio;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

/// The history of this process. A line is with the kernel when `write` returns: it outlives us.
class recorder
{
public:
    recorder(const std::filesystem::path& file, std::uint32_t number)
        : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)),
          number_(number)
    {
        if (!file_.is_open())
            throw_errno("open log");
    }

    /// Notes a call that is about to be made. Gives it an id.
    void call(operation& what)
    {
        what.id = std::uint64_t(number_) << 32 | ++count_;
        if (what.what == action::acquire)
            what.attempt = what.id;
        what.invoked = boot_clock::now();
        write(invoked_line(what));
    }

    void returned(operation& what)
    {
        what.returned = boot_clock::now();
        write(returned_line(what));
    }

    void note(std::string_view text) { write(note_line(number_, text)); }

private:
    void write(const std::string& line) const
    {
        const ssize_t written = ::write(file_.get(), line.data(), line.size());
        if (written != static_cast<ssize_t>(line.size()))
            throw_errno("write log");
    }

    descriptor file_;
    std::uint32_t number_;
    std::uint64_t count_ = 0;
};

operation part_of(const operation& acquired, action what)
{
    operation part;
    part.what = what;
    part.resource = acquired.resource;
    part.attempt = acquired.attempt;
    part.token = acquired.token;
    return part;
}

auto is_of(std::uint32_t resource, fencing_token token)
{
    return [=](const operation& one) { return one.resource == resource && one.token == token; };
}

/** Notes the loss of leases where the client decides it.

    It does so before it gives back what is left of the keys. The holder is told afterwards, and
    another one may have the resource by then.
*/
class loss_recorder final : public observer
{
public:
    explicit loss_recorder(recorder& log) : log_(log) {}

    /// Notes the loss of a lease from now on, or the one that came before its handler ran.
    void begin(const operation& acquired)
    {
        held_.push_back(acquired);
        const auto early = std::ranges::find_if(early_, is_of(acquired.resource, acquired.token));
        if (early == early_.end())
            return;
        early_.erase(early);
        note(acquired);
    }

    void end(const operation& acquired)
    {
        std::erase_if(held_, [&](const operation& one) { return one.id == acquired.id; });
    }

    void on_lost(const lost_event& event) noexcept override
    {
        const std::uint32_t resource = resource_number(event.resource);
        const auto found = std::ranges::find_if(held_, is_of(resource, event.fence));
        if (found != held_.end())
            note(*found);
        else
            early_.push_back({.resource = resource, .token = event.fence});
    }

private:
    void note(const operation& acquired)
    {
        operation what = part_of(acquired, action::lose);
        what.result = outcome::ok;
        log_.call(what);
        log_.returned(what);
    }

    recorder& log_;
    std::vector<operation> held_;
    std::vector<operation> early_;
};

/// What several tasks of a worker share.
struct workplace
{
    worker_options options;
    recorder log{options.log, options.number};
    std::shared_ptr<loss_recorder> losses = std::make_shared<loss_recorder>(log);
    std::mt19937 random{std::random_device()()};
    fenced_store store{options.store, options.store_checks};
    std::string last_failure{};
};

class task
{
public:
    task(asio::io_context& context, workplace& at, client& locks)
        : at_(at), options_(at.options), locks_(locks), timer_(context)
    {
    }

    asio::awaitable<void> run()
    {
        co_await locks_.async_wait_ready(asio::use_awaitable);
        const bool endless = options_.acquisitions == 0;
        for (std::uint64_t done = 0; endless || done < options_.acquisitions; ++done)
        {
            if (options_.revokes && draw(63) == 0)
                co_await revoke();
            auto granted = co_await acquire();
            auto& [what, held] = granted;
            if (options_.keeps)
                co_await held.async_wait_lost(as_result);
            else
                co_await use(what, held);
            co_await release(what, std::move(held));
        }
    }

private:
    asio::awaitable<std::pair<operation, lease>> acquire()
    {
        std::uint32_t rounds = 0;
        for (;;)
        {
            operation what;
            what.ttl = options_.ttl;
            what.automatic = options_.keeps || (options_.extends && draw(3) == 0);
            if (options_.grace > milliseconds(0) && draw(3) == 0)
                what.grace = options_.grace;
            // Another one each time: a resource that is held for long must not stop everybody.
            what.resource = options_.first_resource + draw(options_.resources - 1);
            const std::string name = resource_name(what.resource);
            diagnostics report;
            acquire_options how{.ttl = what.ttl, .wait = options_.wait, .report = &report};
            how.auto_extend = what.automatic;
            how.grace = what.grace;
            if (options_.at_least > milliseconds(0) && draw(15) == 0)
                how.at_least = options_.at_least;
            at_.log.call(what);
            auto outcome = co_await locks_.async_acquire(name, how, as_result);
            auto& [ec, held] = outcome;
            what.rounds = rounds += static_cast<std::uint32_t>(report.rounds);
            if (!ec)
            {
                what.result = outcome::ok;
                what.token = token_of(held);
                what.deadline = boot_time_of(held.valid_until());
                at_.log.returned(what);
                at_.losses->begin(what);
                co_return std::pair(what, std::move(held));
            }
            what.result = ec == error::contended ? outcome::refused : outcome::unknown;
            at_.log.returned(what);
            co_await explain(ec, report);
        }
    }

    /// Asks the holder of a resource to stop.
    asio::awaitable<void> revoke()
    {
        const std::string name =
            resource_name(options_.first_resource + draw(options_.resources - 1));
        const auto [ec, seen] = co_await locks_.async_inspect(name, as_result);
        if (!ec && seen.token)
            co_await locks_.async_revoke(name, seen.token, as_result);
    }

    /// Reads first and writes last, whether the lease is valid still or not: that is for the store.
    asio::awaitable<void> use(const operation& acquired, lease& held)
    {
        if (options_.extends && draw(1) == 0)
            wait_for_the_loss(acquired, held);
        operation read = part_of(acquired, action::read);
        if (options_.store != 0)
        {
            at_.log.call(read);
            at_.store.read(read);
            at_.log.returned(read);
        }
        co_await hold(acquired, held);
        if (draw(7) == 0)
            co_await inspect(acquired, held);
        look(acquired, held);
        if (options_.store == 0 || read.result != outcome::ok)
            co_return;
        operation write = part_of(acquired, action::write);
        write.version = read.version;
        at_.log.call(write);
        at_.store.write(write);
        at_.log.returned(write);
    }

    asio::awaitable<void> hold(const operation& acquired, lease& held)
    {
        const bool extends = options_.extends && !acquired.automatic && draw(1) == 0;
        std::chrono::microseconds left = time_to_hold();
        while (extends && left > options_.ttl / 3)
        {
            co_await pause(options_.ttl / 3);
            left -= options_.ttl / 3;
            operation what = part_of(acquired, action::extend);
            what.ttl = options_.ttl;
            at_.log.call(what);
            const error_code ec = co_await prolong(held);
            what.result = !ec                       ? outcome::ok
                          : ec == error::lease_lost ? outcome::refused
                                                    : outcome::unknown;
            what.token = token_of(held);
            what.deadline = boot_time_of(held.valid_until());
            at_.log.returned(what);
        }
        co_await pause(left);
    }

    /// Extends the lease, sometimes by an announcement.
    asio::awaitable<error_code> prolong(lease& held)
    {
        const bool announces = options_.how.mode == "guarded" && draw(2) == 0;
        const note text = "worker " + std::to_string(options_.number);
        if (announces)
            co_return std::get<0>(co_await held.async_announce(text, as_result));
        co_return std::get<0>(co_await held.async_extend(options_.ttl, as_result));
    }

    /// Asks the nodes who holds what it holds. Ends the worker if they contradict its lease.
    asio::awaitable<void> inspect(const operation& acquired, const lease& held)
    {
        const std::string name = resource_name(acquired.resource);
        const auto [ec, seen] = co_await locks_.async_inspect(name, as_result);
        const bool of_another = seen.token && seen.token != held.fence();
        const bool fits = seen.state != holding_state::free && !of_another;
        const bool protected_by_nodes =
            options_.how.mode == "guarded" && !options_.how.durable_nodes && !options_.deletes;
        if (ec || held.expired() || fits || !protected_by_nodes)
            co_return;
        throw std::logic_error(
            "a view of " + name + " says " + to_string(seen.state) + " with token " +
            to_string(seen.token) + ", and it is held with " + to_string(held.fence())
        );
    }

    /// Asks the lease whether it is valid.
    void look(const operation& acquired, const lease& held)
    {
        operation what = part_of(acquired, action::check);
        at_.log.call(what);
        what.deadline = boot_time_of(held.valid_until());
        what.result = held.expired() ? outcome::refused : outcome::ok;
        what.token = token_of(held);
        at_.log.returned(what);
    }

    void wait_for_the_loss(const operation& acquired, lease& held)
    {
        operation what = part_of(acquired, action::lose);
        at_.log.call(what);
        auto told = [this, what](error_code ec) mutable {
            const bool lost = ec == error::lease_lost || ec == error::hold_limit_reached;
            what.result = lost ? outcome::ok : outcome::refused;
            at_.log.returned(what);
        };
        held.async_wait_lost(std::move(told));
    }

    // Whatever becomes of it: the next one to be granted is checked.
    asio::awaitable<void> release(const operation& acquired, lease held)
    {
        operation what = part_of(acquired, action::release);
        at_.log.call(what);
        at_.losses->end(acquired);
        if (options_.deletes)
        {
            held.abandon();
            delete_everywhere(acquired.resource);
            what.result = outcome::ok;
        }
        else
        {
            auto outcome = co_await held.async_release(as_result);
            what.result = std::get<0>(outcome) ? outcome::unknown : outcome::ok;
        }
        at_.log.returned(what);
    }

    void delete_everywhere(std::uint32_t resource)
    {
        for (const node_config& node : parse_nodes(options_.nodes))
        {
            try
            {
                resp_client(node.port, milliseconds(50)).command({"DEL", resource_name(resource)});
            }
            catch (const std::system_error&)  // It does not answer.
            {
            }
        }
    }

    // What is wrong with each round, or, of operations that wait, with the first of a kind.
    asio::awaitable<void> explain(error_code ec, const diagnostics& report)
    {
        const bool contended = ec == error::contended;
        const bool is_news =
            options_.wait == milliseconds(0) ||
            (!contended && std::exchange(at_.last_failure, ec.message()) != ec.message());
        if (is_news)
            at_.log.note(ec.message() + ": " + to_string(report));
        // Nodes that are down say so at once.
        if (!contended)
            co_await pause(milliseconds(1));
    }

    asio::awaitable<void> pause(std::chrono::microseconds time)
    {
        if (time == time.zero())
            co_return;
        timer_.expires_after(time);
        co_await timer_.async_wait(asio::use_awaitable);
    }

    std::chrono::microseconds time_to_hold()
    {
        const bool is_long = draw(options_.one_long_of - 1) == 0;
        const milliseconds most = is_long ? options_.long_hold : options_.hold;
        const auto count = std::chrono::microseconds(most).count();
        return std::chrono::microseconds(draw(static_cast<std::uint32_t>(count)));
    }

    /// A number from zero to `most`.
    std::uint32_t draw(std::uint32_t most)
    {
        return std::uniform_int_distribution<std::uint32_t>(0, most)(at_.random);
    }

    workplace& at_;
    const worker_options& options_;
    client& locks_;
    asio::steady_timer timer_;
};

client_config config_of(const worker_options& options)
{
    client_config config;
    config.log = nullptr;
    config.nodes = parse_nodes(options.nodes);
    config.node_timeout = options.node_timeout;
    config.retry.max_delay = milliseconds(20);
    config.waiting.queue = !options.polls;
    protect(config, options.how);
    return config;
}

void work(const worker_options& options)
{
    asio::io_context context;
    workplace at{options};
    client_config config = config_of(options);
    config.observer = at.losses;
    client locks(context, std::move(config));
    locks.async_run(asio::detached);
    std::deque<task> tasks;
    std::size_t busy = options.tasks;
    const auto ended = [&](const std::exception_ptr& failure) {
        if (--busy == 0 || failure)
            context.stop();
        if (failure)
            std::rethrow_exception(failure);
    };
    while (tasks.size() < options.tasks)
        asio::co_spawn(context, tasks.emplace_back(context, at, locks).run(), ended);
    context.run();
}

}  // namespace

int main(int count, char** arguments)
{
    try
    {
        work(from_arguments<worker_options>({arguments + 1, arguments + count}));
    }
    catch (const std::exception& failure)
    {
        std::cerr << "worker: " << failure.what() << '\n';
        return 1;
    }
}
