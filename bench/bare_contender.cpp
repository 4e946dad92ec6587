// How fast can a lock over a quorum change hands between processes on this machine?
//
// This contender knows nothing but the work: one thread, one connection per node, one task. It asks
// all nodes at once and has the lock with the third grant of five. It gives back what a round
// without a quorum may have got, waits until it may try again, and repeats. How it waits is what is
// compared:
//
// polling   A random pause. Contenders that poll learn late of a release, and the one that releases
//           is the first to ask again.
// tracking  The servers send an invalidation to everybody who was denied. All of them ask again, so
//           the more there are the less often one of them gets a quorum.
// queue     Each node keeps who was denied in a queue in the order of arrival. A release reserves
//           the lock for the head and wakes nobody else. The queue only delays: SET NX decides.
//
// A waiter that no node wakes tries again by itself, because wake-ups get lost: their connection
// may break, the holder may die, and a node may not have known yet that somebody waits.

#include "bare_contender.hpp"

#include "bench_scripts.hpp"
#include "connection.hpp"
#include "contender.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include <poll.h>
#include <unistd.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using clock = scoreboard::clock;

/// Small, because there are thousands of connections.
constexpr buffer_sizes contender_buffers{.output = 4096, .input = 16384};

constexpr auto round_timeout = 1s;
constexpr std::string_view reservation_ms = "50";

/// A command that a node has yet to answer.
struct question
{
    enum class kind : std::uint8_t
    {
        other,
        acquire,
        release,
    };

    kind what;
    std::uint64_t round;
};

enum class vote : std::uint8_t
{
    none,
    granted,
    denied,
};

struct contended_node : connection
{
    explicit contended_node(std::uint16_t port) : connection(port, contender_buffers) {}

    std::deque<question> unanswered;
    vote voted{vote::none};  ///< In this round.
    bool woken{false};       ///< Since this round began.
    bool released{false};    ///< What this round acquired.
};

class bare_contender
{
public:
    bare_contender(
        scoreboard& board,
        std::size_t process,
        std::span<const std::uint16_t> ports,
        waiting how,
        const std::string& resource
    )
        : board_(board),
          self_{.process = process, .task = 0},
          how_(how),
          acquire_(
              how == waiting::queue ? scripts::acquire_in_turn_script : scripts::acquire_script
          ),
          release_(
              how == waiting::queue ? scripts::release_in_turn_script : scripts::release_script
          ),
          keys_{resource, resource + ":queue", resource + ":reservation", resource + ":misses"},
          name_(resource + ":waiter:" + std::to_string(process)),
          quorum_(static_cast<std::ptrdiff_t>(ports.size() / 2 + 1))
    {
        for (const std::uint16_t port : ports)
            prepare(nodes_.emplace_back(port));
    }

    void run()
    {
        while (clock::now() < board_.end())
        {
            const clock::time_point asked = clock::now();
            if (!acquire(asked))
            {
                board_.give_up(asked);
                continue;
            }
            board_.enter(self_, asked);
            if (const auto until = board_.keep_until(); until > clock::now())
                exchange_until(until);
            board_.leave(self_);
            if (!release() && clock::now() < board_.stop())
                board_.add_error();
            if (const auto until = board_.rest_until(); until > clock::now())
                exchange_until(until);
        }
    }

private:
    void prepare(contended_node& node)
    {
        node.call(make_command({"HELLO", "3"}));
        node.call(make_command({"SCRIPT", "LOAD", acquire_.text}));
        node.call(make_command({"SCRIPT", "LOAD", release_.text}));
        if (how_ == waiting::tracking)
            node.call(make_command({"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"}));
        if (how_ == waiting::queue)
            node.call(make_command({"SUBSCRIBE", name_}));
        node.set_non_blocking();
    }

    // Makes rounds until one gets a quorum. Returns whether that was in time.
    bool acquire(clock::time_point asked)
    {
        stamp_ = std::to_string(std::chrono::microseconds(asked.time_since_epoch() / 1us).count());
        const clock::time_point give_up = std::min(asked + contender_wait, board_.end());
        for (;;)
        {
            if (make_round())
                return true;
            if (clock::now() >= give_up)
            {
                for (contended_node& node : nodes_)
                    append_release(node, "leave");
                return false;
            }
            undo_round();
            await_turn(give_up);
        }
    }

    bool make_round()
    {
        const clock::time_point started = clock::now();
        ++round_;
        id_ = name_ + ":" + std::to_string(round_);
        for (contended_node& node : nodes_)
        {
            node.voted = vote::none;
            node.woken = node.released = false;
            append_acquire(node);
        }
        if (started < board_.stop())
            board_.add_rounds(1);
        const auto spare = static_cast<std::ptrdiff_t>(nodes_.size()) - quorum_;
        exchange_until(started + round_timeout, [&] {
            return votes(vote::granted) >= quorum_ || votes(vote::denied) > spare;
        });
        round_trip_ = (round_trip_ * 9 + (clock::now() - started)) / 10;
        return votes(vote::granted) >= quorum_;
    }

    // Gives back what a lost round may have got. A node that has denied has nothing of ours.
    void undo_round()
    {
        for (contended_node& node : nodes_)
            if (node.voted != vote::denied)
                append_release(node, "stay");
    }

    bool release()
    {
        for (contended_node& node : nodes_)
            append_release(node, "leave");
        return exchange_until(clock::now() + round_timeout, [this] {
            return std::ranges::count(nodes_, true, &contended_node::released) >= quorum_;
        });
    }

    void await_turn(clock::time_point give_up)
    {
        const auto now = clock::now();
        if (how_ == waiting::polling)
        {
            exchange_until(std::min(give_up, now + random_part_of(15ms) + 5ms));
            return;
        }
        // By themselves all waiters together ask no more often than 500 times a second.
        const auto fallback =
            how_ == waiting::tracking
                ? clock::duration(50ms)
                : std::max<clock::duration>(60ms, board_.contenders().processes * 2ms);
        exchange_until(std::min(give_up, now + fallback), [this] {
            return std::ranges::count(nodes_, true, &contended_node::woken) >= quorum_;
        });
        // All have been woken. Spread over two rounds they disturb each other less.
        if (how_ == waiting::tracking)
            exchange_until(clock::now() + random_part_of(2 * round_trip_));
    }

    clock::duration random_part_of(clock::duration longest)
    {
        return clock::duration(std::uniform_int_distribution<clock::rep>(0, longest.count())(random_
        ));
    }

    [[nodiscard]] std::ptrdiff_t votes(vote wanted) const
    {
        return std::ranges::count(nodes_, wanted, &contended_node::voted);
    }

    void append_acquire(contended_node& node)
    {
        static const std::string ttl = std::to_string(contender_ttl / 1ms);
        if (how_ == waiting::tracking)
        {
            node.append(make_command({"CLIENT", "CACHING", "YES"}));
            node.unanswered.push_back({question::kind::other, round_});
        }
        if (how_ == waiting::queue)
        {
            const auto& [lock, queue, reservation, misses] = keys_;
            node.append(make_command(
                {"EVALSHA",
                 acquire_.sha,
                 "4",
                 lock,
                 queue,
                 reservation,
                 misses,
                 id_,
                 ttl,
                 name_,
                 stamp_}
            ));
        }
        else
            node.append(make_command({"EVALSHA", acquire_.sha, "1", keys_[0], id_, ttl}));
        node.unanswered.push_back({question::kind::acquire, round_});
    }

    // @param intent `leave` or `stay`, in the queue.
    void append_release(contended_node& node, std::string_view intent)
    {
        if (how_ == waiting::queue)
        {
            const auto& [lock, queue, reservation, misses] = keys_;
            node.append(make_command(
                {"EVALSHA",
                 release_.sha,
                 "4",
                 lock,
                 queue,
                 reservation,
                 misses,
                 id_,
                 reservation_ms,
                 name_,
                 stamp_,
                 intent}
            ));
        }
        else
            node.append(make_command({"EVALSHA", release_.sha, "1", keys_[0], id_}));
        node.unanswered.push_back({question::kind::release, round_});
    }

    // Writes what is due and reads what comes, until the time is over.
    void exchange_until(clock::time_point deadline)
    {
        exchange_until(deadline, [] { return false; });
    }

    // The same until `done` too. Returns whether that came first.
    template <class Condition>
    bool exchange_until(clock::time_point deadline, Condition done)
    {
        for (;;)
        {
            if (done())
                return true;
            for (contended_node& node : nodes_)
                if (node.has_output())
                    node.flush();
            const clock::time_point now = clock::now();
            if (now >= deadline)
                return false;
            receive_within(deadline - now);
        }
    }

    void receive_within(clock::duration limit)
    {
        polled_.clear();
        for (const contended_node& node : nodes_)
        {
            const short events = node.has_output() ? POLLIN | POLLOUT : POLLIN;
            polled_.push_back({.fd = node.fd(), .events = events, .revents = 0});
        }
        const auto seconds = std::chrono::floor<std::chrono::seconds>(limit);
        const ::timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (limit - seconds).count()};
        if (::ppoll(polled_.data(), polled_.size(), &timeout, nullptr) < 0 && errno != EINTR)
            throw_errno("ppoll");
        for (std::size_t index = 0; index < nodes_.size(); ++index)
            if ((polled_[index].revents & ~POLLOUT) != 0)
                read(nodes_[index]);
    }

    void read(contended_node& node)
    {
        const std::string_view input = node.receive();
        std::size_t consumed = 0;
        while (consumed < input.size())
        {
            const reply found = parse(input.substr(consumed));
            if (found.size == 0)
                break;
            consumed += found.size;
            if (found.type == '>')
                node.woken = true;
            else
                on_answer(node, found);
        }
        node.consume(consumed);
    }

    void on_answer(contended_node& node, const reply& answer)
    {
        if (answer.type == '-')
            throw std::runtime_error("a node refused: " + std::string(answer.text));
        if (node.unanswered.empty())
            throw std::runtime_error("a node answered a question that nobody asked");
        const question asked = node.unanswered.front();
        node.unanswered.pop_front();
        if (asked.round != round_)
            return;
        if (asked.what == question::kind::acquire)
            node.voted = answer.text == "1" ? vote::granted : vote::denied;
        if (asked.what == question::kind::release)
        {
            node.released = answer.text != "0";
            node.woken |= answer.text == "2";  // What was given back is reserved for ourselves.
        }
    }

    scoreboard& board_;
    contender self_;
    waiting how_;
    scripts::script acquire_;
    scripts::script release_;
    std::array<std::string, 4> keys_;  // In the order of the scripts.
    std::string name_;                 // In the queue, and of the channel.
    std::ptrdiff_t quorum_;
    std::deque<contended_node> nodes_;
    std::vector<::pollfd> polled_;
    std::mt19937_64 random_{std::random_device()()};
    std::string stamp_;  // Of the arrival: when it asked for the lock, in microseconds.
    std::string id_;     // Of the round.
    std::uint64_t round_{0};
    clock::duration round_trip_{150us};  // Smoothed.
};

}  // namespace

const char* to_string(waiting value) noexcept
{
    switch (value)
    {
    case waiting::polling: return "polling";
    case waiting::tracking: return "tracking";
    case waiting::queue: return "queue";
    }
    return "?";
}

void contend_bare(
    scoreboard& board,
    std::size_t process,
    std::span<const std::uint16_t> ports,
    waiting how,
    const std::string& resource
)
{
    bare_contender self(board, process, ports, how, resource);
    board.report_ready();
    while (!board.has_start())
        std::this_thread::sleep_for(5ms);
    std::this_thread::sleep_until(board.start());
    self.run();
}

}  // namespace bench
