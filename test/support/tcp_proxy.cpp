// One thread owns all sockets and all state, and runs a loop around poll. A function of the public
// class is a task for that thread and waits for it, so nothing here is shared but the task queue.
//
// A turn of the loop tries every socket, whatever poll said: there are few of them. Poll is asked
// for exactly what a later turn can make use of, or the loop would spin.

#include "support/tcp_proxy.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/posix.hpp"

namespace redlock::test {

namespace {

/// What becomes of the bytes of one direction.
enum class flow
{
    pass,
    hold,
    drop,
};

/// Delays as networks have them: mostly short, sometimes very long.
struct random_delay
{
    std::chrono::milliseconds typical;
    std::chrono::milliseconds most;
    std::mt19937_64 random;

    std::chrono::microseconds draw()
    {
        // A Pareto distribution with exponent 1: ten times as long is ten times as rare.
        const double chance = std::uniform_real_distribution(0.0, 1.0)(random);
        const std::chrono::duration<double, std::micro> longest(most);
        const auto drawn = std::chrono::duration<double, std::micro>(typical) * 0.1 / (1 - chance);
        return std::chrono::duration_cast<std::chrono::microseconds>(std::min(drawn, longest));
    }
};

/// What comes when a number of bytes has been forwarded.
struct limit
{
    std::size_t bytes;
    enum class consequence
    {
        reset,
        hold,
    } then;
};

/// What one direction does, for all connections.
struct policy
{
    flow mode{flow::pass};
    std::chrono::milliseconds delay{0};
    std::optional<random_delay> jitter{};
    std::optional<struct limit> limit{};
};

/// Bytes on their way.
struct chunk
{
    deadline_point due;
    std::string bytes;
};

/// One direction of one connection.
struct stream
{
    std::deque<chunk> queue{};
    deadline_point last_due{};  ///< Of the bytes that came last.
    std::size_t queued{0};
    bool ended{false};   ///< The sender has closed.
    bool closed{false};  ///< The receiver has been told.
};

struct connection
{
    descriptor client;
    descriptor server;
    std::size_t number;  ///< Counts accepted connections from zero.
    stream requests{};
    stream replies{};
};

/// All that matters to one direction of one connection.
struct route
{
    policy& how;
    stream& state;
    int from;
    int to;
    tcp_proxy::traffic& count;
    std::string* record;  ///< Where to copy what was received, if not null.
    std::string* last;    ///< Where to copy what was forwarded last, if not null.
};

// Beyond this a sender is not read from until the queue is shorter, as by a slow network.
constexpr std::size_t max_queued = 1 << 20;
constexpr std::size_t max_recorded = 1 << 20;

void set_option(int fd, int level, int name, int value)
{
    if (::setsockopt(fd, level, name, &value, sizeof value) != 0)
        throw_errno("setsockopt");
}

// Closes with RST instead of FIN.
void reset(descriptor& fd)
{
    const linger at_once{1, 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    fd.reset();
}

bool would_block()
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

class tcp_proxy::relay
{
public:
    relay(std::uint16_t first_target, recording keep);
    ~relay();

    [[nodiscard]] std::uint16_t port() const noexcept { return port_.number(); }

    /// Runs `task` on the thread of the proxy and returns when it is done.
    void perform(const std::function<void()>& task);

    void reset_all();
    void listen();
    void replay();
    void move_connections_to(std::uint16_t to);

    // Only for tasks.
    policy requests;
    policy replies;
    traffic request_bytes;
    traffic reply_bytes;
    std::vector<std::string> recorded;
    std::list<connection> connections;
    descriptor listener;
    std::uint16_t target;

private:
    void run();
    void wait();
    void turn();
    void run_tasks();
    void accept_clients();
    void serve(connection& c);
    [[nodiscard]] bool receive(const route& r);
    [[nodiscard]] bool deliver(const route& r);
    void reach_limit(policy& how);
    void read_replays();

    recording keep_;
    loopback_port port_;
    std::string last_request_;
    std::vector<descriptor> replays_;  // Connections that replayed a request.
    descriptor wake_;
    bool stopping_{false};
    bool reset_due_{false};

    std::mutex mutex_;
    std::vector<std::packaged_task<void()>> tasks_;  // Guarded by mutex_.

    std::thread thread_;
};

tcp_proxy::relay::relay(std::uint16_t first_target, recording keep)
    : target(first_target), keep_(keep), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (!wake_.is_open())
        throw_errno("eventfd");
    listen();
    thread_ = std::thread([this] { run(); });
}

tcp_proxy::relay::~relay()
{
    perform([this] {
        listener.reset();
        reset_all();
        stopping_ = true;
    });
    thread_.join();
}

void tcp_proxy::relay::perform(const std::function<void()>& task)
{
    std::packaged_task<void()> packaged(task);
    std::future<void> done = packaged.get_future();
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(packaged));
    }
    ::eventfd_write(wake_.get(), 1);
    done.get();
}

void tcp_proxy::relay::reset_all()
{
    for (connection& c : connections)
    {
        reset(c.client);
        reset(c.server);
    }
    connections.clear();
    requests.limit.reset();
    replies.limit.reset();
    reset_due_ = false;
}

// The connection is kept until the server ends it: a reset would take the request back.
void tcp_proxy::relay::replay()
{
    if (last_request_.empty())
        return;
    try
    {
        descriptor server = connect_tcp(target);
        wait_ready(server.get(), POLLOUT, deadline_clock::now() + std::chrono::seconds(1));
        ::send(server.get(), last_request_.data(), last_request_.size(), MSG_NOSIGNAL);
        ::shutdown(server.get(), SHUT_WR);
        replays_.push_back(std::move(server));
    }
    catch (const std::system_error&)  // The server is down.
    {
    }
}

void tcp_proxy::relay::move_connections_to(std::uint16_t to)
{
    target = to;
    for (connection& each : connections)
    {
        each.server = connect_tcp(to);
        wait_ready(each.server.get(), POLLOUT, deadline_clock::now() + std::chrono::seconds(1));
    }
}

void tcp_proxy::relay::read_replays()
{
    std::array<char, 4096> buffer;
    std::erase_if(replays_, [&buffer](const descriptor& server) {
        const ssize_t result = ::recv(server.get(), buffer.data(), buffer.size(), 0);
        return result == 0 || (result < 0 && !would_block());
    });
}

void tcp_proxy::relay::listen()
{
    if (!listener.is_open())
        listener = port_.listen();
}

void tcp_proxy::relay::run()
{
    while (!stopping_)
    {
        wait();
        turn();  // A task sees all that was sent before the public function was called.
        run_tasks();
        turn();
    }
}

void tcp_proxy::relay::turn()
{
    accept_clients();
    for (auto c = connections.begin(); c != connections.end() && !reset_due_;)
    {
        serve(*c);
        c = c->client.is_open() ? std::next(c) : connections.erase(c);
    }
    if (reset_due_)
        reset_all();
    read_replays();
}

void tcp_proxy::relay::run_tasks()
{
    eventfd_t ignored = 0;
    ::eventfd_read(wake_.get(), &ignored);

    std::vector<std::packaged_task<void()>> tasks;
    {
        const std::lock_guard lock(mutex_);
        tasks.swap(tasks_);
    }
    for (auto& task : tasks)
        task();
}

void tcp_proxy::relay::accept_clients()
{
    while (listener.is_open())
    {
        constexpr int flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
        descriptor client(::accept4(listener.get(), nullptr, nullptr, flags));
        if (!client.is_open())
            return;

        set_option(client.get(), IPPROTO_TCP, TCP_NODELAY, 1);
        recorded.emplace_back();
        try
        {
            descriptor server = connect_tcp(target);
            connections.push_back({std::move(client), std::move(server), recorded.size() - 1});
        }
        catch (const std::system_error&)
        {
            reset(client);
        }
    }
}

void tcp_proxy::relay::serve(connection& c)
{
    const int client = c.client.get();
    const int server = c.server.get();
    const route back{replies, c.replies, server, client, reply_bytes, nullptr, nullptr};
    std::string* const record = keep_ == recording::on ? &recorded[c.number] : nullptr;
    const route forth{requests, c.requests, client, server, request_bytes, record, &last_request_};

    if (!receive(back) || !deliver(back) || !receive(forth) || !deliver(forth))
    {
        reset(c.client);
        reset(c.server);
    }
    else if (c.requests.closed && c.replies.closed)
    {
        c.client.reset();
    }
}

// Returns whether the connection is still good, and so does deliver.
bool tcp_proxy::relay::receive(const route& r)
{
    std::array<char, 16384> buffer;
    while (!r.state.ended && r.state.queued < max_queued)
    {
        const ssize_t result = ::recv(r.from, buffer.data(), buffer.size(), 0);
        if (result < 0)
            return would_block();
        if (result == 0)
        {
            r.state.ended = true;
            break;
        }

        const std::string_view bytes(buffer.data(), static_cast<std::size_t>(result));
        r.count.received += bytes.size();
        const auto jitter = r.how.jitter ? r.how.jitter->draw() : std::chrono::microseconds(0);
        const deadline_point due = deadline_clock::now() + r.how.delay + jitter;
        r.state.last_due = std::max(r.state.last_due, due);  // Bytes do not overtake each other.
        r.state.queue.push_back({r.state.last_due, std::string(bytes)});
        r.state.queued += bytes.size();
        if (r.record != nullptr)
            r.record->append(bytes.substr(0, max_recorded - r.record->size()));
    }
    return true;
}

bool tcp_proxy::relay::deliver(const route& r)
{
    auto& [queue, last_due, queued, ended, closed] = r.state;
    if (r.how.mode == flow::drop)
    {
        queue.clear();
        queued = 0;
    }
    if (r.how.mode != flow::pass)
        return true;

    while (!queue.empty() && queue.front().due <= deadline_clock::now())
    {
        std::string& bytes = queue.front().bytes;
        const std::size_t allowed = r.how.limit ? r.how.limit->bytes : bytes.size();
        const std::size_t wanted = std::min(bytes.size(), allowed);
        const ssize_t result = wanted > 0 ? ::send(r.to, bytes.data(), wanted, MSG_NOSIGNAL) : 0;
        if (result < 0)
            return would_block();

        const auto sent = static_cast<std::size_t>(result);
        r.count.forwarded += sent;
        queued -= sent;
        if (r.last != nullptr && sent > 0)
            r.last->assign(bytes, 0, sent);
        bytes.erase(0, sent);
        if (bytes.empty())
            queue.pop_front();
        if (r.how.limit && (r.how.limit->bytes -= sent) == 0)
        {
            reach_limit(r.how);
            return !reset_due_;
        }
    }

    if (ended && queue.empty() && !closed)
    {
        ::shutdown(r.to, SHUT_WR);
        closed = true;
        ++r.count.ended;
    }
    return true;
}

void tcp_proxy::relay::reach_limit(policy& how)
{
    if (how.limit->then == limit::consequence::reset)
        reset_due_ = true;
    else
        how.mode = flow::hold;
    how.limit.reset();
}

void tcp_proxy::relay::wait()
{
    const deadline_point now = deadline_clock::now();
    deadline_point wake_up = deadline_point::max();
    const auto readable = [](const stream& s) -> short {
        return !s.ended && s.queued < max_queued ? POLLIN : 0;
    };
    const auto writable = [&](const policy& how, const stream& s) -> short {
        if (how.mode != flow::pass || s.queue.empty())
            return 0;
        if (s.queue.front().due <= now)
            return POLLOUT;
        wake_up = std::min(wake_up, s.queue.front().due);
        return 0;
    };

    std::vector<pollfd> entries{{wake_.get(), POLLIN, 0}, {listener.get(), POLLIN, 0}};
    const auto add = [&entries](const descriptor& fd, int events) {
        // Poll reports errors even if asked for nothing. Nobody would deal with them.
        entries.push_back({events != 0 ? fd.get() : -1, static_cast<short>(events), 0});
    };
    for (const connection& c : connections)
    {
        add(c.client, readable(c.requests) | writable(replies, c.replies));
        add(c.server, readable(c.replies) | writable(requests, c.requests));
    }
    for (const descriptor& replay : replays_)
        add(replay, POLLIN);
    const bool timed = wake_up != deadline_point::max();
    ::poll(entries.data(), entries.size(), timed ? milliseconds_until(wake_up) : -1);
}

tcp_proxy::tcp_proxy(std::uint16_t target, recording keep)
    : relay_(std::make_unique<relay>(target, keep))
{
}

tcp_proxy::~tcp_proxy() = default;

std::uint16_t tcp_proxy::port() const noexcept
{
    return relay_->port();
}

std::string tcp_proxy::url() const
{
    return "redis://127.0.0.1:" + std::to_string(port());
}

void tcp_proxy::pass()
{
    relay_->perform([this] {
        relay_->requests = {};
        relay_->replies = {};
        for (connection& c : relay_->connections)
        {
            for (stream* each : {&c.requests, &c.replies})
            {
                each->last_due = {};
                for (chunk& delayed : each->queue)
                    delayed.due = {};
            }
        }
    });
}

void tcp_proxy::hold_requests()
{
    relay_->perform([this] { relay_->requests.mode = flow::hold; });
}

void tcp_proxy::hold_replies()
{
    relay_->perform([this] { relay_->replies.mode = flow::hold; });
}

void tcp_proxy::precede_replies(const std::string& bytes)
{
    relay_->perform([this, &bytes] {
        for (connection& c : relay_->connections)
        {
            c.replies.queue.push_front({deadline_clock::now(), bytes});
            c.replies.queued += bytes.size();
        }
    });
}

void tcp_proxy::drop_requests()
{
    relay_->perform([this] { relay_->requests.mode = flow::drop; });
}

void tcp_proxy::drop_replies()
{
    relay_->perform([this] { relay_->replies.mode = flow::drop; });
}

void tcp_proxy::blackhole()
{
    relay_->perform([this] {
        relay_->requests.mode = flow::drop;
        relay_->replies.mode = flow::drop;
    });
}

void tcp_proxy::delay_replies(std::chrono::milliseconds delay)
{
    relay_->perform([this, delay] { relay_->replies.delay = delay; });
}

void tcp_proxy::delay_at_random(
    std::chrono::milliseconds typical,
    std::chrono::milliseconds most,
    std::uint64_t seed
)
{
    relay_->perform([=, this] {
        relay_->requests.jitter = {typical, most, std::mt19937_64(seed)};
        relay_->replies.jitter = {typical, most, std::mt19937_64(seed + 1)};
    });
}

void tcp_proxy::stall_after_request_bytes(std::size_t count)
{
    relay_->perform([this, count] { relay_->requests.limit = {count, limit::consequence::hold}; });
}

void tcp_proxy::stall_after_reply_bytes(std::size_t count)
{
    relay_->perform([this, count] { relay_->replies.limit = {count, limit::consequence::hold}; });
}

void tcp_proxy::reset_after_request_bytes(std::size_t count)
{
    relay_->perform([this, count] { relay_->requests.limit = {count, limit::consequence::reset}; });
}

void tcp_proxy::reset_after_reply_bytes(std::size_t count)
{
    relay_->perform([this, count] { relay_->replies.limit = {count, limit::consequence::reset}; });
}

void tcp_proxy::replay_last_request()
{
    relay_->perform([this] { relay_->replay(); });
}

void tcp_proxy::reset_all()
{
    relay_->perform([this] { relay_->reset_all(); });
}

void tcp_proxy::connect_to(std::uint16_t target)
{
    relay_->perform([this, target] { relay_->target = target; });
}

void tcp_proxy::move_connections_to(std::uint16_t target)
{
    relay_->perform([this, target] { relay_->move_connections_to(target); });
}

void tcp_proxy::refuse()
{
    relay_->perform([this] { relay_->listener.reset(); });
}

void tcp_proxy::accept()
{
    relay_->perform([this] { relay_->listen(); });
}

tcp_proxy::traffic tcp_proxy::request_bytes() const
{
    traffic result;
    relay_->perform([&] { result = relay_->request_bytes; });
    return result;
}

tcp_proxy::traffic tcp_proxy::reply_bytes() const
{
    traffic result;
    relay_->perform([&] { result = relay_->reply_bytes; });
    return result;
}

std::size_t tcp_proxy::connections() const
{
    std::size_t result = 0;
    relay_->perform([&] { result = relay_->recorded.size(); });
    return result;
}

std::size_t tcp_proxy::open_connections() const
{
    std::size_t result = 0;
    relay_->perform([&] { result = relay_->connections.size(); });
    return result;
}

std::vector<std::string> tcp_proxy::requests() const
{
    std::vector<std::string> result;
    relay_->perform([&] { result = relay_->recorded; });
    return result;
}

}  // namespace redlock::test
