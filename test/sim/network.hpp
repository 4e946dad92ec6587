#ifndef REDLOCK_TEST_SIM_NETWORK_HPP
#define REDLOCK_TEST_SIM_NETWORK_HPP

#include "wire/connection.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "sim/dice.hpp"
#include "sim/process.hpp"
#include "sim/processors.hpp"
#include "sim/schedule.hpp"
#include "sim/server.hpp"
#include "sim/trace.hpp"

namespace redlock::sim {

class wire;

/// How often the network does what. All are chances of one message, unless it says otherwise.
struct network_habits
{
    nanoseconds usual{200'000};
    nanoseconds longest{400'000};  ///< Of a delay. Most are near to the usual one.
    double loses = 0;              ///< Nothing more comes through in this direction until a reset.
    double resets = 0;             ///< The connection ends; what was sent may still arrive.
    double splits = 0;             ///< The bytes arrive in two parts.
    double replays = 0;            ///< The server gets it once more, later, on another connection.
    nanoseconds service{0};        ///< What a command costs a server, for each of its keys.
};

/** What is between clients and servers.

    Each connection is two streams of bytes. Those of one connection arrive in their order, those of
    two connections in any. A connection that is reset takes back nothing that is under way.

    A server works off what has arrived one after the other, whatever connection it came by. While
    it works, or is frozen, the rest queues up.

    Each node is an address, which leads to one server at a time. A connection stays with the one
    that accepted it.
*/
class network
{
public:
    /// @param nodes Where each address leads at first. Servers must outlive the network, as the
    ///     processes must.
    network(
        schedule& time,
        trace& told,
        std::vector<server*> nodes,
        std::size_t clients,
        std::uint64_t seed
    );
    network(const network&) = delete;
    network& operator=(const network&) = delete;
    ~network();

    /// A connection that is not open yet.
    [[nodiscard]] std::unique_ptr<detail::connection> connect(
        process& from,
        unsigned client,
        std::size_t node,
        const detail::strand_type& strand,
        std::shared_ptr<detail::turn> end_of_turn
    );

    [[nodiscard]] network_habits& habits() noexcept { return habits_; }

    enum class direction : unsigned char
    {
        to_server,
        to_client,
    };

    /// Where the address of a node leads.
    [[nodiscard]] server& leads_to(std::size_t node) const noexcept { return *nodes_[node]; }

    /// Lets it lead to another server, for new connections.
    void lead(std::size_t node, server& to) { nodes_[node] = &to; }

    /// For one client it leads to this server instead. Null: no longer.
    void mislead(unsigned client, std::size_t node, server* to)
    {
        link_of(client, node).misled_to = to;
    }

    /// Holds back what is sent in one direction between a client and a node.
    void block(unsigned client, std::size_t node, direction which, nanoseconds duration);

    /// From now on a client cannot connect to a node.
    void refuse(unsigned client, std::size_t node) { link_of(client, node).refused = true; }

    /// The server does nothing for so long. It still accepts connections, and takes bytes.
    void freeze(const server& which, nanoseconds duration);

    /// From now on servers share processors. They must outlive the network.
    void run_on(processors& shared, processors::costs of_server);

    /// A client is far from all nodes. Zero: as far as others.
    void place(unsigned client, nanoseconds usual_way);

    /// Ends the connections between a client and a node, or all those with a server.
    void reset(unsigned client, std::size_t node);
    void reset_all(const server& which);

    /// How many connections a client has opened to a node.
    [[nodiscard]] std::size_t connections(unsigned client, std::size_t node) noexcept
    {
        return link_of(client, node).connections;
    }

    /// Ends all connections of a client, and opens none any more. What it sends goes nowhere.
    void cut_off(unsigned client);

    /// From now on nothing goes wrong. What is frozen thaws by itself, and work takes its time.
    void heal();

private:
    friend class wire;

    struct link
    {
        nanoseconds blocked[2]{};
        bool cut_off = false;
        bool refused = false;
        server* misled_to = nullptr;
        std::size_t connections = 0;
        nanoseconds usual_way{0};  ///< Zero: that of all.
    };

    [[nodiscard]] link& link_of(unsigned client, std::size_t node)
    {
        return links_[client * nodes_.size() + node];
    }

    /// Where a client gets that connects now.
    [[nodiscard]] server& server_for(unsigned client, std::size_t node)
    {
        server* const other = link_of(client, node).misled_to;
        return other ? *other : *nodes_[node];
    }

    /// What a server has not worked off yet.
    struct workplace
    {
        std::deque<std::function<void()>> waiting;
        nanoseconds frozen_until{0};
        nanoseconds busy_until{0};
        bool goes_on_later = false;
        processors::task* task = nullptr;

        [[nodiscard]] nanoseconds free_at() const noexcept
        {
            return std::max(frozen_until, busy_until);
        }
    };

    /// Lets a server do something, behind everything that has arrived there before.
    void put_to_work(const server& which, std::function<void()> what);
    void take_up(workplace& at, std::function<void()> what);
    void work_off(workplace& at);

    template <class Function>
    void each_wire(Function what);

    schedule& time_;
    trace& trace_;
    std::vector<server*> nodes_;
    dice dice_;
    network_habits habits_;
    std::vector<link> links_;
    std::map<const server*, workplace> workplaces_;
    std::vector<std::weak_ptr<wire>> wires_;
    processors* shared_ = nullptr;
};

}  // namespace redlock::sim

#endif
