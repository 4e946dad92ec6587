// How fast can a client do Redlock's work on this machine?
//
// This client knows nothing but the work: one thread, one epoll, one connection per node and a
// table of tasks. It uses no library and no coroutine, so that its numbers are the cost of the
// system calls and of the servers, and the distance of the library to them is the library's own.
//
// A task repeats a pair. It sends SET NX PX with a fresh id to every node, and goes on with the
// third OK of five; it sends the compare-and-delete to every node, and goes on with the third 1.
// The replies that come later are checked and counted, and nobody waits for them. The next SET of
// a task can overtake nothing, because each connection answers in order: a node that has not yet
// deleted the key has not yet read the SET either. So every node grants every time.
//
// Commands that are due in one turn of the loop leave in one write per node. Everything is
// allocated before the clock starts, except when a queue outgrows its first size.
//
// In guarded mode the scripts take a list of questions each, as those of the library do, and do the
// least that is safe. They are frozen: a limit that used the library's would sink with them. A task
// goes on with the third token that is its own, and everything else is an error.
//
// In a burst a task acquires one fresh key after the other, and releases none.

#include "limit.hpp"

#include "bench_scripts.hpp"
#include "connection.hpp"
#include "node/guard.hpp"
#include "pairs.hpp"
#include "posix.hpp"

#include <array>
#include <bit>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/epoll.h>

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t id_size = 40;
constexpr int patience_ms = 5000;
constexpr buffer_sizes limit_buffers{.output = 1048576, .input = 65536};
constexpr std::size_t first_queue_size = 16384;

constexpr std::string_view release_script =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) "
    "else return 0 end";

// Sixteen hexadecimal digits at a time, from a xorshift generator (Vigna's xorshift64*).
class id_generator
{
public:
    id_generator()
    {
        std::random_device device;
        state_ = (std::uint64_t{device()} << 32) | device() | 1U;
    }

    void write(char* target)
    {
        write_digits(target, 16);
        write_digits(target + 16, 16);
        write_digits(target + 32, id_size - 32);
    }

private:
    void write_digits(char* target, int count)
    {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        std::uint64_t bits = state_ * 0x2545F4914F6CDD1DULL;
        for (int digit = 0; digit < count; ++digit, bits >>= 4)
            target[digit] = "0123456789abcdef"[bits & 15U];
    }

    std::uint64_t state_;
};

// One user of a lock. The commands are built once; each pair writes its id into them.
struct task
{
    std::string key;
    std::string acquire;
    std::string release;
    std::size_t acquire_key_at{0};
    std::size_t acquire_id_at{0};
    std::size_t release_id_at{0};
    std::string id;         // In guarded mode, which puts the commands together later.
    std::int64_t token{0};  // The same.
    std::uint32_t step{0};
    std::uint32_t successes{0};
    std::uint32_t answers{0};
    clock::time_point started{};
};

// All are of the same size.
std::string key_name(const char* kind, std::size_t index)
{
    std::array<char, 32> key{};
    std::snprintf(key.data(), key.size(), "%s:%08zx", kind, index);
    return key.data();
}

task make_task(std::size_t index, const std::string& script_hash)
{
    // Unlike a real id in that no digit of it occurs elsewhere, so that its place can be found.
    const std::string placeholder(id_size, '?');
    task made;
    made.key = key_name("bench", index);
    made.acquire = make_command({"SET", made.key, placeholder, "NX", "PX", "10000"});
    made.release = make_command({"EVALSHA", script_hash, "1", made.key, placeholder});
    made.acquire_key_at = made.acquire.find(made.key);
    made.acquire_id_at = made.acquire.find(placeholder);
    made.release_id_at = made.release.find(placeholder);
    made.id = placeholder;
    return made;
}

// A command that a node has yet to answer. A task's step is even while it acquires and odd while
// it releases, and grows by one with each quorum, so that it also tells late replies from others.
struct ticket
{
    std::uint32_t task;
    std::uint32_t step;
    std::int64_t token{0};  // In guarded mode.
    bool alone{false};      // The same: in no list, so its answer is in none.
};

// First in, first out, in a ring whose size is a power of two.
class ticket_queue
{
public:
    void push(ticket added)
    {
        if (tail_ - head_ == slots_.size())
            grow();
        slots_[tail_++ & (slots_.size() - 1)] = added;
    }

    ticket pop()
    {
        assert(!empty());
        return slots_[head_++ & (slots_.size() - 1)];
    }

    [[nodiscard]] ticket front() const { return slots_[head_ & (slots_.size() - 1)]; }
    [[nodiscard]] bool empty() const { return head_ == tail_; }

private:
    void grow()
    {
        std::vector<ticket> larger(slots_.size() * 2);
        for (std::size_t index = head_; index != tail_; ++index)
            larger[index & (larger.size() - 1)] = slots_[index & (slots_.size() - 1)];
        slots_.swap(larger);
    }

    std::vector<ticket> slots_ = std::vector<ticket>(first_queue_size);
    std::size_t head_{0};
    std::size_t tail_{0};
};

static_assert(std::has_single_bit(first_queue_size));

// A connection and what is asked on it.
struct limit_node : connection
{
    explicit limit_node(std::uint16_t port) : connection(port, limit_buffers) {}

    ticket_queue unanswered;
    std::vector<ticket> acquisitions;  // To be put together, in guarded mode.
    std::vector<ticket> releases;      // The same.
    std::size_t list_left{0};          // Answers to come.
    std::size_t refusal_left{0};       // Numbers to come of one of them.
    std::string marker;                // In guarded mode.
    bool awaits_room{false};           // The socket was full, and epoll tells when it is not.
};

class limit_client
{
public:
    /// @param guarded Nothing for plain mode.
    limit_client(
        std::span<const std::uint16_t> ports,
        std::size_t concurrency,
        std::size_t pairs,
        std::optional<redlock::detail::guard> guarded
    )
        : guarded_(std::move(guarded)),
          quorum_(static_cast<std::uint32_t>(ports.size() / 2 + 1)),
          meter_(pairs)
    {
        assert(!ports.empty() && concurrency >= 1 && concurrency <= pairs);
        nodes_.reserve(ports.size());
        for (const std::uint16_t port : ports)
            nodes_.emplace_back(port);

        std::string script_hash;
        for (limit_node& node : nodes_)
        {
            script_hash = node.call(make_command({"SCRIPT", "LOAD", release_script}));
            if (!guarded_)
                continue;
            node.call(make_command({"SCRIPT", "LOAD", scripts::limit_acquire_script.text}));
            node.call(make_command({"SCRIPT", "LOAD", scripts::limit_release_script.text}));
            const std::string info = node.call(make_command({"INFO", "server"}));
            const std::string run_id = info.substr(info.find("run_id:") + 7, 40);
            node.marker = guarded_->fingerprint + run_id;
        }

        tasks_.reserve(concurrency);
        for (std::size_t index = 0; index < concurrency; ++index)
            tasks_.push_back(make_task(index, script_hash));
        watch_sockets();
    }

    result run()
    {
        work();
        count_remaining_keys();
        return meter_.sum_up(errors_);
    }

    // Acquires one fresh key in place of each pair. Returns how long each took, in seconds.
    double run_burst()
    {
        bursts_ = true;
        const stopwatch watch;
        work();
        if (errors_ != 0)
            throw std::runtime_error("a node did not grant a free key");
        return watch.elapsed().seconds / static_cast<double>(meter_.total());
    }

private:
    void work()
    {
        meter_.start();
        const clock::time_point now = clock::now();
        for (task& each : tasks_)
            start_pair(each, now);
        flush_all();
        while (!meter_.done())
            turn();

        // The replies that no pair waited for. The keys are gone only after them.
        while (!all_answered())
            turn();
    }

    void watch_sockets()
    {
        for (std::size_t index = 0; index < nodes_.size(); ++index)
        {
            nodes_[index].set_non_blocking();
            control(EPOLL_CTL_ADD, index, EPOLLIN);
        }
    }

    void control(int operation, std::size_t index, std::uint32_t events)
    {
        epoll_event event{};
        event.events = events;
        event.data.u64 = index;
        checked(::epoll_ctl(epoll_.get(), operation, nodes_[index].fd(), &event), "epoll_ctl");
    }

    // Waits, reads every node that is ready, advances the tasks, and writes what has become due.
    void turn()
    {
        std::array<epoll_event, 16> events;
        const int room = static_cast<int>(events.size());
        const int count = ::epoll_wait(epoll_.get(), events.data(), room, patience_ms);
        if (count < 0 && errno != EINTR)
            throw_errno("epoll_wait");
        if (count == 0)
            throw std::runtime_error("the nodes do not answer");

        for (int index = 0; index < count; ++index)
        {
            const epoll_event& event = events[static_cast<std::size_t>(index)];
            if ((event.events & ~std::uint32_t{EPOLLOUT}) != 0)
            {
                limit_node& node = nodes_[event.data.u64];
                guarded_ ? read_lists(node) : read_replies(node);
            }
        }
        flush_all();
    }

    void read_replies(limit_node& node)
    {
        const std::string_view input = node.receive();
        std::size_t consumed = 0;
        while (consumed < input.size())
        {
            if (node.unanswered.empty())
                throw std::runtime_error("a node answered a question that nobody asked");
            const std::string_view rest = input.substr(consumed);
            const bool acquires = node.unanswered.front().step % 2 == 0;
            const std::string_view expected = acquires ? "+OK\r\n" : ":1\r\n";
            const bool success = rest.starts_with(expected);
            const std::size_t size = success ? expected.size() : parse(rest).size;
            if (size == 0)
                break;
            consumed += size;
            on_reply(node.unanswered.pop(), success);
        }
        node.consume(consumed);
    }

    // Numbers, in lists unless they were asked for alone. A list in place of a number is a refusal:
    // a token that was too long under way.
    void read_lists(limit_node& node)
    {
        const std::string_view input = node.receive();
        std::size_t consumed = 0;
        for (;;)
        {
            const std::string_view rest = input.substr(consumed);
            const std::size_t line_end = rest.find("\r\n");
            if (line_end == rest.npos)
                break;
            consumed += line_end + 2;
            std::int64_t number = 0;
            std::from_chars(rest.data() + 1, rest.data() + line_end, number);
            const bool head = rest.front() == '*';
            const bool between = node.refusal_left == 0 && node.list_left == 0;
            if (between && node.unanswered.front().alone)
                node.list_left = 1;
            if (node.refusal_left != 0)
                --node.refusal_left;
            else if (head && node.list_left == 0)
                node.list_left = static_cast<std::size_t>(number);
            else if (node.list_left == 0 || (!head && rest.front() != ':'))
                throw std::runtime_error("a node refused: " + std::string(rest));
            else if (head)
                on_refusal(node, static_cast<std::size_t>(number));
            else
                on_number(node, number);
        }
        node.consume(consumed);
    }

    void on_refusal(limit_node& node, std::size_t size)
    {
        node.refusal_left = size;
        on_number(node, 0);
    }

    void on_number(limit_node& node, std::int64_t number)
    {
        --node.list_left;
        const ticket asked = node.unanswered.pop();
        on_reply(asked, number == (asked.step % 2 == 0 ? asked.token : 1));
    }

    void on_reply(ticket answered, bool success)
    {
        if (!success)
            ++errors_;
        task& asker = tasks_[answered.task];
        if (answered.step != asker.step)
        {
            ++late_replies_;
            return;
        }

        // After the last answer the task goes on in any case, or an error would stop it for ever.
        if (success)
            ++asker.successes;
        ++asker.answers;
        if (asker.successes == quorum_ || asker.answers == nodes_.size())
            advance(asker);
    }

    void advance(task& asker)
    {
        asker.step += bursts_ ? 2 : 1;
        if (asker.step % 2 == 1)
        {
            send_to_all(asker, asker.release);
            return;
        }

        const clock::time_point now = clock::now();
        meter_.add(now - asker.started);
        if (started_pairs_ < meter_.total())
            start_pair(asker, now);
    }

    void start_pair(task& asker, clock::time_point now)
    {
        if (bursts_)
            rename(asker, started_pairs_);
        ++started_pairs_;
        asker.started = now;
        char* const id = asker.acquire.data() + asker.acquire_id_at;
        ids_.write(id);
        std::memcpy(asker.release.data() + asker.release_id_at, id, id_size);
        if (guarded_)
        {
            asker.id.assign(id, id_size);
            asker.token = next_token();
        }
        send_to_all(asker, asker.acquire);
    }

    static void rename(task& asker, std::size_t number)
    {
        asker.key = key_name("burst", number);
        asker.acquire.replace(asker.acquire_key_at, asker.key.size(), asker.key);
    }

    void send_to_all(task& asker, const std::string& command)
    {
        asker.successes = 0;
        asker.answers = 0;
        const auto index = static_cast<std::uint32_t>(&asker - tasks_.data());
        const ticket asked{.task = index, .step = asker.step, .token = asker.token};
        for (limit_node& node : nodes_)
        {
            if (guarded_)
            {
                (asker.step % 2 == 0 ? node.acquisitions : node.releases).push_back(asked);
                continue;
            }
            node.append(command);
            node.unanswered.push(asked);
        }
    }

    static std::int64_t next_token()
    {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    }

    void append_list(limit_node& to, std::vector<ticket>& asked, const std::string& sha)
    {
        if (asked.empty())
            return;
        const bool acquires = asked.front().step % 2 == 0;
        const std::size_t size = acquires ? 5 + asked.size() * 3 : 3 + asked.size() * 2;
        command_ = "*" + std::to_string(size) + "\r\n";
        append_argument(command_, "EVALSHA");
        append_argument(command_, sha);
        append_argument(command_, std::to_string(asked.size()));
        for (const ticket& each : asked)
            append_argument(command_, tasks_[each.task].key);
        if (acquires)
        {
            append_argument(command_, to.marker);
            append_argument(command_, "10000");
        }
        for (ticket& each : asked)
        {
            append_argument(command_, value_of(each));
            if (acquires)
                append_argument(command_, std::to_string(each.token));
            each.alone = asked.size() == 1;
            to.unanswered.push(each);
        }
        to.append(command_);
        asked.clear();
    }

    // As long as the library's.
    [[nodiscard]] std::string value_of(const ticket& asked) const
    {
        const std::string token = std::to_string(asked.token);
        return tasks_[asked.task].id + ' ' + token + " 0123456789abcdef 0 " + token +
               " localhost:12345";
    }

    void flush_all()
    {
        for (std::size_t index = 0; index < nodes_.size(); ++index)
        {
            limit_node& node = nodes_[index];
            if (guarded_)
            {
                append_list(node, node.releases, scripts::limit_release_script.sha);
                append_list(node, node.acquisitions, scripts::limit_acquire_script.sha);
            }
            if (!node.has_output())
                continue;
            node.flush();
            if (node.awaits_room != node.has_output())  // A full socket is rare.
            {
                node.awaits_room = node.has_output();
                control(EPOLL_CTL_MOD, index, node.awaits_room ? EPOLLIN | EPOLLOUT : EPOLLIN);
            }
        }
    }

    [[nodiscard]] bool all_answered() const
    {
        for (const limit_node& node : nodes_)
            if (!node.unanswered.empty())
                return false;
        return true;
    }

    void count_remaining_keys()
    {
        for (limit_node& node : nodes_)
        {
            node.set_blocking();
            for (const task& each : tasks_)
                if (node.call(make_command({"EXISTS", each.key})) != "0")
                    ++errors_;
        }
    }

    std::optional<redlock::detail::guard> guarded_;
    std::string command_;  // That is put together.
    unique_fd epoll_{checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")};
    std::vector<limit_node> nodes_;
    std::vector<task> tasks_;
    id_generator ids_;
    std::uint32_t quorum_;
    pair_meter meter_;
    std::size_t started_pairs_{0};
    bool bursts_{false};
    std::uint64_t late_replies_{0};
    std::uint64_t errors_{0};
};

}  // namespace

result run_limit(std::span<const std::uint16_t> ports, std::size_t concurrency, std::size_t pairs)
{
    limit_client client(ports, concurrency, pairs, std::nullopt);
    return client.run();
}

result run_guarded_limit(
    std::span<const std::uint16_t> ports,
    std::size_t concurrency,
    std::size_t pairs
)
{
    const auto config = make_config(ports, redlock::mode::guarded);
    limit_client client(ports, concurrency, pairs, redlock::detail::make_guard(config));
    return client.run();
}

double run_limit_burst(
    std::span<const std::uint16_t> ports,
    redlock::mode mode,
    std::size_t window,
    std::size_t acquisitions
)
{
    std::optional<redlock::detail::guard> guarded;
    if (mode == redlock::mode::guarded)
        guarded = redlock::detail::make_guard(make_config(ports, mode));
    limit_client client(ports, window, acquisitions, std::move(guarded));
    return client.run_burst() * static_cast<double>(acquisitions);
}

}  // namespace bench
